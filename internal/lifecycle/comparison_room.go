// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// A comparison that may choose measures in slices or, with several connections, in trials that take turns. Either needs room
// for the servers and loaders of all variants at the same time. Whether there is room shows in the first round only: other
// Pods come and go, quotas are full or not. If there is none, the round begins again with whole runs, one after the other.
// Nothing is lost with it, because nothing is measured before all are ready.

// roomPatience is for how long the first round may wait for room, so that Pods can go that are about to.
const roomPatience = 30 * time.Second

// noRoom removes the runs of a first round that have no room together. That it happened is written down first.
func noRoom(s *comparisonSituation) *Decision {
	if s.comparison.Spec.Alternation != v1alpha1.AlternateAutomatic {
		return nil
	}
	if runs := s.madeForTurns(); len(runs) > 0 && !s.alternates() {
		d := s.measuring(Wait{})
		d.Message += ": the round begins again with whole runs: " + s.plan.AlternationReason
		for _, run := range runs {
			if run.DeletionTimestamp == nil {
				d.Action = RemoveMember{Name: run.Name, UID: run.UID}
			}
		}
		return d
	}
	run := s.withoutRoom()
	if run == nil {
		return nil
	}
	d := s.measuring(Wait{})
	d.Message += ": " + noRoomText(run)
	d.After = max(time.Second, s.patience(run))
	return d
}

// madeForTurns are the runs under way that were made to take turns with others.
func (s *comparisonSituation) madeForTurns() []*v1alpha1.BenchmarkRun {
	var runs []*v1alpha1.BenchmarkRun
	for i := range s.seen.Members {
		m := &s.seen.Members[i]
		if m.Run == nil || m.Finished() {
			continue
		}
		if c := s.made(m.Run.Name); c != nil && c.Trials != nil && c.UID == string(m.Run.UID) {
			runs = append(runs, m.Run)
		}
	}
	return runs
}

// withoutRoom is a run of the first round that waits for room, or nil.
func (s *comparisonSituation) withoutRoom() *v1alpha1.BenchmarkRun {
	runs := s.underWay()
	begun := func(run *v1alpha1.BenchmarkRun) bool {
		return ptr.Deref(run.Status.Trials.Measured, 0)+ptr.Deref(run.Status.Trials.Invalidated, 0) > 0
	}
	if !s.together() || s.next > 0 || len(runs) < 2 || slices.ContainsFunc(runs, begun) {
		return nil
	}
	for _, run := range runs {
		if c := readyOf(run); c != nil && slices.Contains(waitsForRoom, c.Reason) {
			return run
		}
	}
	return nil
}

// waitsForRoom are the reasons of a run that waits for something which another run may have: a node's, a quota's, a queue's.
var waitsForRoom = []string{v1alpha1.ReasonWaitingForRoom, v1alpha1.ReasonRefused, v1alpha1.ReasonWaitingForKueue}

// patience is for how long a run may still wait for room.
func (s *comparisonSituation) patience(run *v1alpha1.BenchmarkRun) time.Duration {
	return run.CreationTimestamp.Add(roomPatience).Sub(s.now)
}

// alternation that the comparison measures with, and why it does not measure in slices if it may choose.
func (s *comparisonSituation) alternation() (v1alpha1.Alternation, string) {
	automatic := s.comparison.Spec.Alternation == v1alpha1.AlternateAutomatic
	if run := s.withoutRoom(); automatic && run != nil && s.patience(run) <= 0 {
		return v1alpha1.AlternateRuns, cut(noRoomText(run), maxComparisonText)
	}
	return s.plan.Alternation, cut(s.plan.AlternationReason, maxComparisonText)
}

// noRoomText says what a run waits for.
func noRoomText(run *v1alpha1.BenchmarkRun) string {
	return "no room for all variants at the same time: run " + run.Name + ": " + readyOf(run).Message
}

func readyOf(run *v1alpha1.BenchmarkRun) *metav1.Condition {
	return apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionReady)
}
