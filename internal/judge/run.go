// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package judge judges what was measured. It has no client and no clock:
//
//	run, plan, records -> OfRun:      points, claims, environment, findings
//	                      OfVariants: pairs, claims, variants, warnings of a run with variants
//
// The operator decides by it, and writes it into the status; the report prints it; the plugin prints the same of what is not
// published yet. Runs with variants are analysed in these files:
//
//	variants.go      what is compared, and what was measured of it
//	verdicts.go      pairs of the variants, by whole rounds
//	differences.go   which server variables differ although that was not requested
//	warnings.go      what must be read with the answer
package judge

import (
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Run is the analysis of a run: what the records of its attempts say so far.
type Run struct {
	// Points in the order of the plan, with what was measured at them.
	Points []stats.Point
	// Claims are judged in the order of the specification.
	Claims []claims.Judgement
	// Environment, with variants that of the baseline, is nil without a record, unless the server is external.
	Environment *v1alpha1.Environment
	// Findings say how the database's node differed between the trials, and what a search for a capacity met.
	Findings []finding.Finding
	// Capacities are those of the variants, or of the only server; none unless the run asks for them.
	Capacities []stats.Point
}

// OfRun analyses a run with that plan, from the records of all of its attempts so far.
func OfRun(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record) *Run {
	a := &Run{
		Points: Points(run, p, records), Findings: stats.ProbeFindings(AcceptedIn(records)), Capacities: Capacities(run, p, records),
	}
	if len(p.Variants) == 0 {
		a.Findings = append(a.Findings, capacityOf(&run.Spec, p, byTrial(records)).findings()...)
		a.Claims = claimsOfRun(run, a.Points)
	} else {
		records = recordsOf(p.Variants[plan.Baseline(&run.Spec)], records)
	}
	if len(records) > 0 || external(&run.Spec) {
		e := environmentOf(&run.Spec, records)
		a.Environment = &e
	}
	return a
}

// recordsOf a variant are those of the attempts that measured it, as if they had measured nothing else. One that does not say
// what it measured was disturbed for all.
func recordsOf(variant string, records []*result.Record) []*result.Record {
	var own []*result.Record
	for _, r := range records {
		if len(r.Sides) == 0 || r.Measures(variant) {
			own = append(own, r.Side(variant))
		}
	}
	return own
}

// Points are all points of a plan, in its order, with what was measured at them: those of each variant in turn, if there are any.
func Points(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record) []stats.Point {
	if len(p.Variants) == 0 {
		return pointsOf(run, p, records)
	}
	var points []stats.Point
	for i, name := range p.Variants {
		of := *p
		of.Variants = nil
		of.Trials = slices.DeleteFunc(slices.Clone(p.Trials), func(t plan.Trial) bool { return !slices.Contains(t.Sides, i) })
		for _, point := range pointsOf(run, &of, recordsOf(name, records)) {
			point.Variant = name
			points = append(points, point)
		}
	}
	return points
}

func pointsOf(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record) []stats.Point {
	points := make([]stats.Point, len(p.Points))
	accepted := byTrial(records)
	for i := range p.Trials {
		from, measured := measuredIn(p, &p.Trials[i], accepted)
		for k, r := range measured {
			at := &points[from+k]
			at.Records, at.Rounds = append(at.Records, r), append(at.Rounds, p.Trials[i].Round)
		}
	}
	looks := looksOf(run)
	for i, point := range p.Points {
		points[i].Parameters = point.Parameters
		points[i] = looks.Summarized(points[i])
	}
	return points
}

// measuredIn a trial is what counts of its points, of which it says the first, from the accepted records by trial: none if there
// is none.
func measuredIn(p *plan.Plan, t *plan.Trial, accepted map[int]*result.Record) (from int, list []*result.Record) {
	from, to := p.Measured(t)
	if r := accepted[t.Number]; r != nil {
		list = r.Measurements()
	}
	return from, list[:min(len(list), to-from)]
}

// AcceptedIn records are those of attempts that count, in the order in which they were recorded.
func AcceptedIn(records []*result.Record) []*result.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r *result.Record) bool { return r.Outcome != result.OutcomeAccepted })
}

// byTrial are the accepted records by the number of their trial.
func byTrial(records []*result.Record) map[int]*result.Record {
	accepted := map[int]*result.Record{}
	for _, r := range AcceptedIn(records) {
		accepted[r.Trial] = r
	}
	return accepted
}

// LastServed is the newest database instance that served the attempts of these records.
func LastServed(records []*result.Record) plan.Served {
	last := plan.Served{}
	for _, r := range records {
		if r.Instance >= last.Number {
			last = plan.Served{Number: r.Instance, PodUID: r.Place.DatabasePodUID}
		}
	}
	return last
}

// Progress is how many trials of a run are measured, and which are left.
type Progress struct {
	// Planned is the number of trials without those that a precision target skips, and Measured how many of them are measured.
	// Invalidated is the number of attempts that were disturbed.
	Planned, Measured, Invalidated int
	// Left are the trials that are planned and not measured yet, in their order.
	Left []*plan.Trial
}

// ProgressOf a run with that plan, from the records of all of its attempts so far.
func ProgressOf(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record) Progress {
	var g Progress
	for _, r := range records {
		if r.Outcome == result.OutcomeInvalidated {
			g.Invalidated++
		}
	}
	accepted := byTrial(records)
	skipped := skippedTrials(run, p, accepted)
	offers := capacityOf(&run.Spec, p, accepted)
	for i := range p.Trials {
		t := &p.Trials[i]
		switch {
		case accepted[t.Number] != nil:
			g.Measured++
		case skipped[t.Number], !offers.wants(t, func(int) bool { return true }):
			continue
		default:
			g.Left = append(g.Left, t)
		}
		g.Planned++
	}
	return g
}

// Keep leaves out the trials that are not left.
func (g *Progress) Keep(left func(t *plan.Trial) bool) {
	planned := len(g.Left)
	g.Left = slices.DeleteFunc(g.Left, func(t *plan.Trial) bool { return !left(t) })
	g.Planned -= planned - len(g.Left)
}

// looksOf are the rounds after which a precision target is checked.
func looksOf(run *v1alpha1.BenchmarkRun) stats.Looks {
	if p := run.Spec.Trials.Precision; p != nil {
		return stats.Looks{First: int(p.Min), Last: int(p.Max)}
	}
	return stats.Looks{}
}

// skippedTrials are those that a precision target skips: after the round in which its point, or all points of a trial in stages,
// reached it. Only whole rounds count, so that every point is judged by the same number of trials.
func skippedTrials(run *v1alpha1.BenchmarkRun, p *plan.Plan, accepted map[int]*result.Record) map[int]bool {
	precision := run.Spec.Trials.Precision
	if precision == nil {
		return nil
	}
	skip, looks := map[int]bool{}, looksOf(run)
	reached, values := make([]bool, len(p.Points)), make([][]float64, len(p.Points))
	for round := 1; round <= p.Rounds; round++ {
		for i := range p.Trials {
			t := &p.Trials[i]
			if t.Round != round || skip[t.Number] {
				continue
			}
			if accepted[t.Number] == nil {
				return skip
			}
			from, measured := measuredIn(p, t, accepted)
			for k, r := range measured {
				if len(r.Summary.Metrics) > 0 {
					values[from+k] = append(values[from+k], r.Summary.Metrics[0].Value)
				}
			}
		}
		for i := range reached {
			reached[i] = reached[i] || round >= int(precision.Min) && looks.Summary(values[i]).Reached(precision.TargetRelativeCIPercent)
		}
		for i := range p.Trials {
			t := &p.Trials[i]
			if from, to := p.Measured(t); t.Round > round && !slices.Contains(reached[from:to], false) {
				skip[t.Number] = true
			}
		}
	}
	return skip
}
