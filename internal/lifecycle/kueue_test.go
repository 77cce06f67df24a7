// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

const (
	both         = ` yet: LocalQueue "bench" needs quota for database and loader at the same time`
	heldDatabase = "Kueue has not admitted the database's Pod" + both
	heldLoader   = "Kueue has not admitted the loader's Job" + both
)

// gated is a database whose Pod Kueue has yet to admit.
func gated(i *Instance) {
	i.Pod = &corev1.Pod{Spec: corev1.PodSpec{SchedulingGates: []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}}}
	i.Pod.Labels = map[string]string{v1alpha1.LabelKueueQueue: "bench"}
}

func setAge(d time.Duration) func(*Instance) {
	return func(i *Instance) { i.Set.CreationTimestamp = ago(d) }
}

// heldJob is an attempt whose Job Kueue has yet to admit.
func heldJob(a *Attempt) {
	a.Job.Labels, a.Job.Spec.Suspend = map[string]string{v1alpha1.LabelKueueQueue: "bench"}, ptr.To(true)
}

// What waits for Kueue says so, in Kueue's words if it has any, and does so no longer than the start deadline.
func TestNextWaitsForKueue(t *testing.T) {
	waits := func(message string) Decision {
		return after(Decision{Action: Wait{}, Reason: v1alpha1.ReasonWaitingForKueue, Message: message}, pollInterval)
	}
	full := func(i *Instance) { i.Warning = "insufficient unused quota for cpu" }
	fullForJob := func(a *Attempt) { a.Warning = "insufficient unused quota for cpu" }
	up := []Instance{instanceOf(1, "db-pod")}
	late := attemptOf(1, 1, heldJob, createdAgo(300*time.Second))
	checkDecisions(t, map[string]decision{
		"database": {seen: Observed{Instances: []Instance{instanceOf(1, "u", gated)}}, want: waits(heldDatabase)},
		"database, in Kueue's words": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", gated, full)}},
			want: waits(heldDatabase + ": insufficient unused quota for cpu"),
		},
		"database, too long": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", gated, setAge(300*time.Second))}},
			want: failsWith(v1alpha1.ReasonDatabaseNotStarted,
				"the database was not up within trials.startDeadlineSeconds (300): "+heldDatabase),
		},
		"loader": {
			seen: Observed{Instances: up, Attempts: []Attempt{attemptOf(1, 1, heldJob)}}, want: waits(trialOne + ": " + heldLoader),
		},
		"loader, in Kueue's words": {
			seen: Observed{Instances: up, Attempts: []Attempt{attemptOf(1, 1, heldJob, fullForJob)}},
			want: waits(trialOne + ": " + heldLoader + ": insufficient unused quota for cpu"),
		},
		"loader, too long": {
			seen: Observed{Instances: up, Attempts: []Attempt{late}},
			want: measuring(RecordAttempt{Attempt: judged(late, trial.Verdict{
				Stage: trial.StageEnded, Outcome: result.OutcomeFailed, Cause: result.CauseNotStarted,
				Message: "no loader ran within trials.startDeadlineSeconds (300): " + heldLoader,
			}), Parameters: parameters}, trialOne),
		},
	})
}
