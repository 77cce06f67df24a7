// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

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
	for i := range p.Trials {
		t := &p.Trials[i]
		switch {
		case accepted[t.Number] != nil:
			g.Measured++
		case skipped[t.Number]:
			continue
		default:
			g.Left = append(g.Left, t)
		}
		g.Planned++
	}
	return g
}

// looksOf are the rounds after which a precision target is checked.
func looksOf(run *v1alpha1.BenchmarkRun) stats.Looks {
	if p := run.Spec.Trials.Precision; p != nil {
		return stats.Looks{First: int(p.Min), Last: int(p.Max)}
	}
	return stats.Looks{}
}

// skippedTrials are those that a precision target skips: the trials of a point in the rounds after the one in which it reached
// its target, or all points of a trial in stages. Only whole rounds count, so that every point is judged by the same number of
// trials.
func skippedTrials(run *v1alpha1.BenchmarkRun, p *plan.Plan, accepted map[int]*result.Record) map[int]bool {
	precision := run.Spec.Trials.Precision
	if precision == nil {
		return nil
	}
	skip, looks := map[int]bool{}, looksOf(run)
	reached := make([]bool, len(p.Points))
	values := make([][]float64, len(p.Points))
	for round := 1; round <= p.Rounds; round++ {
		for i := range p.Trials {
			t := &p.Trials[i]
			if t.Round != round || skip[t.Number] {
				continue
			}
			if accepted[t.Number] == nil {
				return skip
			}
			for point, r := range measuredIn(p, t, accepted) {
				if len(r.Summary.Metrics) > 0 {
					values[point] = append(values[point], r.Summary.Metrics[0].Value)
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
