// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
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
func AlternationOf(run *v1alpha1.BenchmarkRun, comparison *v1alpha1.BenchmarkRun) (a *Alternation, named bool) {
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

// pilotMargin is by how much the rows of trials exceed those of their pilot: chance makes some trials faster.
const pilotMargin = 1.1

// rowsAt is how many rows the trials of a point insert, as a pilot has decided; 0 is as many as the workload asks for. pilot says
// that this is still to be found out. The first decision holds: it is that of the comparison, if there is one.
func (s *situation) rowsAt(point int) (rows int64, pilot bool) {
	if s.run.Spec.Trials.MinSeconds == nil {
		return 0, false
	}
	if rows := s.seen.ComparisonRows[stats.Label(s.plan.Points[point].Parameters)]; rows > 0 {
		return rows, false
	}
	for _, r := range s.seen.Records {
		if r.Outcome == result.OutcomePilot && s.pointOf(r.Trial) == point {
			return r.Rows, false
		}
	}
	return 0, true
}

// pointOf is the index of a trial's point.
func (s *situation) pointOf(trialNumber int) int { return s.plan.Trials[trialNumber-1].Point }

// recording is the record of an attempt that has ended. That of a pilot decides about the rows.
func (s *situation) recording(a Attempt) RecordAttempt {
	action := RecordAttempt{Attempt: a, Parameters: s.parameters(a.Trial)}
	if a.Verdict.Outcome != result.OutcomeAccepted || a.Trial < 1 || a.Trial > len(s.plan.Trials) {
		return action
	}
	point := s.pointOf(a.Trial)
	if _, pilot := s.rowsAt(point); pilot {
		action.Attempt.Verdict.Outcome = result.OutcomePilot
		action.Rows = enoughRows(trial.Rows(s.run, s.plan.Points[point])[0], a.Verdict.Summary.Totals,
			ptr.Deref(s.run.Spec.Trials.MinSeconds, 0))
	}
	return action
}

// enoughRows are how many rows last so many seconds, by what a pilot has inserted: at least as many as are asked for. The number
// is rounded up to two digits, so that a person can say it.
func enoughRows(requested int64, pilot result.Totals, seconds int32) int64 {
	if pilot.Micros <= 0 {
		return requested
	}
	need := float64(pilot.Rows) * float64(seconds) * 1e6 / float64(pilot.Micros) * pilotMargin
	if need <= float64(requested) {
		return requested
	}
	unit := math.Pow10(max(0, len(strconv.FormatInt(int64(need), 10))-2))
	return min(int64(math.Ceil(need/unit-1e-9)*unit), trial.MaxRows) // what multiplying adds is no reason to round up
}

// NeedsComparisonRows says whether the rows of a run may have been decided by the pilots of its comparison. Of a run that the
// comparison has not made, and of one that does not measure, that need not be known.
func NeedsComparisonRows(run *v1alpha1.BenchmarkRun, named bool) bool {
	finished := apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
	return run.Spec.Trials.MinSeconds != nil && MemberOf(run) != nil && !finished && (named || run.Status.StartTime != nil)
}

// ComparisonRows are the rows that an annotation of a comparison's run has; none if it has no annotation, or not one of the
// comparison.
func ComparisonRows(annotations map[string]string) map[string]int64 {
	rows := map[string]int64{}
	if json.Unmarshal([]byte(annotations[v1alpha1.AnnotationRows]), &rows) != nil {
		return map[string]int64{}
	}
	return rows
}
