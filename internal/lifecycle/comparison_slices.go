// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// turnsTogether are the turns if all runs of the round measure the same trial at the same time: the next one, when all are ready.
func (s *comparisonSituation) turnsTogether(round []int) map[int]int {
	allowed, least := map[int]int{}, s.trialsOf(round[0])
	for _, i := range round {
		least = min(least, s.trialsOf(i))
	}
	if s.roundOver() || s.allWait() {
		for _, i := range round {
			allowed[i] = least + 1
		}
	}
	return allowed
}

// disturbed is a run of the round whose slices were invalidated, or nil. What the others have measured meanwhile is next to
// nothing.
func (s *comparisonSituation) disturbed() *v1alpha1.BenchmarkRun {
	if !s.slices() || s.roundOver() {
		return nil
	}
	for _, run := range s.underWay() {
		// It says why as soon as it waits.
		if s.isCurrent(run) && ptr.Deref(run.Status.Trials.Invalidated, 0) > 0 && waitsForTurn(run) {
			return run
		}
	}
	return nil
}

// disturbedRound is what the comparison knows of the attempts at the round that were disturbed, this one included.
func (s *comparisonSituation) disturbedRound() v1alpha1.DisturbedRound {
	known := s.comparison.Status.Disturbed
	if s.next >= len(s.plan.Members) {
		return v1alpha1.DisturbedRound{}
	}
	round := int32Of(s.plan.Members[s.next].Round)
	if known.Round != round {
		known = v1alpha1.DisturbedRound{}
	}
	if s.disturbed() == nil || slices.Contains(known.Attempts, s.seen.Current[0].UID) {
		return known
	}
	return v1alpha1.DisturbedRound{Round: round, Attempts: append(slices.Clone(known.Attempts), s.seen.Current[0].UID)}
}

// roundDisturbed removes the runs of a round in which slices were invalidated: it begins again, unless that happened too often.
// That it happened is written down first.
func roundDisturbed(s *comparisonSituation) *Decision {
	run := s.disturbed()
	if run == nil {
		return nil
	}
	what := "run " + run.Name + ": " + readyOf(run).Message
	attempts, limit := len(s.disturbedRound().Attempts), int(ptr.Deref(run.Spec.Trials.MaxInvalid, v1alpha1.DefaultMaxInvalid))
	if attempts > limit {
		return fail(Failure{Reason: v1alpha1.ReasonTooManyInvalid, Message: fmt.Sprintf(
			"round %d was disturbed %d times (trials.maxInvalid allows %d); the last time by %s",
			s.plan.Members[s.next].Round, attempts, limit, what)})
	}
	d := s.measuring(Wait{})
	d.Message += ": the round was disturbed and begins again: " + what
	if len(s.comparison.Status.Disturbed.Attempts) == attempts {
		for _, other := range s.underWay() {
			if other.DeletionTimestamp == nil {
				d.Action = RemoveMember{Name: other.Name, UID: other.UID}
			}
		}
	}
	return d
}
