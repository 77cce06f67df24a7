// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// A turn is the time for which a run or a comparison has its lane, without the time for which it is suspended or waits for the
// lane again. An administrator may bound it, so that nobody keeps a lane from the others for months.

// RunTurnRefused says why a run that has not begun does not: it asks for more than a turn. It returns nil if it may begin. A run
// of a comparison has no turn of its own. Most is 0 without a bound.
func RunTurnRefused(run *v1alpha1.BenchmarkRun, most time.Duration) *Failure {
	if MemberOf(run) != nil {
		return nil
	}
	return turnRefused("run", run.Spec.DeadlineSeconds, run.Status.StartTime, most)
}

// ComparisonTurnRefused says the same of a comparison.
func ComparisonTurnRefused(comparison *v1alpha1.BenchmarkComparison, most time.Duration) *Failure {
	return turnRefused("comparison", comparison.Spec.DeadlineSeconds, comparison.Status.StartTime, most)
}

func turnRefused(noun string, requested *int32, start *metav1.Time, most time.Duration) *Failure {
	if most == 0 || requested == nil || start != nil || time.Duration(*requested)*time.Second <= most {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: fmt.Sprintf(
		"spec.deadlineSeconds is %d but must be at most %d: this installation limits how long a %s may hold its lane (--max-turn)",
		*requested, int64(most/time.Second), noun)}
}

// turnEnd is when the owner's turn is over. It returns nil without a bound.
func (o *owner) turnEnd() *time.Time {
	most := o.blockers.MaxTurn
	if most == 0 {
		return nil
	}
	return ptr.To(ptr.Deref(o.started, metav1.NewTime(o.now)).Add(most + o.pausedFor()))
}

// turnOver ends a run or a comparison whose turn is over, or returns nil. Like a deadline that was asked for, it does not wait
// for what is about to be made, only for what keeps what was measured.
func (o *owner) turnOver(waits string) *Decision {
	if end := o.turnEnd(); end == nil || o.now.Before(*end) {
		return nil
	}
	return fail(Failure{Reason: v1alpha1.ReasonDeadlineExceeded, Message: fmt.Sprintf(
		"the %s has held its lane for %s, the maximum of this installation (--max-turn): %s",
		o.noun, o.blockers.MaxTurn, waits)})
}

// within is the earlier of a deadline and the end of a turn, if that has one.
func within(deadline time.Time, turn *time.Time) time.Time {
	if turn == nil {
		return deadline
	}
	return earlier(deadline, *turn)
}
