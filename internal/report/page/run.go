// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// addPoints adds what the page shows of a run without variants.
func (v *view) addPoints(r *report.Report, d *Details) {
	v.Warnings, v.Discarded = r.Warnings(), discardedAttempts(r)
	if r.Outcome == "Failed" {
		v.Failed = cmp.Or(r.Message, "no reason was recorded")
	}
	var place string
	v.Environment, place = environment(r, d)
	v.About = aboutRun(r, place)
	v.Settings = settings(settingsOf(r, d))
	v.Pilots = r.Pilots()
	v.Best = stats.LeadOf(r.Points, plot.Number)
	if points := r.Measured(); len(points) > 0 {
		v.addTable(r, points)
		v.Milestones, v.Parts = milestonesTable(points, d), partsTable(r.Parameters(), points)
	}
}

// aboutRun is a line about what was measured, and on what.
func aboutRun(r *report.Report, place string) string {
	text := fmt.Sprintf("%s, %d of %d trials", r.Workload, len(r.Accepted()), r.Planned)
	if n := len(r.Points); n > 1 {
		text += fmt.Sprintf(" at %d points", n)
	}
	text += fmt.Sprintf(", seed %d%s", r.Seed, startedText(r))
	if place != "" {
		text += ". " + place
	}
	return text + "."
}

// startedText is when the run began, as the end of a list; empty if that is not known.
func startedText(r *report.Report) string {
	if r.Started.IsZero() {
		return ""
	}
	return ", started " + r.Started.UTC().Format("2 January 2006 15:04 UTC")
}

// settingsOf the first document or, without documents, those that a server has adjusted.
func settingsOf(r *report.Report, d *Details) []result.AppliedSetting {
	if d != nil && len(d.settings) > 0 {
		return d.settings
	}
	if accepted := r.Accepted(); len(accepted) > 0 {
		return accepted[0].Summary.Adjusted
	}
	return nil
}

// discardedAttempts is nil if there are none.
func discardedAttempts(r *report.Report) *table {
	disturbed := r.Disturbed()
	if len(disturbed) == 0 {
		return nil
	}
	t := &table{
		Name: "Discarded attempts",
		Head: slices.Concat(numbers("trial", "attempt"), texts("point", "outcome", "cause", "what happened")),
	}
	for _, a := range disturbed {
		t.Rows = append(t.Rows, row{Cells: []cell{
			count(a.Trial), count(a.Attempt), words(stats.Label(a.Parameters)), words(string(a.Outcome)), words(string(a.Cause)),
			words(a.Message),
		}})
	}
	return t
}
