//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// quota of the test's namespace, of which so many are used, both below ten, as the API server knows when this returns. It is not
// recounted: the API server adds what is created, and the controller that takes away what is deleted is not there.
func (c *cluster) quota(what corev1.ResourceName, hard, used string) {
	c.t.Helper()
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few", Namespace: c.namespace}}
	_, err := controllerutil.CreateOrUpdate(c.t.Context(), api, q, func() error {
		q.Spec.Hard = corev1.ResourceList{what: resource.MustParse(hard)}
		return nil
	})
	c.must(err)
	q.Status.Hard, q.Status.Used = q.Spec.Hard, corev1.ResourceList{what: resource.MustParse(used)}
	c.must(api.Status().Update(c.t.Context(), q))
	c.admits(what, used < hard)
}

// jobs is the name that a quota counts Jobs under.
const jobs = "count/jobs.batch"

func probePod(restart corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"probe": ""}},
		Spec:       corev1.PodSpec{RestartPolicy: restart, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// probes are what admits asks about, by the name that a quota counts them under.
var probes = map[corev1.ResourceName]client.Object{
	"count/benchmarkruns.benchrun.dev": testutil.MakeRun("probe", "").Obj(),
	jobs:                               &batchv1.Job{Spec: batchv1.JobSpec{Template: probePod(corev1.RestartPolicyNever)}},
	"count/statefulsets.apps": &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{
		Selector: metav1.SetAsLabelSelector(map[string]string{"probe": ""}), Template: probePod(corev1.RestartPolicyAlways),
	}},
}

// whileRefused reconciles a run for some time, as often as it asks for, and returns how often that was.
func (c *cluster) whileRefused(name string, d time.Duration) int {
	c.t.Helper()
	for tries, end := 1, c.clock.Now().Add(d); ; tries++ {
		after := c.reconcile(name).RequeueAfter
		c.react()
		if reason := c.condition(name, v1alpha1.ConditionReady).Reason; reason != v1alpha1.ReasonRefused {
			c.t.Fatalf("after %d tries it is %s, not Refused", tries, reason)
		}
		if after < firstRetry || after > lastRetry {
			c.t.Fatalf("it is tried again after %s", after)
		}
		if c.clock.Step(after); !c.clock.Now().Before(end) {
			return tries
		}
	}
}

// A quota of one Job lets a run measure all of its trials: the next Job waits until the last one is not counted any more. An
// operator that starts meanwhile goes on counting.
func TestEnvtestQuotaOfOneJob(t *testing.T) {
	c := newCluster(t)
	c.quota(jobs, "1", "0")
	c.apply(testutil.MakeRun("run", "").Repetitions(3).Obj())
	for trials := int32(1); trials < 3; trials++ {
		c.cycle("run", 20)
		run := c.get("run")
		ready := c.condition("run", v1alpha1.ConditionReady)
		if ready.Reason != v1alpha1.ReasonRefused || !strings.Contains(ready.Message, "exceeded quota: few") {
			t.Fatalf("after %d trials it is %s: %s", trials, ready.Reason, ready.Message)
		}
		if measured := ptr.Deref(run.Status.Trials.Measured, 0); measured != trials {
			t.Fatalf("%d trials are measured, want %d", measured, trials)
		}
		since := run.Status.Refusal.StartTime
		c.reconciler = c.newReconciler()
		c.whileRefused("run", time.Minute)
		if now := c.get("run").Status.Refusal.StartTime; !now.Equal(since) {
			t.Errorf("refused since %s, and for a later operator since %s", since, now)
		}
		c.quota(jobs, "1", "0")
	}
	run := c.until("run", v1alpha1.ConditionComplete)
	if run.Status.Progress != "3/3" || run.Status.Refusal.Object != "" {
		t.Errorf("%s, refusal %+v", run.Status.Progress, run.Status.Refusal)
	}
	c.eventSays("Warning Refused")
}

// A policy that denies a Job for a minute loses nothing, although it answers as for an object that is not valid.
func TestEnvtestPolicyThatDenies(t *testing.T) {
	c := newCluster(t)
	c.deny()
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.cycle("run", 20)
	if ready := c.condition("run", v1alpha1.ConditionReady); ready.Reason != v1alpha1.ReasonRefused || !strings.Contains(ready.Message, "no Jobs on Fridays") {
		t.Errorf("it is %s: %s", ready.Reason, ready.Message)
	}
	c.whileRefused("run", time.Minute)
	c.allow()
	c.clock.Step(lastRetry)
	c.until("run", v1alpha1.ConditionComplete)
}

// Whatever wakes a run, it does not ask the cluster again before the time: a webhook that says something else each time would
// wake it by its own status.
func TestEnvtestRefusedIsNotRetriedAllTheTime(t *testing.T) {
	c := newCluster(t)
	attempts := 0
	c.reconciler.Client = interceptor.NewClient(api, interceptor.Funcs{
		Create: func(ctx context.Context, w client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if !isJob(o) {
				return w.Create(ctx, o, opts...)
			}
			attempts++
			return apierrors.NewForbidden(batchv1.Resource("jobs"), o.GetName(), errors.New(strings.Repeat("no ", attempts)))
		},
	})
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.cycle("run", 50)
	must.Same(t, "times that it asked within a second", 1, attempts)
	if tries := c.whileRefused("run", 200*time.Second); tries > 30 || attempts > 30 {
		t.Errorf("in 200 s it was reconciled %d times, and asked %d times", tries, attempts)
	}
	failed := c.refusedToTheEnd("run")
	if condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed); condition.Reason != v1alpha1.ReasonRejected {
		t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
	}
}

// refusedToTheEnd reconciles, and lets time pass, until a run has finished.
func (c *cluster) refusedToTheEnd(name string) *v1alpha1.BenchmarkRun {
	c.t.Helper()
	for range 100 {
		after := c.reconcile(name).RequeueAfter
		c.react()
		if run := c.get(name); apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
			return run
		}
		c.clock.Step(min(after, lastRetry))
	}
	c.t.Fatalf("%s has not finished: %+v", name, c.get(name).Status.Conditions)
	return nil
}

// A database of which the cluster refuses one object is not made anew each time: the time runs for that object, and the claim
// that is there already is not deleted and made again.
func TestEnvtestQuotaOfStatefulSets(t *testing.T) {
	c := newCluster(t)
	c.quota("count/statefulsets.apps", "0", "0")
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.cycle("run", 10)
	c.whileRefused("run", 200*time.Second)
	if run := c.get("run"); run.Status.Refusal.Object != "StatefulSet run-db1" || ptr.Deref(run.Status.RemovedInstances, 0) != 0 {
		t.Errorf("refused %+v, removed %d", run.Status.Refusal, ptr.Deref(run.Status.RemovedInstances, 0))
	}
	c.quota("count/statefulsets.apps", "1", "0")
	c.clock.Step(lastRetry)
	c.until("run", v1alpha1.ConditionComplete)
}

// Variants are checked by the API server: a run waits for room in a quota of runs.
func TestEnvtestQuotaOfRuns(t *testing.T) {
	c := newCluster(t)
	c.quota("count/benchmarkruns.benchrun.dev", "2", "0")
	c.apply(withVariants())
	c.quota("count/benchmarkruns.benchrun.dev", "1", "1")
	c.whileRefused("run", 200*time.Second)
	if run := c.get("run"); run.Status.Refusal.Object == "" || len(run.Status.Servers) > 0 {
		t.Errorf("refused %+v, made %v", run.Status.Refusal, run.Status.Servers)
	}
	c.quota("count/benchmarkruns.benchrun.dev", "9", "1")
	c.clock.Step(lastRetry)
	c.until("run", v1alpha1.ConditionComplete)
}

// deny all Jobs in the test's namespace by a policy, and wait until the API server has read it.
func (c *cluster) deny() {
	c.t.Helper()
	name := metav1.ObjectMeta{Name: c.namespace}
	c.must(api.Create(c.t.Context(), &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: name, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}},
			},
		}}},
		Validations: []admissionv1.Validation{{Expression: "false", Message: "no Jobs on Fridays"}},
	}}))
	c.must(api.Create(c.t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: name,
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: c.namespace, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: c.namespace},
			}},
		},
	}))
	c.t.Cleanup(c.allow)
	c.admits(jobs, false)
}

// allow Jobs again.
func (c *cluster) allow() {
	c.t.Helper()
	for _, o := range []client.Object{&admissionv1.ValidatingAdmissionPolicyBinding{}, &admissionv1.ValidatingAdmissionPolicy{}} {
		o.SetName(c.namespace)
		c.must(client.IgnoreNotFound(api.Delete(context.WithoutCancel(c.t.Context()), o)))
	}
	if c.t.Context().Err() == nil {
		c.admits(jobs, true)
	}
}

// admits waits until the API server lets such objects in, or does not: it reads quotas and policies some time after they are written.
func (c *cluster) admits(what corev1.ResourceName, want bool) {
	c.t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		probe := probes[what].DeepCopyObject().(client.Object)
		probe.SetNamespace(c.namespace)
		probe.SetName("probe")
		if err = api.Create(c.t.Context(), probe, client.DryRunAll); (err == nil) == want {
			return
		}
	}
	c.t.Fatalf("%s admitted should be %t: %v", what, want, err)
}

// forged is a record that looks exactly like one of the operator's, and that the operator did not write.
func forged(c *cluster, run *v1alpha1.BenchmarkRun, trial int) *corev1.ConfigMap {
	c.t.Helper()
	text, err := testutil.Record(trial, 1, nil, 999_999).Encode()
	c.must(err)
	labels := plan.Labels(run, v1alpha1.ComponentAttempt)
	labels[v1alpha1.LabelTrial], labels[v1alpha1.LabelAttempt], labels[v1alpha1.LabelOutcome] = "2", "1", "Accepted"
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: "made-by-hand", Namespace: c.namespace, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))},
		},
		Immutable: ptr.To(true),
		Data:      map[string]string{result.RecordKey: text},
	}
}

// A ConfigMap that a user makes by hand is no measurement, whatever it says it is.
func TestEnvtestForgedRecordDoesNotCount(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	c.reconcile("run")
	c.must(api.Create(t.Context(), forged(c, c.get("run"), 2)))
	done := c.until("run", v1alpha1.ConditionComplete)
	if strings.Contains(done.Status.Answer.Detail, "999999") || done.Status.Points[0].High != "1002" {
		t.Errorf("the forged number counts: %+v", done.Status.Points)
	}
	must.Same(t, "times that trial 2 was measured", 1, c.jobs["run-t2-a1"])
}

// A record that is deleted while the run is under way ends it: the run cannot say any more what it measured. What the status says
// of what was measured before stays.
func TestEnvtestDeletedRecordEndsTheRun(t *testing.T) {
	for name, restart := range map[string]bool{"the same operator": false, "another operator": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(testutil.MakeRun("run", "").Repetitions(3).Obj())
			for len(c.attemptNames()) < 2 {
				c.reconcile("run")
				c.react()
			}
			headline := c.get("run").Status.Answer.Detail
			c.must(api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "run-t1-a1", Namespace: c.namespace}}))
			if restart {
				c.reconciler = c.newReconciler()
			}
			failed := c.until("run", v1alpha1.ConditionFailed)
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != v1alpha1.ReasonRecordsChanged || !strings.Contains(condition.Message, "run-t1-a1") {
				t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
			}
			if failed.Status.Answer.Detail != headline || headline == "" {
				t.Errorf("the headline was %q and is %q", headline, failed.Status.Answer.Detail)
			}
		})
	}
}

// A finished run is finished: nothing that happens to its ConfigMaps changes what it says, and the condition says what is
// missing.
func TestEnvtestFinishedRunStaysAsItIs(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")
	before := c.get("run").Status
	remove := func(name, says string) {
		t.Helper()
		c.must(api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.namespace}}))
		c.settle("run")
		after := c.get("run").Status
		available := apimeta.FindStatusCondition(after.Conditions, v1alpha1.ConditionResultsAvailable)
		if available.Status != metav1.ConditionFalse || available.Reason != v1alpha1.ReasonResultsDeleted || available.Message != says {
			t.Errorf("ResultsAvailable is %s, %s: %s; want %q", available.Status, available.Reason, available.Message, says)
		}
		if !apimeta.IsStatusConditionTrue(after.Conditions, v1alpha1.ConditionComplete) || after.Progress != "2/2" ||
			after.Answer.Detail != before.Answer.Detail || after.Results != before.Results {
			t.Errorf("the status was %+v and is %+v", before, after)
		}
	}
	remove("run-t1-a1", "ConfigMaps with records of attempts were deleted: 1 of 2")
	remove("run-results", "ConfigMap run-results with the results was deleted")
}

// A run that is suspended has nothing, and measures again when it is resumed. A database is numbered once, also if it was removed
// before anything was measured.
func TestEnvtestSuspend(t *testing.T) {
	c := newCluster(t)
	c.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	for c.jobs["run-t1-a1"] == 0 {
		c.reconcile("run")
		c.react()
	}
	suspend := func(value bool) {
		run := c.get("run")
		run.Spec.Suspend = &value
		c.must(api.Update(t.Context(), run))
	}
	suspend(true)
	c.until("run", v1alpha1.ConditionSuspended)
	c.settle("run")
	c.nothingRuns()
	c.loader = c.succeed
	suspend(false)
	done := c.until("run", v1alpha1.ConditionComplete)
	if apimeta.IsStatusConditionTrue(done.Status.Conditions, v1alpha1.ConditionSuspended) {
		t.Error("it is still said to be suspended")
	}
	must.Same(t, "instances that were removed", int32(1), ptr.Deref(done.Status.RemovedInstances, 0))
	var record corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-t1-a1"}, &record))
	must.Has(t, record.Data[result.RecordKey], `"instance":2`)
}

// Of a run that is gone the operator remembers nothing.
func TestEnvtestRunThatIsGoneIsForgotten(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	for len(c.attemptNames()) == 0 {
		c.reconcile("run")
		c.react()
	}
	must.Same(t, "runs that are remembered", 1, len(c.reconciler.memories.all))
	c.must(api.Delete(t.Context(), c.get("run")))
	c.reconcile("run")
	must.Same(t, "runs that are remembered", 0, len(c.reconciler.memories.all))
}
