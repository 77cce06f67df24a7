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
)

// Side is one of two things that are compared: a run, or a variant of a comparison.
type Side struct {
	// name is for people; reference is what the user has written, which is used where two names are the same.
	name, reference, uid, workload string
	started                        time.Time
	points                         []sidePoint
	// facts about what was measured and where, by their names.
	facts []fact
	// probe of the node; the zero Probe if there is none.
	probe stats.Probe
	// spec is what was asked for, or nil; rows in each trial by the label of the point, where a trial ends with its rows.
	spec     json.RawMessage
	rows     map[string][]string
	warnings []string
	findings []ComparedFinding
}

// sidePoint is what was measured at a point: a value for each trial or round.
type sidePoint struct {
	label      string
	parameters map[string]string
	metric     result.Metric
	values     []float64
	// rateMissed says that the point, a stage of trials, did not reach its offered rate.
	rateMissed bool
}

// fact has the values that were seen, each once; none if it is not known.
type fact struct {
	name   string
	values []string
	// input says that it is about a file that the run has loaded.
	input bool
}

// at is the point with that label, or nil.
func (s *Side) at(label string) *sidePoint {
	i := slices.IndexFunc(s.points, func(p sidePoint) bool { return p.label == label })
	if i < 0 {
		return nil
	}
	return &s.points[i]
}

// RunSide is a run that has completed, with the values of a metric; an empty one is the headline. The reference is what
// the user calls it.
func RunSide(r *Report, metric, reference string) (*Side, error) {
	if r.Run.Outcome != v1alpha1.ConditionComplete {
		return nil, fmt.Errorf("run %s has not completed: %s: %s", r.Run.Name, cmp.Or(r.Run.Outcome, Unfinished), r.Run.Message)
	}
	if n := len(r.Accepted()); n < r.Run.Planned {
		return nil, fmt.Errorf("run %s has %d of %d trials: something is missing from its results", r.Run.Name, n, r.Run.Planned)
	}
	s := &Side{
		name: r.Run.Name, reference: reference, uid: r.Run.UID, workload: r.Run.Workload, started: r.Run.Started, spec: r.Run.Spec,
		probe: stats.ProbeOfAll(r.Accepted()), rows: map[string][]string{},
		warnings: slices.Concat(r.Warnings(), warnings(r.Points)), findings: findingsOf(r),
	}
	found := false
	for i := range r.Points {
		p := &r.Points[i]
		point := sidePoint{label: stats.Label(p.Parameters), parameters: p.Parameters}
		wanted := func(p *stats.Point, m result.Metric) bool { return m.Name == cmp.Or(metric, p.Metric.Name) }
		for _, m := range analysis.Metrics(r.Points[i:i+1], wanted) {
			point.metric, point.values = m, analysis.ValuesOf(p.Records, m.Name)
		}
		point.rateMissed = slices.ContainsFunc(p.Records, analysis.MissedRate)
		if found = found || len(point.values) > 0; len(point.values) > 0 {
			s.points = append(s.points, point)
		}
		for _, record := range p.Records {
			if t := record.Summary.Totals; t.StoppedBy == result.StoppedByRows {
				s.rows[point.label] = appendNew(s.rows[point.label], strconv.FormatInt(t.Rows, 10))
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("run %s has measured no %s; it has %s", r.Run.Name, cmp.Or(metric, "values"), namesOf(r))
	}
	s.facts = factsOf(r.Accepted())
	return s, nil
}

// namesOf the metrics that a run has.
func namesOf(r *Report) string {
	metrics, _ := r.Columns()
	return cmp.Or(strings.Join(metrics, ", "), "none")
}

// VariantSide is a variant of a comparison that has completed. A comparison publishes the values of one metric only.
func VariantSide(s *Comparison, variant, metric, reference string) (*Side, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	side, err := variantSide(s, variant, metric, s.Rounds)
	if err != nil {
		return nil, err
	}
	side.reference = reference
	return side, nil
}

// variantSide has the values of the first rounds.
func variantSide(s *Comparison, variant, metric string, rounds int) (*Side, error) {
	var names []string
	for _, v := range s.Variants {
		names = append(names, v.Name)
	}
	if !slices.Contains(names, variant) {
		return nil, fmt.Errorf("run %s has no variant %q; it has %s", s.Name, variant, strings.Join(names, ", "))
	}
	side := &Side{
		name: s.Name + ":" + variant, reference: s.Name + ":" + variant, uid: s.UID, workload: s.Workload, started: s.Started,
		warnings: s.AllWarnings(), facts: comparisonFacts(s, variant), findings: s.findings(),
	}
	better := ""
	for i := range s.Pairs {
		better = s.Pairs[i].Metric.Better
	}
	for _, run := range s.Runs {
		if run.Variant != variant || run.Round > rounds {
			continue
		}
		if metric != "" && metric != run.Metric {
			return nil, fmt.Errorf("run %s publishes %s and no other metric, so not %s", s.Name, run.Metric,
				metric)
		}
		for _, v := range run.Values {
			p := side.at(stats.Label(v.Parameters))
			if p == nil {
				side.points = append(side.points, sidePoint{
					label: stats.Label(v.Parameters), parameters: v.Parameters,
					metric: result.Metric{Name: run.Metric, Unit: run.Unit, Better: better},
				})
				p = &side.points[len(side.points)-1]
			}
			p.values = append(p.values, v.Value)
		}
	}
	missed := s.missedRates(variant)
	for i := range side.points {
		side.points[i].rateMissed = missed[side.points[i].label]
	}
	return side, nil
}

// missedRates are the labels of the points at which a variant may not have reached the offered rate, as its pairs say: of the
// baseline, at which all of its pairs say so.
func (s *Comparison) missedRates(variant string) map[string]bool {
	missed := map[string]bool{}
	for i := range s.Pairs {
		p := &s.Pairs[i]
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

// design is how the comparison compares: as its specification says, for as many pairs as it makes.
func (s *Comparison) design() (stats.Design, error) {
	var spec v1alpha1.BenchmarkRunSpec
	if err := json.Unmarshal(s.Spec, &spec); err != nil {
		return stats.Design{}, fmt.Errorf("reading the specification of %s: %w", s.Name, err)
	}
	d := analysis.DesignOf(&spec, len(s.Pairs))
	d.MaxRounds, d.EquivalencePercent = cmp.Or(d.MaxRounds, s.Planned), cmp.Or(d.EquivalencePercent, defaultDifference)
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
	stats.ComparisonFinding
}

// ComparedChange is a field of the specification or of the environment that has two values.
type ComparedChange struct {
	// Variant of the comparison; empty if two sides are compared.
	Variant string `json:"variant,omitempty"`
	plan.Difference
}

// UnpairedPoint is a point that only one side has.
type UnpairedPoint struct {
	Of         string            `json:"of"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// findingsOf a run, with the points that they are about.
func findingsOf(r *Report) []ComparedFinding {
	var list []ComparedFinding
	for _, f := range slices.Concat(r.Run.Findings, r.ChangedInputs()) {
		list = append(list, ComparedFinding{ComparisonFinding: aboutAll(f)})
	}
	for _, remark := range Remarks(r.Points) {
		one := ComparedFinding{ComparisonFinding: stats.ComparisonFinding{PointFinding: remark.PointFinding}}
		for _, i := range remark.Points {
			one.Points = append(one.Points, r.Points[i].Parameters)
		}
		list = append(list, one)
	}
	return list
}

func aboutAll(f finding.Finding) stats.ComparisonFinding {
	return stats.ComparisonFinding{PointFinding: stats.PointFinding{Finding: f}}
}

// findings of a comparison.
func (s *Comparison) findings() []ComparedFinding {
	var list []ComparedFinding
	for _, w := range s.Findings {
		list = append(list, ComparedFinding{ComparisonFinding: w})
	}
	return list
}

// changes of the variants from the baseline.
func (s *Comparison) changes() []ComparedChange {
	var list []ComparedChange
	for _, v := range s.Variants {
		for _, d := range v.Differences {
			list = append(list, ComparedChange{v.Name, d})
		}
	}
	return list
}

// changesBetween two sides: of the specification, of inputs and of the environment.
func changesBetween(a, b *Side) []ComparedChange {
	var list []ComparedChange
	for _, c := range slices.Concat(plan.Changes(a.spec, b.spec), differingFacts(a, b, true), differingFacts(a, b, false)) {
		list = append(list, ComparedChange{Difference: c})
	}
	return list
}
