// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
)

// variantsView is what only the page of a run with variants shows.
type variantsView struct {
	// Answer is the verdict in a sentence, Stopped why there were no more rounds.
	Answer, Stopped string
	// Differences of the variants, those that were not requested marked.
	Differences []difference
	// Variables of the servers that differ without being asked for.
	Variables *report.Table
	// Shared is what the variants have in common.
	Shared []string
	// Verdicts are the ratios, Rounds what was measured round by round.
	Verdicts, Rounds []figure
	// Causes is what a unit of work takes.
	Causes *report.Table
	// Matrix has the ratios of several variants at several points.
	Matrix *report.Table
	Pairs  *report.Table
	// Reading says how the table of the pairs is to be read.
	Reading   string
	Undecided []string
}

// difference of a variant from the baseline.
type difference struct {
	Name, Title string
	Baseline    bool
	Requested   []string
	// Besides is what else differs; Unrequested says that it is more than nothing.
	Besides     string
	Unrequested bool
}

// addVariants adds what the page shows of a run with variants.
func (v *view) addVariants(r *report.Report, d *Details) {
	v.Warnings = r.AllWarnings()
	v.Answer, v.Undecided = r.Sentence(), r.Undecided()
	v.Stopped = fmt.Sprintf("%d of at most %d rounds, %s: %s.", r.Rounds, r.Planned, r.Paired(), strings.TrimSuffix(r.Message, "."))
	if r.Outcome == "Failed" {
		v.Failed = r.Message
		v.Stopped = fmt.Sprintf("%d of at most %d rounds were measured.", r.Rounds, r.Planned)
	}
	v.About = fmt.Sprintf("%s, %d variants, seed %d%s.", r.Workload, len(r.Variants), r.Seed, startedText(r))
	v.addDifferences(r)
	v.Causes, v.Pairs, v.Reading = r.CostsTable(), r.PairsTable(), r.Reading()
	// With one variant or one point, the table of the pairs says the same.
	if m := r.MatrixTable(); m != nil && len(r.Variants) > 2 && len(m.Rows) > 1 {
		v.Matrix = m
	}
	if baseline := d.variant(r.Baseline()); baseline != nil {
		v.Settings = settings(baseline.settings)
		if v.Settings != nil {
			v.Settings.Name += " of " + r.Baseline()
		}
	}
}

func (v *view) addDifferences(r *report.Report) {
	for _, variant := range r.Variants {
		v.Differences = append(v.Differences, difference{
			Name: variant.Name, Title: variant.Title, Baseline: variant.Baseline, Requested: variant.Requested(), Besides: variant.Besides,
			Unrequested: variant.Unrequested > 0,
		})
	}
	v.Variables, v.Shared = r.VariablesTable(), r.Shared()
}

// measured are the points of a variant with their values of the headline metric, over the rounds that are whole.
func measured(r *report.Report, variant string) []stats.Point {
	return pointsOf(r.Plotted(&presentation.Curve{Among: claims.Selector{Variant: variant}}))
}
