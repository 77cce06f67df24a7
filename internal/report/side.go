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
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
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
// one is the headline, and a run with variants has that one only. The reference is what the user calls it.
func SideOf(r *Report, variant, metric, reference string) (*Side, error) {
	s := &Side{
		name: r.Name, reference: reference, uid: r.UID, workload: r.Workload, started: r.Started, findings: r.sideFindings(),
	}
	if r.HasVariants() {
		if err := r.checkVariant(variant, metric); err != nil {
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
	for i := range s.points {
		if r.HasVariants() {
			s.points[i].Metric.Better = r.Pairs[len(r.Pairs)-1].Metric.Better
		}
	}
	if len(s.points) == 0 {
		metrics, _ := r.Columns()
		return nil, fmt.Errorf("run %s has measured no %s; it has %s", r.Name, cmp.Or(metric, "values"),
			cmp.Or(strings.Join(metrics, ", "), "none"))
	}
	return s, nil
}

func (r *Report) noVariants() error { return fmt.Errorf("run %s has no variants", r.Name) }

// checkWhole says why a run without variants cannot be compared.
func (r *Report) checkWhole(variant string) error {
	if variant != "" {
		return r.noVariants()
	}
	if n := len(r.Accepted()); r.Outcome == v1alpha1.ConditionComplete && n < r.Planned {
		return fmt.Errorf("run %s has %d of %d trials: something is missing from its results", r.Name, n, r.Planned)
	}
	return r.completed()
}

// checkVariant says why a variant cannot be compared.
func (r *Report) checkVariant(variant, metric string) error {
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
	for _, side := range r.Runs {
		if side.Variant == variant && side.Round <= r.Rounds && metric != "" && metric != side.Metric {
			return fmt.Errorf("run %s publishes %s and no other metric, so not %s", r.Name, side.Metric, metric)
		}
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
				rows[label] = appendNew(rows[label], strconv.FormatInt(t.Rows, 10))
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
		missed[stats.Label(p.Parameters)] = slices.ContainsFunc(p.Records, analysis.MissedRate)
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
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
	d := analysis.DesignOf(&spec, len(r.Pairs))
	d.MaxRounds, d.EquivalencePercent = cmp.Or(d.MaxRounds, r.Planned), cmp.Or(d.EquivalencePercent, defaultDifference)
	return d, nil
}

// defaultDifference is the difference, in percent, that counts as none unless something else is said.
const defaultDifference = 5

// appendNew appends a value unless it is there, or says nothing.
func appendNew(list []string, value string) []string {
	if value == "" || slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// ComparedFinding is a finding about one side of a comparison, or about both.
type ComparedFinding struct {
	// Of is the side; empty if it is about both.
	Of string `json:"of,omitempty"`
	// Points are the parameters of those that it is about; none if it is about all of them.
	Points []map[string]string `json:"points,omitempty"`
	finding.Finding
	// place is what to say of the points, before the finding.
	place string
}

// inLines are findings for people, a line for each.
func inLines(list []ComparedFinding) []string {
	var lines []string
	for _, f := range list {
		line := f.place + f.String()
		if f.Of != "" {
			line = f.Of + ": " + line
		}
		lines = append(lines, line)
	}
	return lines
}

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

// sideFindings are those of the report, with the points that they are about.
func (r *Report) sideFindings() []ComparedFinding {
	var list []ComparedFinding
	for _, f := range r.runFindings() {
		list = append(list, ComparedFinding{Finding: f})
	}
	if r.HasVariants() {
		return list
	}
	measured := len(r.Measured())
	for _, remark := range stats.WarningsAt(r.Points) {
		one := ComparedFinding{Finding: remark.Finding}
		for _, i := range remark.From {
			one.Points = append(one.Points, r.Points[i].Parameters)
		}
		one.place = where(one.Points, measured)
		list = append(list, one)
	}
	return list
}

// runFindings are those about the run as a whole.
func (r *Report) runFindings() []finding.Finding {
	if r.HasVariants() {
		return r.Findings
	}
	return slices.Concat(r.Findings, r.ChangedInputs())
}

// changes of the variants from the baseline.
func (r *Report) changes() []ComparedChange {
	var list []ComparedChange
	for _, v := range r.Variants {
		for _, d := range v.Differences {
			list = append(list, ComparedChange{v.Name, d})
		}
	}
	return list
}
