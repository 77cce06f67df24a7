// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

type conditions struct {
	list       *[]metav1.Condition
	generation int64
	now        time.Time
}

func (c conditions) set(conditionType string, value bool, reason, message string) {
	status := metav1.ConditionFalse
	if value {
		status = metav1.ConditionTrue
	}
	c.put(conditionType, status, reason, message)
}

func (c conditions) put(conditionType string, status metav1.ConditionStatus, reason, message string) {
	apimeta.SetStatusCondition(c.list, metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: cut(message, maxMessage),
		ObservedGeneration: c.generation, LastTransitionTime: metav1.NewTime(c.now),
	})
}

func (c conditions) have(conditionType string) bool {
	return apimeta.IsStatusConditionTrue(*c.list, conditionType)
}

// keep leaves all conditions as they are; only their observed generation moves on. An end is never taken back.
func (c conditions) keep() {
	for i := range *c.list {
		(*c.list)[i].ObservedGeneration = c.generation
	}
}

// summarize sets the conditions that every kind has: Complete, Failed and Finished say whether and how it has ended; Ready,
// Reconciling and Stalled say the same to other tools.
func (c conditions) summarize(d Decision) {
	defer c.sayOnce()
	if c.have(v1alpha1.ConditionFailed) {
		c.keep()
		if d.Finished {
			f := apimeta.FindStatusCondition(*c.list, v1alpha1.ConditionFailed)
			c.set(v1alpha1.ConditionFinished, true, f.Reason, f.Message)
			c.set(v1alpha1.ConditionReconciling, false, f.Reason, f.Message)
		}
		return
	}
	failed := d.Failure != nil
	ended, finished := failed || d.Complete, d.Finished || d.Complete
	reason, message := d.Reason, d.Message
	if failed {
		reason, message = d.Failure.Reason, d.Failure.Message
	}
	endReason, endMessage := reason, message
	if !ended {
		endReason, endMessage = v1alpha1.ReasonInProgress, "the run is under way"
	}
	c.set(v1alpha1.ConditionComplete, d.Complete, endReason, endMessage)
	c.set(v1alpha1.ConditionFailed, failed, endReason, endMessage)
	c.set(v1alpha1.ConditionFinished, finished, endReason, endMessage)
	c.set(v1alpha1.ConditionReconciling, !finished && reason != v1alpha1.ReasonSuspended, reason, message)
	c.set(v1alpha1.ConditionStalled, failed, endReason, endMessage)
	c.set(v1alpha1.ConditionReady, d.Complete, reason, message)
}

// sayOnce leaves the message of a failure to the condition Failed: the others, of which tools print one or another, refer to it.
func (c conditions) sayOnce() {
	failed := apimeta.FindStatusCondition(*c.list, v1alpha1.ConditionFailed)
	if failed == nil || failed.Status != metav1.ConditionTrue {
		return
	}
	for i := range *c.list {
		if other := &(*c.list)[i]; other.Type != v1alpha1.ConditionFailed && other.Message == failed.Message {
			other.Message = failed.Reason + ": see condition Failed"
		}
	}
}

// publishGrace is how long after a failure the operator tries at least to write the results of what was measured before.
const publishGrace = time.Minute

// failing publishes what was measured before a failure, and then ends the run. If the cluster refuses the results for too long,
// it ends without them.
func failing(s *situation) *Decision {
	failed := apimeta.FindStatusCondition(s.run.Status.Conditions, v1alpha1.ConditionFailed)
	if !s.is(v1alpha1.ConditionFailed) {
		return nil
	}
	left := max(failed.LastTransitionTime.Add(publishGrace).Sub(s.now), deadline(s).Sub(s.now))
	if s.nothingToPublish() || s.seen.RetryError != "" && left <= 0 {
		return &Decision{Action: Wait{}, Finished: true}
	}
	if d := s.restoring(); d != nil && left > 0 {
		return d
	}
	return &Decision{
		Action: Publish{Outcome: v1alpha1.ConditionFailed}, Reason: v1alpha1.ReasonPublishing, After: max(0, left),
		Message: "the run has failed; the results so far are being written",
	}
}

// nothingToPublish: the results are there, or there is nothing that could be in them.
func (s *situation) nothingToPublish() bool {
	return s.seen.Results != nil || s.plan == nil || len(s.seen.Records) == 0
}

// keeps says whether the database stays after the end.
func (s *situation) keeps() bool {
	policy := s.run.Spec.Cleanup
	return policy == v1alpha1.CleanupNever || policy == v1alpha1.CleanupOnSuccess && !s.is(v1alpha1.ConditionComplete)
}

// cleanUp is the next step of spec.cleanup, or nil. The Jobs of a failed run stay if its database stays: both can be inspected.
// Copies of prepared data are of no use any more, whether or not a database stays.
func (s *situation) cleanUp() (next Action) {
	if s.keeps() {
		next = s.freeNodes()
	} else {
		next = s.removeEverything()
	}
	if next == nil && s.seen.DataCopies {
		return RemoveDataCopies{}
	}
	return next
}

// freeNodes is the next step beside a database that stays, or nil: that loses its PodDisruptionBudget, which would hold up the
// drain of a node for nothing, and nodes are restored.
func (s *situation) freeNodes() Action {
	for _, i := range s.seen.Instances {
		if i.Budget != nil && i.Budget.DeletionTimestamp == nil {
			return ReleaseNodes{Instance: i.Number}
		}
	}
	return s.leaveNodes()
}

type progress struct {
	judge.Progress
	failed *result.Record
	// next is the first trial that is not measured yet, or nil; attempt is the number of its next attempt.
	next    *plan.Trial
	attempt int
}

func progressOf(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record, compared *judge.Compared) progress {
	g := progress{Progress: judge.ProgressOf(run, p, records)}
	g.Keep(func(t *plan.Trial) bool { return compared.Left(p, t) })
	if len(g.Left) > 0 {
		next := *g.Left[0]
		next.Sides = compared.SidesOf(&next)
		g.next, g.attempt = &next, 1
	}
	for _, r := range records {
		if g.next != nil && r.Trial == g.next.Number {
			g.attempt = max(g.attempt, r.Attempt+1)
		}
		if r.Outcome == result.OutcomeFailed && g.failed == nil {
			g.failed = r
		}
	}
	return g
}
