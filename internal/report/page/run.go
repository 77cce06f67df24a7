// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// runView is what the template of a run's page shows.
type runView struct {
	frame
	// Best is the best point; nil if nothing was measured.
	Best *stats.Lead
	// Curves come before the table, Figures after it.
	Curves, Figures []figure
	Points          *table
	// Reading says how the table is to be read, Remarks what must be read with rows of it, by the numbers that these have.
	Reading, Remarks []string
	// Milestones and Parts are tables of plots.
	Milestones, Parts *table
	Pilots            []string
}

func newRunView(r *report.Report, d *Details) (*runView, error) {
	v := &runView{frame: frame{
		Name: r.Run.Name, Heading: r.Run.Heading(), Kind: "BenchmarkRun", Namespace: r.Run.Namespace, Claims: judged(r.Claims),
		Warnings: r.Warnings(), Discarded: discardedAttempts(r),
	}}
	if r.Run.Outcome == "Failed" {
		v.Failed = cmp.Or(r.Run.Message, "no reason was recorded")
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
	if err := v.addPlots(r, d); err != nil {
		return nil, err
	}
	if err := v.addTables(r.RequestedTables()); err != nil {
		return nil, err
	}
	if err := v.addDownloads(r); err != nil {
		return nil, err
	}
	return v, v.reproduced("BenchmarkRun", r.Run.Name, r.Run.Spec)
}

// aboutRun is a line about what was measured, and on what.
func aboutRun(r *report.Report, place string) string {
	text := fmt.Sprintf("%s, %d of %d trials", r.Run.Workload, len(r.Accepted()), r.Run.Planned)
	if n := len(r.Points); n > 1 {
		text += fmt.Sprintf(" at %d points", n)
	}
	text += fmt.Sprintf(", seed %d", r.Run.Seed)
	if !r.Run.Started.IsZero() {
		text += ", started " + r.Run.Started.UTC().Format("2 January 2006 15:04 UTC")
	}
	if place != "" {
		text += ". " + place
	}
	return text + "."
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

// maxAttempts is how many records a page has as JSON: each takes some kilobytes.
const maxAttempts = 1000

func (v *runView) addDownloads(r *report.Report) error {
	elsewhere := fmt.Sprintf("the ConfigMap %s-results has it", r.Run.Name)
	var csv, everything bytes.Buffer
	if err := report.CSV(&csv, r); err != nil {
		return err
	}
	d, err := packed(report.CSVFile, "text/csv", "a row per trial", elsewhere, csv.Bytes())
	if err != nil {
		return err
	}
	v.Downloads = append(v.Downloads, d)
	about := "the specification, the plan and the record of every attempt"
	if len(r.Records) > maxAttempts {
		v.Downloads = append(v.Downloads, download{
			Name: report.JSONFile, Size: fmt.Sprintf("%d attempts", len(r.Records)),
			About: about + "; it is too large for this page: " + elsewhere,
		})
		return nil
	}
	if err := report.JSON(&everything, r); err != nil {
		return err
	}
	d, err = packed(report.JSONFile, "application/json", about, elsewhere, everything.Bytes())
	v.Downloads = append(v.Downloads, d)
	return err
}
