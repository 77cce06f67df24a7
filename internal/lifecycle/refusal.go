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
