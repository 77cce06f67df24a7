// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// memberLost ends a comparison that misses a run which it has had. Another one in its place would be measured at another time
// than the runs that it is compared with.
func memberLost(s *comparisonSituation) *Decision {
	had := int(ptr.Deref(s.comparison.Status.Runs.Finished, 0))
	finished := func(m analysis.Member) bool { return m.Finished() }
	later := len(s.underWay()) == 0 && slices.ContainsFunc(s.seen.Members[s.next:], finished)
	if s.next >= had && !later {
		return nil
	}
	return fail(Failure{Reason: v1alpha1.ReasonMemberLost, Message: fmt.Sprintf(
		"run %s was deleted while the comparison was under way", s.name(s.next))})
}

// memberFailed ends a comparison with a run that has failed. Its round stays incomplete, whatever later rounds measure.
func memberFailed(s *comparisonSituation) *Decision {
	for i := range s.seen.Members {
		if m := &s.seen.Members[i]; m.Finished() && m.Is(v1alpha1.ConditionFailed) {
			c := apimeta.FindStatusCondition(m.Run.Status.Conditions, v1alpha1.ConditionFailed)
			return fail(Failure{Reason: v1alpha1.ReasonMemberFailed, Message: fmt.Sprintf(
				"run %s of round %d failed: %s: %s", s.name(i), s.plan.Members[i].Round, c.Reason, c.Message)})
		}
	}
	return nil
}

// memberNotMade removes a run under the name of one of this round that the comparison does not know as its own: a third party has
// made it, or the comparison before its operator was killed. It has had no turn, so nothing is lost with it.
func memberNotMade(s *comparisonSituation) *Decision {
	for _, run := range s.underWay() {
		if s.isCurrent(run) {
			continue
		}
		d := s.measuring(Wait{})
		d.Message += fmt.Sprintf(": run %s, which the comparison did not create, is being removed", run.Name)
		if run.DeletionTimestamp == nil {
			d.Action = RemoveMember{Name: run.Name, UID: run.UID}
		}
		return d
	}
	return nil
}

// memberUnderWay waits for the end of the runs that are under way, resumes those that are suspended, because the comparison was,
// and makes the other runs of the round.
func memberUnderWay(s *comparisonSituation) *Decision {
	runs := s.underWay()
	if len(runs) == 0 {
		return nil
	}
	d := s.measuring(Wait{})
	for _, run := range runs {
		if ptr.Deref(run.Spec.Suspend, false) {
			d.Action = SuspendMember{Name: run.Name}
			return d
		}
	}
	if s.missing() >= 0 && s.readyForNext() {
		return createMember(s)
	}
	if s.afterOthers() {
		d.After = time.Second
		if s.allWait() {
			d.Message += ": the servers of the previous round are stopping"
			return d
		}
	}
	if c := readyOf(s.shown()); c != nil && c.Reason != "" {
		d.Message += ": " + c.Reason + ": " + c.Message
	}
	return d
}

// shown is the run under way that a message is about: the one whose turn it is.
func (s *comparisonSituation) shown() *v1alpha1.BenchmarkRun {
	runs := s.underWay()
	for _, run := range runs {
		if !waitsForTurn(run) {
			return run
		}
	}
	return runs[0]
}

// memberLingers waits until what the last run had is gone: its database, which stops, would disturb the next run. The servers of
// a round that measures nothing before all of them are up may start meanwhile: a round is shorter by what a server takes to stop.
func memberLingers(s *comparisonSituation) *Decision {
	if s.seen.Left == NothingLeft || s.seen.Left == Stopping && s.alternates() && s.next > 0 {
		return nil
	}
	d := s.measuring(Wait{})
	d.Message += ": the database of the previous run is being removed"
	d.After = time.Second
	return d
}

// unchecked has the runs of all variants checked before the comparison stands in the queue of its lane: one that cannot be
// carried out ends at once. Runs of an earlier comparison of this name would be in the way.
func unchecked(s *comparisonSituation) *Decision {
	begun := slices.ContainsFunc(s.seen.Members, func(m analysis.Member) bool { return m.Run != nil })
	if s.seen.Checked || begun || len(s.seen.Remains) > 0 || ptr.Deref(s.comparison.Status.Runs.Finished, 0) > 0 {
		return nil
	}
	return &Decision{Action: CheckVariants{}, Reason: v1alpha1.ReasonChecking, Message: "the runs of all variants are being checked"}
}

// createMember creates the next run, on the nodes of the first one.
func createMember(s *comparisonSituation) *Decision {
	next := s.missing()
	create := CreateMember{Member: s.plan.Members[next], Rows: s.seen.DecidedRows()}
	for _, run := range s.underWay() {
		create.Beside = append(create.Beside, *s.made(run.Name))
	}
	if next > 0 && s.comparison.Spec.Template.Spec.Placement == v1alpha1.PlacementSameNode {
		e := &s.seen.Members[0].Run.Status.Environment
		if e.DatabaseNode != result.Unknown {
			create.DatabaseNode = e.DatabaseNode
		}
		create.LoaderNodes = e.LoaderNode
	}
	if s.shares() {
		create.Shared = s.lastServed()
	}
	return s.measuring(create)
}

// measuring is a decision while rounds are being measured.
func (s *comparisonSituation) measuring(a Action) *Decision {
	m := s.plan.Members[s.next]
	if create, creates := a.(CreateMember); creates {
		m = create.Member
	} else if len(s.underWay()) > 0 {
		shown := s.shown().Name
		for _, i := range s.round() {
			if s.name(i) == shown {
				m = s.plan.Members[i]
			}
		}
	}
	return &Decision{Action: a, Reason: v1alpha1.ReasonMeasuring, Message: fmt.Sprintf(
		"round %d of at most %d, %s", m.Round, s.comparison.Spec.MaxRounds, s.comparison.Spec.Variants[m.Variant].Name)}
}

// name of a member's run.
func (s *comparisonSituation) name(member int) string {
	return plan.MemberName(s.comparison, s.plan.Members[member])
}

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
