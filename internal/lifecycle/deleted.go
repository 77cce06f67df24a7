// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// A run that is being deleted may stay indefinitely: by a finalizer, or with foreground deletion by a Pod on a
// node that does not answer. It must not hold anything meanwhile. What it has recorded is left to the garbage collector.

// beingDeleted is the decision about what is being deleted, as long as it has something.
func (s *situation) beingDeleted() Decision {
	d := Decision{
		Action: Wait{}, Reason: v1alpha1.ReasonTerminating,
		Message: "the run is being deleted; its objects are being removed" + keptBy(s.run),
	}
	if s.seen.RetryError != "" {
		d.Message += ": " + s.seen.RetryError
	}
	return d
}

func keptBy(object metav1.Object) string {
	if len(object.GetFinalizers()) == 0 {
		return ""
	}
	return "; it stays until its finalizers are removed: " + strings.Join(object.GetFinalizers(), ", ")
}

// deleted removes what puts load on nodes, and leaves the lane. It records and publishes nothing.
func deleted(s *situation) *Decision {
	if s.run.DeletionTimestamp == nil {
		return nil
	}
	d := s.beingDeleted()
	switch a := s.removeEverything(); {
	case a != nil:
		d.Action = a
	case s.disturbs() || s.seen.Orphaned:
		d.After = time.Second
	default:
		if leave(s, &d); d.Action == (Wait{}) {
			d.Stopped, d.Message = true, "the run is being deleted and has stopped"+keptBy(s.run)
		}
	}
	return &d
}

// deleting sets the conditions of what is being deleted and has not finished. What was measured stays as it was told last.
func (c conditions) deleting(d Decision) {
	c.keep()
	c.set(v1alpha1.ConditionAdmitted, false, d.Reason, d.Message)
	c.set(v1alpha1.ConditionReconciling, !d.Stopped, d.Reason, d.Message)
	if c.have(v1alpha1.ConditionFailed) {
		return
	}
	c.set(v1alpha1.ConditionReady, false, d.Reason, d.Message)
	for _, condition := range []string{
		v1alpha1.ConditionComplete, v1alpha1.ConditionFailed, v1alpha1.ConditionFinished, v1alpha1.ConditionStalled,
	} {
		c.set(condition, false, d.Reason, "the run is being deleted")
	}
}

// The records and results of a finished run stay in etcd, whose size is limited. An administrator therefore sets a default time
// to live, so that runs that are never deleted do not fill it.

// expiry is when a run that finished at that time is deleted, or nil if it stays. It prefers the time to live of the
// specification, whether it is longer or shorter. A default of 0 is none, whereas a specification that says 0 asks for the
// deletion at once.
func (s *situation) expiry(finished *metav1.Time) *metav1.Time {
	seconds, byDefault := s.run.Spec.TTLSecondsAfterFinished, s.seen.DefaultTTL
	switch {
	case finished == nil, seconds == nil && byDefault == 0:
		return nil
	case seconds != nil:
		return ptr.To(metav1.NewTime(finished.Add(time.Duration(*seconds) * time.Second)))
	}
	return ptr.To(metav1.NewTime(finished.Add(byDefault)))
}

// expire adds to the decision about a finished run that it is deleted when its time to live is over.
func (s *situation) expire(d *Decision) {
	at := s.expiry(s.run.Status.CompletionTime)
	if at == nil || s.run.DeletionTimestamp != nil {
		return
	}
	if left := at.Sub(s.now); left > 0 {
		d.After = Sooner(d.After, left)
	} else {
		d.Action = DeleteRun{}
	}
}

func (s *situation) needs(name string) bool {
	if name == plan.ResultsName(s.run) && s.seen.Results == nil {
		return true
	}
	if s.next == nil {
		return false
	}
	return name == plan.AttemptName(s.run, s.next.Number, s.attempt) || slices.ContainsFunc(s.wantedInstances(), func(n int) bool {
		return ofInstance(name, plan.InstanceName(s.run, n))
	})
}

func ofInstance(name, instance string) bool {
	for _, prefix := range []string{"data-", "storage-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name == instance || strings.HasPrefix(name, instance+"-")
}
