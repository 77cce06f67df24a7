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

// differing is what two sides differ in: of what was asked for, of inputs, and of the environment. Otherwise has in lines
// what makes them measure something else: another workload, other parameters of it, other data, or more rows; differences
// has the others, and the node's speed.
func differing(a, b *Side) (changes []ComparedChange, otherwise, differences []string) {
	if a.workload != b.workload {
		otherwise = append(otherwise, line(plan.Difference{Name: "workload", From: a.workload, To: b.workload}))
	}
	inputs, places := a.facts.differing(b.facts, true), a.facts.differing(b.facts, false)
	for _, d := range slices.Concat(plan.Changes(a.spec, b.spec), inputs, places) {
		changes = append(changes, ComparedChange{Difference: d})
		if slices.Contains(inputs, d) || aboutWork(d.Name) {
			otherwise = append(otherwise, line(d))
		} else {
			differences = append(differences, line(d))
		}
	}
	return changes, append(otherwise, otherRows(a, b)...), append(differences, stats.ProbeDifferences(a.probe, b.probe)...)
}

// otherRows says at which points the trials had other numbers of rows: with the points, unless these are the only rows of
// all.
func otherRows(a, b *Side) []string {
	var texts []string
	points, common, others := map[string][]string{}, 0, byLabel(b.points)
	for _, p := range a.points {
		label := stats.Label(p.Parameters)
		if others[label] != nil {
			common++
		}
		before, after := a.rows[label], b.rows[label]
		if len(before) == 0 || len(after) == 0 || slices.Equal(before, after) {
			continue
		}
		text := fmt.Sprintf("rows per trial: %s → %s", strings.Join(before, ", "), strings.Join(after, ", "))
		texts, points[text] = appendNew(texts, text), append(points[text], label)
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
