// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Side is one of two things that are compared: a run, or a variant of one.
type Side struct {
	// name is for people; reference is what the user has written, which is used where two names are the same.
	name, reference, uid, workload string
	started                        time.Time
	points                         []stats.Point
	// missed are the labels of the points, stages of trials, that did not reach their offered rate.
	missed map[string]bool
	// facts about what was measured and where, by their names.
	facts *facts
	// probe of the node; the zero Probe if there is none.
	probe stats.Probe
	// spec is what was asked for, or nil; rows in each trial by the label of the point, where a trial ends with its rows.
	spec     json.RawMessage
	rows     map[string][]string
	findings []ComparedFinding
}

// SideOf a report that has completed is the run or, of one with variants, one of these, with the values of a metric: an empty
// one is the headline. The reference is what the user calls it.
func SideOf(r *Report, variant, metric, reference string) (*Side, error) {
	s := &Side{name: r.Name, reference: reference, uid: r.UID, workload: r.Workload, started: r.Started, findings: r.sideFindings()}
	if r.HasVariants() {
		if err := r.checkVariant(variant); err != nil {
			return nil, err
		}
		s.name = r.Name + ":" + variant
	} else {
		if err := r.checkWhole(variant); err != nil {
			return nil, err
		}
		s.spec, s.probe, s.rows = r.Spec, stats.ProbeOfAll(r.Accepted()), r.rowsOfTrials()
	}
	s.facts, s.missed, s.points = r.facts(variant), r.missedRates(variant), r.Series(claims.Selector{Variant: variant}, metric)
	if len(r.Capacities) > 0 {
		if metric != "" && metric != judge.CapacityMetric {
			return nil, fmt.Errorf("run %s has measured %s at other rates in each round: compare its %s", r.Name, metric,
				judge.CapacityMetric)
		}
		s.points = slices.DeleteFunc(slices.Clone(r.Capacities), func(p stats.Point) bool { return p.Variant != variant })
	}
	if len(s.points) == 0 {
		metrics, operations := r.Columns()
		for _, op := range operations {
			metrics = append(metrics, op+"P50Micros", op+"P99Micros")
		}
		return nil, fmt.Errorf("run %s has measured no %s; it has %s", r.Name, cmp.Or(metric, "values"),
			cmp.Or(strings.Join(metrics, ", "), "none"))
	}
	return s, nil
}

func (r *Report) noVariants() error { return fmt.Errorf("run %s has no variants", r.Name) }

func (r *Report) checkWhole(variant string) error {
	if variant != "" {
		return r.noVariants()
	}
	if n := len(r.Accepted()); r.Outcome == v1alpha1.ConditionComplete && n < r.Planned {
		return fmt.Errorf("run %s has %d of %d trials: something is missing from its results", r.Name, n, r.Planned)
	}
	return r.completed()
}

func (r *Report) checkVariant(variant string) error {
	if variant == "" {
		return fmt.Errorf("run %s has variants: name it alone, or two of them as RUN:VARIANT", r.Name)
	}
	if err := r.usable(); err != nil {
		return err
	}
	var names []string
	for _, v := range r.Variants {
		names = append(names, v.Name)
	}
	if !slices.Contains(names, variant) {
		return fmt.Errorf("run %s has no variant %q; it has %s", r.Name, variant, strings.Join(names, ", "))
	}
	return nil
}

// rowsOfTrials that ended with their rows, by the label of the point.
func (r *Report) rowsOfTrials() map[string][]string {
	rows := map[string][]string{}
	for _, p := range r.Points {
		label := stats.Label(p.Parameters)
		for _, record := range p.Records {
			if t := record.Summary.Totals; t.StoppedBy == result.StoppedByRows {
				rows[label] = stats.AppendNew(rows[label], strconv.FormatInt(t.Rows, 10))
			}
		}
	}
	return rows
}

// missedRates are the labels of the points at which a run did not reach the offered rate. Of a variant, they are those at
// which it may not have reached it, as its pairs say: of the baseline, at which all of its pairs say so.
func (r *Report) missedRates(variant string) map[string]bool {
	missed := map[string]bool{}
	for _, p := range r.Points {
		missed[stats.Label(p.Parameters)] = slices.ContainsFunc(p.Records, judge.MissedRate)
	}
	for _, p := range r.Pairs {
		label := stats.Label(p.Parameters)
		switch variant {
		case p.Variant:
			missed[label] = p.RateMissed
		case p.Baseline:
			before, known := missed[label]
			missed[label] = p.RateMissed && (before || !known)
		}
	}
	return missed
}

// design is how the run compares its variants: as its specification says, for as many pairs as it makes.
func (r *Report) design() (stats.Design, error) {
	var spec v1alpha1.BenchmarkRunSpec
	if err := json.Unmarshal(r.Spec, &spec); err != nil {
		return stats.Design{}, fmt.Errorf("reading the specification of %s: %w", r.Name, err)
	}
	d := judge.DesignOf(&spec, len(r.Pairs))
	d.MaxRounds, d.EquivalencePercent = cmp.Or(d.MaxRounds, r.Planned), cmp.Or(d.EquivalencePercent, defaultDifference)
	return d, nil
}

// defaultDifference is the difference, in percent, that counts as none unless something else is said.
const defaultDifference = 5

// ComparedChange is a field of the specification or of the environment that has two values.
type ComparedChange struct {
	// Variant of the run; empty if two sides are compared.
	Variant string `json:"variant,omitempty"`
	plan.Difference
}

// UnpairedPoint is a point that only one side has.
type UnpairedPoint struct {
	Of         string            `json:"of"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

func (r *Report) changes() []ComparedChange {
	var list []ComparedChange
	for _, v := range r.Variants {
		for _, d := range v.Differences {
			list = append(list, ComparedChange{v.Name, d})
		}
	}
	return list
}

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

// otherRows says at which points the trials had other numbers of rows: with the points, unless these are the only rows of all.
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
		texts, points[text] = stats.AppendNew(texts, text), append(points[text], label)
	}
	for i, text := range texts {
		if n := len(points[text]); n < common {
			texts[i] += ", at " + strings.Join(points[text][:min(n, stats.MaxLabels)], "; ")
			if n > stats.MaxLabels {
				texts[i] += fmt.Sprintf(" and %d more points", n-stats.MaxLabels)
			}
		}
	}
	return texts
}

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

func line(d plan.Difference) string { return fmt.Sprintf("%s: %s → %s", d.Name, d.From, d.To) }

// aboutWork says whether a field of the specification is about what is measured, and not about the server and its place.
func aboutWork(path string) bool {
	return strings.HasPrefix(path, "spec.workload.") || path == "spec.seed" || path == "spec.trials.data" ||
		path == "spec.loader.pods"
}
