// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// Alternation of a run with those of the other variants of its comparison, trial by trial.
type Alternation struct {
	// Trials that the run may have measured before it waits; above the number of all of its trials, it may also end.
	Trials int
	// Runs that alternate.
	Runs int
	// Slices in which they do so, or nil.
	Slices *trial.Slices
}

// AlternationOf a run, as the status of its comparison has it, or nil if the run does not wait for others; and whether the
// comparison names it at all.
func AlternationOf(run *v1alpha1.BenchmarkRun, comparison *v1alpha1.BenchmarkComparison) (a *Alternation, named bool) {
	runs, variants := comparison.Status.CurrentRuns, len(comparison.Spec.Variants)
	for place, current := range runs {
		switch {
		case current.UID != string(run.UID):
		case current.Trials == nil:
			return nil, true
		default:
			a = &Alternation{Trials: int(*current.Trials), Runs: variants}
			if comparison.Status.Alternation == v1alpha1.AlternateSlices {
				a.Slices = &trial.Slices{
					First: runs[0].Name, FirstUID: runs[0].UID, Variants: variants, Place: place,
					Milliseconds: int64(plan.SliceMilliseconds(&comparison.Spec)),
				}
			}
			return a, true
		}
	}
	return nil, false
}

// mayGoOn says whether the run may measure its next trial or, if it has none, end.
func (s *situation) mayGoOn() bool {
	a := s.seen.Alternation
	switch {
	case a == nil:
		return true
	case s.next == nil:
		return a.Trials > len(s.plan.Trials)
	case a.Slices != nil && s.Invalidated > 0:
		return false // the whole round is measured again
	}
	return s.next.Number <= a.Trials
}

// othersMeasure waits while another variant is measured. A server that is lost meanwhile is replaced in the run's own turn: to
// start one, or to stop it, would disturb the others.
func othersMeasure(s *situation) *Decision {
	if len(s.seen.Records) == 0 {
		return nil // its server starts before all trials
	}
	return waitForTurn(s)
}

// waitForTurn waits, with a server that is up, for the first trial.
func waitForTurn(s *situation) *Decision {
	if s.mayGoOn() {
		return nil
	}
	d := &Decision{Action: Wait{}, Reason: v1alpha1.ReasonWaitingForTurn, Message: fmt.Sprintf(
		"trials measured: %d of %d; the server is idle while another variant is measured", s.Measured, len(s.plan.Trials))}
	if last := s.lastInvalidated(); last != nil && s.seen.Alternation.Slices != nil {
		d.Message = fmt.Sprintf("trial %d was invalidated: %s: %s", last.Trial, last.Cause, last.Message)
	}
	return d
}

// takingTurns is how long something may take that takes a run so long by itself: it waits for others that take as long.
func (s *situation) takingTurns(alone time.Duration) time.Duration {
	if s.seen.Alternation == nil {
		return alone
	}
	if most := maxDeadline / time.Duration(s.seen.Alternation.Runs); alone > most {
		return maxDeadline
	}
	return alone * time.Duration(s.seen.Alternation.Runs)
}
