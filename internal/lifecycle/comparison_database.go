// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
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
