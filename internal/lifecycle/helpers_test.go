// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// now is the time of every decision; what is observed was made before it.
var now = time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// oneAxis is a run with points rowsPerCommit=1, 2 and so on, in the order of the sweep, without a warm-up.
func oneAxis(points int, repetitions int32) *v1alpha1.BenchmarkRun {
	var values []v1alpha1.CommitSizeRowsPerCommit
	for i := range points {
		values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
	}
	return testutil.MakeRun("run", "ns").Sweep(values...).Repetitions(repetitions).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.Order, r.Spec.Trials.PrimeSeconds = v1alpha1.OrderSequential, ptr.To[int32](0)
	}).Obj()
}

func planOf(t *testing.T, run *v1alpha1.BenchmarkRun) *plan.Plan {
	t.Helper()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	return p
}

// records are accepted first attempts of trials, all with the same value.
func records(trials ...int) []*result.Record {
	var list []*result.Record
	for _, n := range trials {
		list = append(list, testutil.Record(n, 1, nil, 1000))
	}
	return list
}

// disturbed is the record of an attempt that does not count.
func disturbed(number, attempt int, outcome result.Outcome, cause result.Cause) *result.Record {
	r := testutil.Record(number, attempt, map[string]string{"rowsPerCommit": "1"}, 0)
	r.Outcome, r.Cause, r.Message, r.Summary = outcome, cause, "what happened", nil
	return r
}

// instanceOf makes a database instance that is up since a minute, whose Pod has that UID.
func instanceOf(number int, podUID types.UID, changes ...func(*Instance)) Instance {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db", UID: podUID}, Spec: corev1.PodSpec{NodeName: "worker"}}
	testutil.ReadyDatabasePod(pod)
	i := Instance{
		Number: number, Pod: pod, Claims: []*corev1.PersistentVolumeClaim{{}}, Others: true,
		Set: &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: ago(time.Minute)}},
	}
	for _, change := range changes {
		change(&i)
	}
	return i
}

func restarted(i *Instance)  { i.Pod.Status.ContainerStatuses[0].RestartCount = 1 }
func withoutPod(i *Instance) { i.Pod = nil }
func removed(i *Instance)    { i.Set.DeletionTimestamp = ptr.To(ago(time.Second)) }
func setGone(i *Instance)    { i.Set = nil }
func onlyPod(i *Instance)    { i.Others = false }
func starting(i *Instance) {
	server := &i.Pod.Status.ContainerStatuses[0]
	server.Ready, server.Started = false, ptr.To(false)
}

// attemptOf makes an attempt whose Job was made ten seconds ago and has no Pod.
func attemptOf(number, attempt int, changes ...func(*Attempt)) Attempt {
	a := Attempt{Trial: number, Number: attempt, Instance: 1, Job: &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("run-t%d-a%d", number, attempt), CreationTimestamp: ago(10 * time.Second)},
		Spec:       batchv1.JobSpec{ActiveDeadlineSeconds: ptr.To[int64](3600)},
	}}
	for _, change := range changes {
		change(&a)
	}
	return a
}

func loading(a *Attempt) {
	a.Pods = []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "pod"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}}
}

func vanished(a *Attempt) {
	testutil.JobCondition(a.Job, batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded)
}

func jobGoing(a *Attempt) { a.Job.DeletionTimestamp = ptr.To(ago(time.Second)) }

func createdAgo(d time.Duration) func(*Attempt) {
	return func(a *Attempt) { a.Job.CreationTimestamp = ago(d) }
}

// judged is an attempt with that verdict.
func judged(a Attempt, v trial.Verdict) Attempt {
	a.Verdict = v
	return a
}

// held is the lane of a run that holds it.
func held(run *v1alpha1.BenchmarkRun) Lane { return Lane{Holder: ptr.To(HolderOf(run))} }

// heldByOther is the lane of a run that waits for another.
var heldByOther = Lane{
	Lease: "benchrun-system/default.lane.benchrun.dev", Holder: &Holder{Kind: RunKind, Namespace: "ns", Name: "other", UID: "other-uid"},
	Next: Holder{Kind: RunKind, Namespace: "a", Name: "earlier"},
}

// next decides what a run does in a situation. It holds its lane, unless the situation says something else about that, or it has
// finished.
func next(t *testing.T, run *v1alpha1.BenchmarkRun, seen *Observed, at time.Time) Decision {
	t.Helper()
	if seen.Lane.Lease == "" && !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		seen.Lane = held(run)
	}
	seen.Judge(run)
	return Next(run, planOf(t, run), seen, at)
}

// endedRun puts a run at its end, an hour ago.
func endedRun(run *v1alpha1.BenchmarkRun, how string) {
	for _, t := range []string{v1alpha1.ConditionFinished, how} {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{
			Type: t, Status: metav1.ConditionTrue, Reason: how, LastTransitionTime: ago(time.Hour),
		})
	}
	run.Status.CompletionTime = ptr.To(ago(time.Hour))
}
