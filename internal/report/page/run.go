// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// addPoints adds what the page shows of a run without variants.
func (v *view) addPoints(r *report.Report, d *Details) {
	v.Warnings = r.Warnings()
	if r.Outcome == "Failed" {
		v.Failed = cmp.Or(r.Message, "no reason was recorded")
	}
	v.About = aboutRun(r)
	v.Settings = settings(settingsOf(r, d))
	v.Pilots = r.Pilots()
	v.Best = stats.LeadOf(r.Points, plot.Number)
	if points := r.Measured(); len(points) > 0 {
		v.Points, v.Notes = r.PointsTable()
		if ranks := report.Ranks(points); ranks != "" {
			v.Notes = append(v.Notes, ranks)
		}
		remarks := stats.WarningsAt(points)
		for i := range remarks {
			v.Remarks = append(v.Remarks, inWords(&remarks[i], len(points)))
		}
		v.Milestones, v.Parts = milestonesTable(points, d), r.PartsTable()
	}
}

// aboutRun is a line about what was measured, and on what.
func aboutRun(r *report.Report) string {
	text := fmt.Sprintf("%s, %d of %d trials", r.Workload, len(r.Accepted()), r.Planned)
	if n := len(r.Points); n > 1 {
		text += fmt.Sprintf(" at %d points", n)
	}
	text += fmt.Sprintf(", seed %d%s", r.Seed, startedText(r))
	if place := r.Place(); place != "" {
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

// settings that were asked for, and what the server made of them.
func settings(list []result.AppliedSetting) *report.Table {
	if len(list) == 0 {
		return nil
	}
	t := &report.Table{
		Name: "Requested settings",
		Head: report.Texts("variable", "requested", "effective", "outcome"),
	}
	for _, s := range list {
		r := report.Row{Cells: []report.Cell{report.Words(s.Name), report.Words(s.Requested), report.Words(s.Effective), report.Words(string(s.Outcome))}}
		if s.Outcome != result.SettingEffective {
			r.Class = "differs"
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// list is texts with commas between them.
func list(texts []string) string { return strings.Join(texts, ", ") }

// inWords is a remark with how many points and trials it is about.
func inWords(r *stats.MergedWarning, points int) string {
	var about []string
	switch {
	case points == 1:
	case len(r.From) == points:
		about = []string{"everywhere"}
	default:
		about = []string{fmt.Sprintf("%d of %d points", len(r.From), points)}
	}
	if of := r.OfTrials(); of != "" {
		about = append(about, of)
	}
	if len(about) == 0 {
		return r.Finding.String()
	}
	return fmt.Sprintf("%s (%s)", r.Finding, list(about))
}
