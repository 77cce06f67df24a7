// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// progress of a run, computed from the records of its attempts.
type progress struct {
	// points with what was measured at them, in the order of the plan.
	points []stats.Point
	// planned trials, without those that a precision target skips.
	planned, measured, invalidated int
	// failed is the first attempt that ended the run, or nil.
	failed *result.Record
	// next is the first trial that is not measured yet, or nil; attempt is the number of its next attempt.
	next    *plan.Trial
	attempt int
}

func progressOf(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record) progress {
	var g progress
	accepted := acceptedOf(records)
	attempts := map[int]int{}
	for _, r := range records {
		attempts[r.Trial] = max(attempts[r.Trial], r.Attempt)
		switch r.Outcome {
		case result.OutcomeAccepted, result.OutcomePilot:
		case result.OutcomeInvalidated:
			g.invalidated++
		case result.OutcomeFailed:
			if g.failed == nil {
				g.failed = r
			}
		}
	}
	skipped := skippedTrials(run, p, accepted)
	for i := range p.Trials {
		t := &p.Trials[i]
		r := accepted[t.Number]
		switch {
		case r != nil:
			g.measured++
		case skipped[t.Number]:
			continue
		case g.next == nil:
			g.next, g.attempt = t, attempts[t.Number]+1
		}
		g.planned++
	}
	g.points = pointsOf(p, accepted, looksOf(run))
	return g
}

// Measured is the number of a run's planned trials, and its points in the order of the plan with what was measured at them.
func Measured(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record) (planned int, points []stats.Point) {
	g := progressOf(run, p, records)
	return g.planned, g.points
}

// acceptedOf are the records that count, by the number of their trial.
func acceptedOf(records []*result.Record) map[int]*result.Record {
	accepted := map[int]*result.Record{}
	for _, r := range records {
		if r.Outcome == result.OutcomeAccepted {
			accepted[r.Trial] = r
		}
	}
	return accepted
}

// looksOf are the rounds after which a precision target is checked.
func looksOf(run *v1alpha1.BenchmarkRun) stats.Looks {
	if p := run.Spec.Trials.Precision; p != nil {
		return stats.Looks{First: int(p.Min), Last: int(p.Max)}
	}
	return stats.Looks{}
}

// pointsOf are all points of a plan, in its order, with what was measured at them.
func pointsOf(p *plan.Plan, accepted map[int]*result.Record, looks stats.Looks) []stats.Point {
	byPoint := make([][]*result.Record, len(p.Points))
	for _, t := range p.Trials {
		if r := accepted[t.Number]; r != nil {
			byPoint[t.Point] = append(byPoint[t.Point], r)
		}
	}
	var points []stats.Point
	for i, point := range p.Points {
		points = append(points, looks.Summarized(point.Parameters, byPoint[i]))
	}
	return points
}

// skippedTrials are those that a precision target skips: the trials of a point in the rounds after the one in which it reached
// its target. Only whole rounds count, so that every point is judged by the same number of trials.
func skippedTrials(run *v1alpha1.BenchmarkRun, p *plan.Plan, accepted map[int]*result.Record) map[int]bool {
	precision := run.Spec.Trials.Precision
	if precision == nil {
		return nil
	}
	skip, looks := map[int]bool{}, looksOf(run)
	reached := make([]bool, len(p.Points))
	values := make([][]float64, len(p.Points))
	for round := 1; round <= p.Rounds; round++ {
		for _, t := range p.Trials {
			if t.Round != round || skip[t.Number] {
				continue
			}
			r := accepted[t.Number]
			if r == nil {
				return skip
			}
			if len(r.Summary.Metrics) > 0 {
				values[t.Point] = append(values[t.Point], r.Summary.Metrics[0].Value)
			}
		}
		for i := range reached {
			reached[i] = reached[i] || round >= int(precision.Min) && looks.Summary(values[i]).Reached(precision.TargetRelativeCIPercent)
		}
		for _, t := range p.Trials {
			if t.Round > round && reached[t.Point] {
				skip[t.Number] = true
			}
		}
	}
	return skip
}
