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
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// The runs of a comparison may share a database, which is the comparison's. The run that is under way makes its instances and
// removes those that were disturbed; it removes the last one, too, if it is suspended or loses its lane, because it notes by
// itself which numbers were used. When no run is under way, the comparison does that.

// shares says whether the next run shares its database with the others, as the first one does: what an earlier version of the
// operator has begun goes on in its way.
func (s *comparisonSituation) shares() bool {
	if first := s.seen.Members[0].Run; first != nil {
		_, shares := plan.SharedBy(first)
		return shares
	}
	return s.plan.SharesDatabase
}

// lastServed is the newest instance of the database that the runs share. A run that was deleted while it was under way may have
// made one after it: the next run must not use that number again, and does not know what the instance has served.
func (s *comparisonSituation) lastServed() *plan.Served {
	last := plan.Served{}
	for i := range s.seen.Members[:s.next] {
		if m := s.seen.Members[i].Measured; m != nil && m.Served.Number >= last.Number {
			last = m.Served
		}
	}
	if used := int(ptr.Deref(s.lastInstance(), 0)); used > last.Number {
		last = plan.Served{Number: used}
	}
	return &last
}

// lastInstance is the highest number of an instance that was seen, or that a run says to have removed; nil is none. It is kept in
// the status, because an instance may be gone, and the run with it, when the next one is made.
func (s *comparisonSituation) lastInstance() *int32 {
	highest := s.comparison.Status.LastInstance
	for _, i := range s.seen.Instances {
		highest = ptr.To(max(int32Of(i.Number), ptr.Deref(highest, 0)))
	}
	for i := range s.seen.Members {
		run := s.seen.Members[i].Run
		if run == nil || run.Status.RemovedInstances == nil {
			continue
		}
		if _, shares := plan.SharedBy(run); shares && *run.Status.RemovedInstances > ptr.Deref(highest, 0) {
			highest = run.Status.RemovedInstances
		}
	}
	return highest
}

// vacate is the next step on the way to no database, or nil.
func (s *comparisonSituation) vacate() Action {
	if len(s.underWay()) > 0 {
		return nil
	}
	return removal(s.seen.Instances)
}

// cleanUp is the next step of spec.cleanup of the template after that end, or nil.
func (s *comparisonSituation) cleanUp(complete bool) Action {
	return thenCopies(cleanUp(s.seen.Instances, keeps(s.comparison.Spec.Template.Spec.Cleanup, complete)), s.seen.DataCopies)
}

// beingRemoved says what a step of cleanUp removes.
func beingRemoved(step Action) string {
	switch step.(type) {
	case RemoveDataCopies:
		return "the copies of the data are being removed"
	case ReleaseNodes:
		return "the PodDisruptionBudget of the database, which stays, is being removed"
	default:
		return "the database that its runs share is being removed"
	}
}

// serves says whether the database that the runs share may put load on its node. One that stays is idle.
func (s *comparisonSituation) serves() bool {
	if s.is(v1alpha1.ConditionFinished) && keeps(s.comparison.Spec.Template.Spec.Cleanup, s.is(v1alpha1.ConditionComplete)) {
		return false
	}
	return slices.ContainsFunc(s.seen.Instances, func(i Instance) bool { return i.MayLoad(s.now) })
}

// A comparison that may choose measures in slices where it can. That needs room for the servers and loaders of all variants at
// the same time. Whether there is room shows in the first round only: other
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

// ComparisonObserved is everything that a decision about a comparison depends on.
type ComparisonObserved struct {
	// ComparisonRuns are its runs, and what they measured.
	analysis.ComparisonRuns
	// Checked: the API server has accepted the run of every variant, without creating it.
	Checked bool
	// Judged is what the whole rounds say.
	Judged analysis.Verdicts
	// Images that the comparison has pinned, or the installation's.
	Images podutil.Images
	// Results are the published results, or nil.
	Results *v1alpha1.ResultsReference
	// Lane of the comparison.
	Lane Lane
	// Lingering: something of the comparison's runs may put load on a node.
	Lingering bool
	// Left is what its runs that are not under way have left on nodes.
	Left Leftover
	// Current are the runs that the comparison has made for the round that is under way, or for the last one.
	Current []v1alpha1.CurrentRun
	// Instances of the database that the runs share.
	Instances []Instance
	// DataCopies: there are copies of prepared data, which are not being deleted yet.
	DataCopies bool
	Predecessor
	Blockers
}
