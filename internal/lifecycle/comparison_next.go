// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// comparisonSituation is the input of every rule about comparisons.
type comparisonSituation struct {
	owner
	comparison *v1alpha1.BenchmarkComparison
	plan       *analysis.ComparisonPlan
	seen       *ComparisonObserved
	// next is the index of the first member that has not finished, or the number of members.
	next int
}

// comparisonRules decide about comparisons.
var comparisonRules = rules[*comparisonSituation]{
	ends: []rule[*comparisonSituation]{
		finished[*comparisonSituation],
		comparisonDeleted,
		comparisonFailing,
		obstructed[*comparisonSituation],
		comparisonSuspended,
	},
	steps: []rule[*comparisonSituation]{
		unchecked,
		memberLost,
		memberFailed,
		comparisonQueued,
		predecessor[*comparisonSituation],
		answered,
		memberNotMade,
		noRoom,
		roundDisturbed,
		roundBroken,
		memberUnderWay,
		memberLingers,
		createMember,
	},
}

// NextOfComparison decides what a comparison does next.
func NextOfComparison(
	comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, seen *ComparisonObserved, now time.Time,
) Decision {
	return comparisonRules.next(newComparisonSituation(comparison, p, seen, now))
}

func newComparisonSituation(
	comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, seen *ComparisonObserved, now time.Time,
) *comparisonSituation {
	status, spec := &comparison.Status, &comparison.Spec
	s := &comparisonSituation{comparison: comparison, plan: p, seen: seen, owner: owner{
		noun: "comparison", object: comparison, holder: HolderOfComparison(comparison), now: now,
		lane: &seen.Lane, blockers: &seen.Blockers, predecessor: &seen.Predecessor,
		conditions: status.Conditions, started: status.StartTime, suspended: status.SuspendedSeconds, deadlineBefore: status.Deadline,
		refusal: status.Refusal, deadlineSeconds: spec.DeadlineSeconds,
		startDeadlineSeconds: spec.Template.Spec.Trials.StartDeadlineSeconds,
		expires:              comparisonExpiry(comparison, status.CompletionTime, seen.DefaultTTL), deletion: DeleteComparison{},
	}}
	for s.next < len(seen.Members) && seen.Members[s.next].Finished() {
		s.next++
	}
	return s
}

// comparisonFailing removes the run that is under way, if there is one, and the database that the runs share; publishes what was
// measured before the failure; and then ends the comparison. If the cluster refuses that for too long, it ends without.
func comparisonFailing(s *comparisonSituation) *Decision {
	if !s.is(v1alpha1.ConditionFailed) {
		return nil
	}
	if run := s.unfinished(); run != nil {
		d := &Decision{Action: Wait{}, Reason: v1alpha1.ReasonPublishing, Message: "run " + run.Name + " is being removed"}
		if run.DeletionTimestamp == nil {
			d.Action = RemoveMember{Name: run.Name, UID: run.UID}
		}
		return d
	}
	over := apimeta.FindStatusCondition(s.comparison.Status.Conditions,
		v1alpha1.ConditionFailed).LastTransitionTime.Add(publishGrace)
	left := over.Sub(s.now)
	if s.nothingToPublish() || s.seen.RetryError != "" && left <= 0 {
		return &Decision{Action: Wait{}, Finished: true}
	}
	d := &Decision{
		Action: PublishComparison{Outcome: v1alpha1.ConditionFailed}, Reason: v1alpha1.ReasonPublishing, After: max(0, left),
		Message: "the comparison has failed; the results of the earlier rounds are being written",
	}
	if a := s.cleanUp(false); a != nil {
		d.Action, d.Message = a, "the comparison has failed; "+beingRemoved(a)
	}
	return d
}

// nothingToPublish says whether a comparison that failed has nothing to remove and no results to publish.
func (s *comparisonSituation) nothingToPublish() bool {
	return s.unfinished() == nil && s.cleanUp(false) == nil && (s.seen.Results != nil || s.seen.Judged.Rounds == 0)
}

// unfinished is a run that exists and has not finished, or nil: that which is under way, unless runs before it were deleted. One
// that is being deleted, and says so, will not finish: a foreign finalizer may keep it.
func (s *comparisonSituation) unfinished() *v1alpha1.BenchmarkRun {
	for i := range s.seen.Members {
		if m := &s.seen.Members[i]; m.Run != nil && !m.Finished() && !saysDeleted(m.Run.Status.Conditions) {
			return m.Run
		}
	}
	return nil
}

// comparisonSuspended suspends the runs that are under way, and leaves the lane when they have removed what they had.
func comparisonSuspended(s *comparisonSituation) *Decision {
	if !ptr.Deref(s.comparison.Spec.Suspend, false) {
		return nil
	}
	d := Decision{Action: Wait{}, Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true"}
	if a := s.interrupt(); a != nil {
		d.Action = a
	} else if a := s.vacate(); a != nil {
		d.Action = a
	} else {
		leave(s, &d)
	}
	return &d
}

// answered publishes when what is asked has its answer, or no round is left, removes the database that the runs share, and
// then completes the comparison.
func answered(s *comparisonSituation) *Decision {
	wholeRound := s.next%len(s.plan.Variants) == 0 && s.next/len(s.plan.Variants) == s.seen.Judged.Rounds
	stop := s.stopsEarly() && wholeRound && len(s.underWay()) == 0 && s.seen.Judged.Decided()
	if !stop && s.next < len(s.seen.Members) {
		return nil
	}
	if s.seen.Results == nil {
		return &Decision{
			Action: PublishComparison{Outcome: v1alpha1.ConditionComplete}, Reason: v1alpha1.ReasonPublishing,
			Message: s.whyStopped() + "; the results are being written",
		}
	}
	if a := s.cleanUp(true); a != nil {
		return &Decision{Action: a, Reason: v1alpha1.ReasonPublishing, Message: s.whyStopped() + "; " + beingRemoved(a)}
	}
	pairs := s.seen.Judged.Pairs
	d := &Decision{Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonDecided, Message: s.whyStopped()}
	if !s.seen.Judged.Answered() {
		d.Reason = v1alpha1.ReasonUndecided
	}
	if n := s.seen.Judged.Unanswered(); n > 0 {
		d.Message += fmt.Sprintf("; pairs without an answer: %d of %d", n, len(pairs))
	}
	d.Message += ": " + stats.AnswerOf(s.seen.Judged.Overall, pairs).Text
	return d
}

// stopsEarly says whether the comparison ends when it has its answers.
func (s *comparisonSituation) stopsEarly() bool {
	return analysis.DesignOf(&s.comparison.Spec, len(s.plan.Pairs)).EarlyStop
}

// WhyStopped says why no further round is measured.
func WhyStopped(
	comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, seen *ComparisonObserved, now time.Time,
) string {
	return newComparisonSituation(comparison, p, seen, now).whyStopped()
}

func (s *comparisonSituation) whyStopped() string {
	if why := analysis.FailureOf(s.comparison.Status.Conditions); why != "" {
		return why
	}
	if s.next == len(s.seen.Members) {
		return fmt.Sprintf("all %d rounds are measured", s.seen.Judged.Rounds)
	}
	judged, what := &s.seen.Judged, "every pair"
	if judged.Policy == v1alpha1.EarlyStopWhenOverallDecided && len(judged.Overall) > 0 {
		what = "every variant, over all points together,"
	}
	if len(judged.Claims) > 0 {
		what += " and every claim"
	}
	return fmt.Sprintf("%s has its answer after %d rounds", what, judged.Rounds)
}
