// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// suiteSituation is the input of every rule about suites.
type suiteSituation struct {
	suite *v1alpha1.BenchmarkSuite
	plan  *analysis.SuitePlan
	seen  *SuiteObserved
	now   time.Time
	// next is the index of the first member that has not finished, or the number of members.
	next int
}

// suiteRule decides, or returns nil: then the next one is asked.
type suiteRule func(*suiteSituation) *Decision

// suiteEnds are the rules for a suite that takes no further step, and suiteSteps those for one that does, each in the order in
// which they are asked.
var (
	suiteEnds = []suiteRule{
		suiteFinished,
		suiteDeleted,
		suiteFailing,
		suiteObstructed,
		suiteSuspended,
	}
	suiteSteps = []suiteRule{
		unchecked,
		memberLost,
		memberFailed,
		suiteQueued,
		suitePredecessor,
		answered,
		memberNotMade,
		memberUnderWay,
		memberLingers,
		createMember,
	}
)

// NextOfSuite decides what a suite does next.
func NextOfSuite(suite *v1alpha1.BenchmarkSuite, p *analysis.SuitePlan, seen *SuiteObserved, now time.Time) Decision {
	s := newSuiteSituation(suite, p, seen, now)
	d := s.decide()
	d.Finished = d.Finished || d.Failure != nil && s.nothingLeft()
	return d
}

func newSuiteSituation(
	suite *v1alpha1.BenchmarkSuite, p *analysis.SuitePlan, seen *SuiteObserved, now time.Time,
) *suiteSituation {
	s := &suiteSituation{suite: suite, plan: p, seen: seen, now: now}
	for s.next < len(seen.Members) && seen.Members[s.next].Finished() {
		s.next++
	}
	return s
}

func (s *suiteSituation) decide() Decision {
	if s.seen.Blind {
		switch {
		case s.suite.DeletionTimestamp != nil:
			return beingDeleted("suite", s.suite, &s.seen.Hindrances)
		case s.is(v1alpha1.ConditionFailed), s.is(v1alpha1.ConditionFinished):
			return Decision{Action: Wait{}}
		}
		return s.bound(Decision{Action: Wait{}})
	}
	for _, rule := range suiteEnds {
		if d := rule(s); d != nil {
			return *d
		}
	}
	for _, rule := range suiteSteps {
		if d := rule(s); d != nil {
			return s.bound(*d)
		}
	}
	return Decision{Action: Wait{}}
}

// is says whether a condition of the suite was true when it was read.
func (s *suiteSituation) is(condition string) bool {
	return apimeta.IsStatusConditionTrue(s.suite.Status.Conditions, condition)
}

// suiteFinished gives the lane to the next, and deletes the suite when its time to live is over. The database that its runs share
// was removed before, unless a run that the suite has removed was about to make it.
func suiteFinished(s *suiteSituation) *Decision {
	if !s.is(v1alpha1.ConditionFinished) {
		return nil
	}
	d := Decision{Action: Wait{}}
	if a := s.cleanUp(s.is(v1alpha1.ConditionComplete)); a != nil {
		d.Action = a
		return &d
	}
	if s.leave(&d); d.Action != (Wait{}) {
		return &d
	}
	expire(&d, s.suite, suiteExpiry(s.suite, s.suite.Status.CompletionTime, s.seen.DefaultTTL), s.now, DeleteSuite{})
	return &d
}

// suiteFailing removes the run that is under way, if there is one, and the database that the runs share; publishes what was
// measured before the failure; and then ends the suite. If the cluster refuses that for too long, it ends without.
func suiteFailing(s *suiteSituation) *Decision {
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
	over := apimeta.FindStatusCondition(s.suite.Status.Conditions, v1alpha1.ConditionFailed).LastTransitionTime.Add(publishGrace)
	left := over.Sub(s.now)
	if s.nothingLeft() || s.seen.Trouble != "" && left <= 0 {
		return &Decision{Action: Wait{}, Finished: true}
	}
	d := &Decision{
		Action: PublishSuite{Outcome: v1alpha1.ConditionFailed}, Reason: v1alpha1.ReasonPublishing, After: max(0, left),
		Message: "the suite has failed; the results of the rounds before are being written",
	}
	if a := s.cleanUp(false); a != nil {
		d.Action, d.Message = a, "the suite has failed; the database that its runs share is being removed"
	}
	return d
}

// nothingLeft says whether a suite that failed has nothing to remove and no results to publish.
func (s *suiteSituation) nothingLeft() bool {
	return s.unfinished() == nil && s.cleanUp(false) == nil && (s.seen.Results != nil || s.seen.Judged.Rounds == 0)
}

// unfinished is a run that exists and has not finished, or nil: that which is under way, unless runs before it were deleted. One
// that is being deleted, and says so, will not finish: somebody's finalizer may keep it.
func (s *suiteSituation) unfinished() *v1alpha1.BenchmarkRun {
	for i := range s.seen.Members {
		if m := &s.seen.Members[i]; m.Run != nil && !m.Finished() && !saysDeleted(m.Run.Status.Conditions) {
			return m.Run
		}
	}
	return nil
}

// underWay is the run of the next member if it exists, or nil.
func (s *suiteSituation) underWay() *v1alpha1.BenchmarkRun {
	if s.next < len(s.seen.Members) {
		return s.seen.Members[s.next].Run
	}
	return nil
}

func suiteObstructed(s *suiteSituation) *Decision {
	if s.seen.Obstacle != nil {
		return fail(*s.seen.Obstacle)
	}
	if f := s.seen.taken("suite", s.needs); f != nil {
		return fail(*f)
	}
	return nil
}

// suiteSuspended suspends the run that is under way, and leaves the lane when that has removed what it had.
func suiteSuspended(s *suiteSituation) *Decision {
	if !ptr.Deref(s.suite.Spec.Suspend, false) {
		return nil
	}
	d := Decision{Action: Wait{}, Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true"}
	if run := s.underWay(); run != nil && !ptr.Deref(run.Spec.Suspend, false) {
		d.Action = SuspendMember{Name: run.Name, Suspend: true}
	} else if a := s.vacate(); a != nil {
		d.Action = a
	} else {
		s.leave(&d)
	}
	return &d
}

func suitePredecessor(s *suiteSituation) *Decision {
	if len(s.seen.Predecessor) == 0 {
		return nil
	}
	return &Decision{
		Action: Wait{}, Reason: v1alpha1.ReasonWaitingForPredecessor, After: time.Second,
		Message: "objects of an earlier suite of this name are still being deleted: " + strings.Join(s.seen.Predecessor, ", "),
	}
}

// answered publishes when every comparison has its answer, or no round is left, removes the database that the runs share, and
// then completes the suite.
func answered(s *suiteSituation) *Decision {
	wholeRound := s.next%len(s.plan.Variants) == 0 && s.next/len(s.plan.Variants) == s.seen.Judged.Rounds
	stop := s.stopsEarly() && wholeRound && s.underWay() == nil && s.seen.Judged.Decided()
	if !stop && s.next < len(s.seen.Members) {
		return nil
	}
	if s.seen.Results == nil {
		return &Decision{
			Action: PublishSuite{Outcome: v1alpha1.ConditionComplete}, Reason: v1alpha1.ReasonPublishing,
			Message: s.whyStopped() + "; the results are being written",
		}
	}
	if a := s.cleanUp(true); a != nil {
		return &Decision{Action: a, Reason: v1alpha1.ReasonPublishing, Message: s.whyStopped() + "; the database is being removed"}
	}
	pairs := s.seen.Judged.Pairs
	d := &Decision{Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonDecided, Message: s.whyStopped()}
	if n := s.seen.Judged.Unanswered(); n > 0 {
		d.Reason = v1alpha1.ReasonUndecided
		d.Message += fmt.Sprintf("; comparisons without an answer: %d of %d", n, len(pairs))
	}
	d.Message += ": " + stats.AnswerOf(pairs).Text
	return d
}

// stopsEarly says whether the suite ends when every comparison has its answer.
func (s *suiteSituation) stopsEarly() bool {
	return analysis.DesignOf(&s.suite.Spec, len(s.plan.Pairs)).EarlyStop
}

// WhyStopped says why no further round is measured.
func WhyStopped(suite *v1alpha1.BenchmarkSuite, p *analysis.SuitePlan, seen *SuiteObserved, now time.Time) string {
	return newSuiteSituation(suite, p, seen, now).whyStopped()
}

func (s *suiteSituation) whyStopped() string {
	if why := analysis.FailureOf(s.suite.Status.Conditions); why != "" {
		return why
	}
	if s.next == len(s.seen.Members) {
		return fmt.Sprintf("all %d rounds are measured", s.seen.Judged.Rounds)
	}
	what := "every comparison has"
	if len(s.seen.Judged.Claims) > 0 {
		what = "every comparison and every claim has"
	}
	return fmt.Sprintf("%s its answer after %d rounds", what, s.seen.Judged.Rounds)
}
