// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// differences of what was asked for beside the workload, of the environment, and of the node's speed, a line for each.
func differences(a, b *Side) []string {
	var list []string
	for _, d := range plan.Changes(a.spec, b.spec) {
		if !aboutWork(d.Name) {
			list = append(list, line(d))
		}
	}
	for _, fact := range a.facts.differing(b.facts, false) {
		list = append(list, line(fact))
	}
	return append(list, stats.ProbeDifferences(a.probe, b.probe)...)
}

// otherwise says in what the two did not measure the same: another workload, other parameters of it, other data, or more
// rows.
func otherwise(a, b *Side) []string {
	var list []string
	if a.workload != b.workload {
		list = append(list, line(plan.Difference{Name: "workload", From: a.workload, To: b.workload}))
	}
	for _, d := range plan.Changes(a.spec, b.spec) {
		if aboutWork(d.Name) {
			list = append(list, line(d))
		}
	}
	for _, fact := range a.facts.differing(b.facts, true) {
		list = append(list, line(fact))
	}
	return append(list, otherRows(a, b)...)
}

// otherRows says at which points the trials had other numbers of rows: with the points, unless these are the only rows of
// all.
func otherRows(a, b *Side) []string {
	var texts []string
	points, common := map[string][]string{}, 0
	for _, p := range a.points {
		if b.at(p.label) != nil {
			common++
		}
		before, after := a.rows[p.label], b.rows[p.label]
		if len(before) == 0 || len(after) == 0 || slices.Equal(before, after) {
			continue
		}
		text := fmt.Sprintf("rows per trial: %s → %s", strings.Join(before, ", "), strings.Join(after, ", "))
		texts, points[text] = appendNew(texts, text), append(points[text], p.label)
	}
	for i, text := range texts {
		if n := len(points[text]); n < common {
			texts[i] += ", at " + strings.Join(points[text][:min(n, maxLabels)], "; ")
			if n > maxLabels {
				texts[i] += fmt.Sprintf(" and %d more points", n-maxLabels)
			}
		}
	}
	return texts
}

// separateMethod says how two sides were compared.
func separateMethod(a, b *Side, names [2]string, points int) []string {
	over := ""
	if points > 1 {
		over = fmt.Sprintf(" across all %d points", points)
	}
	method := fmt.Sprintf("The ratio is the median of the ratios of every value of %s to every value of %s; its interval is "+
		"that of the Mann-Whitney test at 95%% confidence%s.", names[1], names[0], over)
	when := "The two were not interleaved"
	if !a.started.IsZero() && !b.started.IsZero() {
		first, second, between := names[0], names[1], b.started.Sub(a.started)
		if between < 0 {
			first, second, between = names[1], names[0], -between
		}
		when += fmt.Sprintf(": %s began %s after %s", second, between.Round(time.Second), first)
	}
	return []string{method, when + ". If the machine changed in between, that is part of the difference. " +
		"A run with variants avoids this: it measures both in every round."}
}

// betweenRunsText says what a comparison of two runs assumes about those that do not differ.
func betweenRunsText(fraction float64) string {
	if fraction == 0 {
		return "The intervals cover nothing that differs from run to run, such as a restart of the server (--between-runs 0)."
	}
	return fmt.Sprintf("The intervals assume that results of equal runs differ with a standard deviation of %s%% from run to run "+
		"(--between-runs); more trials do not reduce this part.", stats.Format(100*fraction))
}

// line is a difference in a list of them.
func line(d plan.Difference) string { return fmt.Sprintf("%s: %s → %s", d.Name, d.From, d.To) }

// aboutWork says whether a field of the specification is about what is measured, and not about the server and its place.
func aboutWork(path string) bool {
	return strings.HasPrefix(path, "spec.workload.") || path == "spec.seed" || path == "spec.trials.data" ||
		path == "spec.loader.pods"
}
