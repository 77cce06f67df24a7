// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"math"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// pilotMargin is by how much the rows of trials exceed those of their pilot: chance makes some trials faster.
const pilotMargin = 1.1

// rowsAt is how many rows the trials of a point insert, as a pilot has decided; 0 is as many as the workload asks for. pilot says
// that this is still to be found out. The first decision holds, for all variants.
func (s *situation) rowsAt(point int) (rows int64, pilot bool) {
	if s.run.Spec.Trials.MinSeconds == nil {
		return 0, false
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
