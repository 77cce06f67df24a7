// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// The runs of a round are under way one after the other or, with alternation Trials or Slices, together: each has its server, and
// measures up to the trial that the comparison's status allows (CurrentRun.Trials). What is allowed follows from what the runs
// have measured, so that an operator that was killed goes on with the same turn. All runs of a round end together: a server that
// stops would disturb the trial of another one. With Slices, all measure the same trial at the same time, and their loaders take
// turns.

// alternates says whether the runs of a round are under way together.
func (s *comparisonSituation) alternates() bool { return s.plan.Alternation.Together() }

// slices says whether the loaders of a round's runs take turns.
func (s *comparisonSituation) slices() bool { return s.plan.Alternation == v1alpha1.AlternateSlices }

// together says whether nothing is measured before all servers of a round are up: with slices, and while there is a choice, which
// loses nothing then.
func (s *comparisonSituation) together() bool {
	return s.slices() || s.alternates() && s.comparison.Spec.Alternation == v1alpha1.AlternateAutomatic
}

// round are the indexes of the members that are under way together with the next one; none if all have finished.
func (s *comparisonSituation) round() []int {
	switch variants := len(s.plan.Variants); {
	case s.next >= len(s.seen.Members):
		return nil
	case s.alternates():
		members := make([]int, variants)
		for i := range members {
			members[i] = s.next - s.next%variants + i
		}
		return members
	}
	return []int{s.next}
}

// underWay are the runs of the round that exist and have not finished.
func (s *comparisonSituation) underWay() []*v1alpha1.BenchmarkRun {
	var runs []*v1alpha1.BenchmarkRun
	for _, i := range s.round() {
		if m := &s.seen.Members[i]; m.Run != nil && !m.Finished() {
			runs = append(runs, m.Run)
		}
	}
	if s.alternates() {
		return runs
	}
	for _, run := range s.madeForTurns() { // and there was no room for them
		if !slices.Contains(runs, run) {
			runs = append(runs, run)
		}
	}
	return runs
}

// missing is the first member of the round without a run, or -1.
func (s *comparisonSituation) missing() int {
	for _, i := range s.round() {
		if s.seen.Members[i].Run == nil {
			return i
		}
	}
	return -1
}

// Current are the runs that the comparison knows as its own after it has made this one.
func (a *CreateMember) Current(run *v1alpha1.BenchmarkRun) []v1alpha1.CurrentRun {
	return append(slices.Clone(a.Beside), v1alpha1.CurrentRun{Name: run.Name, UID: string(run.UID)})
}

// made is what the comparison knows of a run that it has made, by name, or nil.
func (s *comparisonSituation) made(name string) *v1alpha1.CurrentRun {
	for i := range s.seen.Current {
		if s.seen.Current[i].Name == name {
			return &s.seen.Current[i]
		}
	}
	return nil
}

// isCurrent says whether the comparison has made a run for this round.
func (s *comparisonSituation) isCurrent(run *v1alpha1.BenchmarkRun) bool {
	made := s.made(run.Name)
	return made != nil && made.UID == string(run.UID)
}

// roundOver says whether all trials of the round are measured.
func (s *comparisonSituation) roundOver() bool {
	return !slices.ContainsFunc(s.round(), func(i int) bool { return s.trialsOf(i) < s.trialsIn(i) })
}

// interrupt is the next step on the way to no run that is under way, or nil: a run that is under way alone is suspended. Those of
// a round whose trials alternate are removed, unless all are measured: trials that are measured before and after an interruption
// are not next to each other.
func (s *comparisonSituation) interrupt() Action {
	for _, run := range s.underWay() {
		switch suspended := ptr.Deref(run.Spec.Suspend, false); {
		case s.alternates() && !s.roundOver():
			if run.DeletionTimestamp == nil {
				return RemoveMember{Name: run.Name, UID: run.UID}
			}
		case !suspended:
			return SuspendMember{Name: run.Name, Suspend: true}
		}
	}
	return nil
}

// roundBroken removes the runs of a round of which one was deleted, or suspended by a user: it begins again.
func roundBroken(s *comparisonSituation) *Decision {
	runs := s.underWay()
	if !s.alternates() || s.roundOver() || len(runs) == 0 {
		return nil
	}
	suspended := func(run *v1alpha1.BenchmarkRun) bool {
		return ptr.Deref(run.Spec.Suspend, false) || run.DeletionTimestamp != nil
	}
	gone := func(i int) bool { return s.seen.Members[i].Run == nil && s.made(s.name(i)) != nil }
	if !slices.ContainsFunc(s.round(), gone) && !slices.ContainsFunc(runs, suspended) {
		return nil
	}
	d := s.measuring(Wait{})
	d.Message += ": a run of this round was deleted or suspended; the round begins again"
	if a := s.interrupt(); a != nil {
		d.Action = a
	}
	return d
}

// readyForNext says whether the next run of the round may be made beside those that are under way. In the first round it waits
// for what says where all others are measured: for the first trial or, if no run measures before all servers are up, for the node
// of the first server.
func (s *comparisonSituation) readyForNext() bool {
	switch {
	case s.next > 0:
		return true // nothing is measured before all servers of the round are up
	case s.together():
		return !s.placesFirst() || s.seen.Members[0].Run.Status.Environment.DatabaseNode != ""
	case !s.allWait():
		return false
	}
	return !s.placesFirst() || s.trialsOf(0) > 0
}

// allWait says whether all runs that are under way have a server that is up, and wait for a turn.
func (s *comparisonSituation) allWait() bool {
	return !slices.ContainsFunc(s.underWay(), func(run *v1alpha1.BenchmarkRun) bool { return !waitsForTurn(run) })
}

// placesFirst says whether the nodes of all runs are those of the first one, of which others are still to be made.
func (s *comparisonSituation) placesFirst() bool {
	return s.next == 0 && s.comparison.Spec.Template.Spec.Placement == v1alpha1.PlacementSameNode
}

// afterOthers says whether nothing is measured yet, because servers of the round before have not stopped.
func (s *comparisonSituation) afterOthers() bool {
	return s.seen.Left != NothingLeft && s.alternates() && !s.roundOver()
}

// starting says whether the server of a run of the round may not be up yet: it has measured nothing, and does not wait. That is
// so of the one that measures its first trial, too, which is allowed already.
func (s *comparisonSituation) starting() bool {
	return slices.ContainsFunc(s.underWay(), func(run *v1alpha1.BenchmarkRun) bool {
		return ptr.Deref(run.Status.Trials.Measured, 0) == 0 && !waitsForTurn(run)
	})
}

func waitsForTurn(run *v1alpha1.BenchmarkRun) bool {
	c := readyOf(run)
	return c != nil && c.Reason == v1alpha1.ReasonWaitingForTurn
}

// trialsOf a member that are measured.
func (s *comparisonSituation) trialsOf(member int) int {
	if run := s.seen.Members[member].Run; run != nil {
		return int(ptr.Deref(run.Status.Trials.Measured, 0))
	}
	return 0
}

// trialsIn a member's run.
func (s *comparisonSituation) trialsIn(member int) int {
	return len(s.plan.Variants[s.plan.Members[member].Variant].Plan.Trials)
}

// currentRuns are the runs that may measure, and how far. What was allowed once stays allowed.
func (s *comparisonSituation) currentRuns() []v1alpha1.CurrentRun {
	current := slices.Clone(s.seen.Current)
	if !s.alternates() {
		return current
	}
	allowed := s.turns()
	for i := range current {
		c := &current[i]
		for _, member := range s.round() {
			if s.name(member) == c.Name {
				c.Trials = ptr.To(max(ptr.Deref(c.Trials, 0), int32Of(allowed[member])))
			}
		}
	}
	return current
}

// turns are the numbers of trials that the members of the round may have measured, by member: that of the one whose turn it is
// reaches its next trial, those of the others do not. When all trials are measured, all runs may end. A run that has failed keeps
// its turn: nothing is measured any more.
func (s *comparisonSituation) turns() map[int]int {
	round, allowed, most := s.round(), map[int]int{}, 0
	switch {
	case len(round) == 0:
		return allowed
	case s.missing() >= 0:
		if s.placesFirst() && !s.together() {
			allowed[0] = 1
		}
		return allowed
	case s.afterOthers():
		return allowed
	case s.slices():
		return s.turnsTogether(round)
	case s.starting():
		return allowed
	}
	trials := make([]int, len(round))
	for place, i := range round {
		trials[place] = s.trialsIn(i)
		most = max(most, trials[place])
	}
	for turn, place := range plan.Turns(s.plan.Members[s.next].Seed, len(round), most) {
		number, member := turn/len(round)+1, round[place]
		if number <= trials[place] && s.trialsOf(member) < number {
			allowed[member] = number
			return allowed
		}
	}
	for place, i := range round {
		allowed[i] = trials[place] + 1
	}
	return allowed
}
