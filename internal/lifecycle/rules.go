// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// owner is a run or a comparison, and what its rules share.
type owner struct {
	// noun for messages.
	noun   string
	object metav1.Object
	// conditions, started, suspended, deadlineBefore and refusal are from the status as it was read.
	conditions     []metav1.Condition
	started        *metav1.Time
	suspended      *int64
	deadlineBefore *metav1.Time
	refusal        v1alpha1.RefusalStatus
	// deadlineSeconds and startDeadlineSeconds are from the specification.
	deadlineSeconds      *int32
	startDeadlineSeconds int32
	// expires is when it is deleted by the action deletion if it has finished, or nil.
	expires  *metav1.Time
	deletion Action
	// holder is who holds the lane if the owner does.
	holder      Holder
	lane        *Lane
	predecessor *Predecessor
	blockers    *Blockers
	now         time.Time
}

func (o *owner) about() *owner { return o }

// is says whether a condition was true when the owner was read.
func (o *owner) is(condition string) bool {
	return apimeta.IsStatusConditionTrue(o.conditions, condition)
}

// decidable is the situation of a run or a comparison.
type decidable interface {
	about() *owner
	// longest is how long it may take from its start, quietTime for how long it may make no progress, and lastProgress when it
	// made some.
	longest() time.Duration
	quietTime() time.Duration
	lastProgress() time.Time
	// needs says whether it needs an object's name.
	needs(name string) bool
	// cleanUp is the next step of spec.cleanup after that end, or nil.
	cleanUp(complete bool) Action
	// disturbs says whether something of it may put load on a node.
	disturbs() bool
	// nothingToPublish says whether nothing is left to do after a failure.
	nothingToPublish() bool
}

// rule decides, or returns nil: then the next one is asked.
type rule[S decidable] func(S) *Decision

// rules about situations of one kind: ends are for an owner that takes no further step, and steps for one that does, each in the
// order in which they are asked. A deadline bounds steps.
type rules[S decidable] struct{ ends, steps []rule[S] }

// next decides what the owner does next.
func (r rules[S]) next(s S) Decision {
	d := r.decide(s)
	d.Finished = d.Finished || d.Failure != nil && s.nothingToPublish()
	return d
}

func (r rules[S]) decide(s S) Decision {
	if o := s.about(); o.blockers.ObserveFailed {
		switch {
		case o.object.GetDeletionTimestamp() != nil:
			return o.beingDeleted()
		case o.is(v1alpha1.ConditionFailed), o.is(v1alpha1.ConditionFinished):
			return Decision{Action: Wait{}}
		}
		return bound(s, Decision{Action: Wait{}})
	}
	if d := first(s, r.ends); d != nil {
		return *d
	}
	if d := first(s, r.steps); d != nil {
		return bound(s, *d)
	}
	return Decision{Action: Wait{}}
}

// first decision of some rules, or nil.
func first[S decidable](s S, rules []rule[S]) *Decision {
	for _, r := range rules {
		if d := r(s); d != nil {
			return d
		}
	}
	return nil
}

// finished does what is left after the end: it removes what is left, gives the lane to the next, and deletes the owner when its
// time to live is over.
func finished[S decidable](s S) *Decision {
	o := s.about()
	if !o.is(v1alpha1.ConditionFinished) {
		return nil
	}
	d := Decision{Action: Wait{}}
	if a := s.cleanUp(o.is(v1alpha1.ConditionComplete)); a != nil {
		d.Action = a
		return &d
	}
	if leave(s, &d); d.Action == (Wait{}) {
		expire(&d, o.object, o.expires, o.now, o.deletion)
	}
	return &d
}

func obstructed[S decidable](s S) *Decision {
	h := s.about().blockers
	if h.Terminal != nil {
		return fail(*h.Terminal)
	}
	if f := h.taken(s.about().noun, s.needs); f != nil {
		return fail(*f)
	}
	return nil
}

func predecessor[S decidable](s S) *Decision {
	o := s.about()
	if len(o.predecessor.Remains) == 0 {
		return nil
	}
	d := Decision{
		Action: Wait{}, Reason: v1alpha1.ReasonWaitingForPredecessor, After: time.Second,
		Message: fmt.Sprintf("objects of an earlier %s of this name are still being deleted: %s",
			o.noun, strings.Join(o.predecessor.Remains, ", ")),
	}
	if o.predecessor.Orphan != nil {
		d.Action = RemoveOrphan{Object: o.predecessor.Orphan}
	}
	return &d
}

// leave releases the lane of an owner that takes no further step, as soon as nothing of it disturbs the next one.
func leave[S decidable](s S, d *Decision) {
	switch o := s.about(); {
	case !o.lane.is(o.holder):
	case s.disturbs():
		d.After = time.Second // a server that a MariaDB resource stands for, and a node that does not answer, are not watched
	default:
		d.Action = ReleaseLane{Holder: o.holder}
	}
}

const (
	// firstRefused and lastRefused are the shortest and the longest time after which an object that was refused is created again:
	// a quota is recounted within a second, and an administrator takes minutes.
	firstRefused, lastRefused = time.Second, 30 * time.Second
	// refusedShare of the time for which an object has been refused passes before the next try.
	refusedShare = 4
	// maxRefused bounds the name of the object in the status.
	maxRefused = 512
)

// Refusal is the answer of an API server that does not let an object in, and may let it in later: a quota is full, a permission
// is missing, or a policy or a webhook denies it.
type Refusal struct {
	// Object is its kind and its name.
	Object string
	// Message is the API server's.
	Message string
	// Instance is the number of the database instance that the object is a part of, or 0.
	Instance int
}

// since is when the object was refused first, according to the status: an operator that has just started goes on counting.
func (r *Refusal) since(before v1alpha1.RefusalStatus, now time.Time) time.Time {
	if before.Object != r.object() || before.StartTime == nil {
		return now
	}
	return before.StartTime.Time
}

func (r *Refusal) object() string { return cut(r.Object, maxRefused) }

// decide to wait until the object is let in or, from the start deadline on, to fail.
func (r *Refusal) decide(before v1alpha1.RefusalStatus, startDeadlineSeconds int32, now time.Time) Decision {
	refused := now.Sub(r.since(before, now))
	left := time.Duration(startDeadlineSeconds)*time.Second - refused
	message := fmt.Sprintf("the cluster refuses %s: %s", r.Object, r.Message)
	if left <= 0 {
		return *fail(Failure{Reason: v1alpha1.ReasonRejected, Message: fmt.Sprintf(
			"%s (refused throughout trials.startDeadlineSeconds, %d)", message, startDeadlineSeconds)})
	}
	return Decision{
		Action: Wait{}, Reason: v1alpha1.ReasonRefused, Message: message,
		After: min(left, lastRefused, max(firstRefused, refused/refusedShare)),
	}
}

// refusalStatus is what the status keeps of a refusal. A step that failed for another reason has not asked again.
func (h *Blockers) refusalStatus(before v1alpha1.RefusalStatus, now time.Time) v1alpha1.RefusalStatus {
	switch {
	case h.Refused != nil:
		status := v1alpha1.RefusalStatus{
			Object: h.Refused.object(), StartTime: ptr.To(metav1.NewTime(h.Refused.since(before, now).Truncate(time.Second))),
		}
		if h.Refused.Instance > 0 {
			status.Instance = count(h.Refused.Instance)
		}
		return status
	case h.ObserveFailed, h.RetryError != "":
		return before
	}
	return v1alpha1.RefusalStatus{}
}
