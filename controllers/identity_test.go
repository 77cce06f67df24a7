//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// jobByHand is a Job that a user makes under the name of an attempt, with the run's owner reference and all labels, and with a
// change of his own.
func jobByHand(c *cluster, run *v1alpha1.BenchmarkRun, number int, change func(*batchv1.Job)) *batchv1.Job {
	c.t.Helper()
	p, err := plan.ForRun(&run.Spec)
	c.must(err)
	planned := plan.Trial{Number: number}
	if number <= len(p.Trials) {
		planned = p.Trials[number-1]
	}
	a := trial.Attempt{Trial: planned, Point: p.Points[planned.Point], Number: 1, Instance: 1}
	job, err := trial.Job(run, a, c.reconciler.Images)
	c.must(err)
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))}
	change(job)
	return job
}

func otherRows(job *batchv1.Job) {
	container := &job.Spec.Template.Spec.Containers[0]
	for i := range container.Env {
		if e := &container.Env[i]; e.Name == result.EnvConfig {
			e.Value = strings.Replace(e.Value, `"rowsPerCommit":1`, `"rowsPerCommit":1024`, 1)
		}
	}
}

// A Job of an attempt is the one that the operator has made. One that a user makes by hand belongs to no attempt, whatever its
// name, labels and owner reference say; if it has the name that is needed next, the run ends.
func TestEnvtestJobMadeByHandDoesNotCount(t *testing.T) {
	for name, tc := range map[string]struct {
		trial  int
		change func(*batchv1.Job)
		taken  bool
	}{
		"a trial that is not planned":  {trial: 9, change: otherRows},
		"the next trial, another load": {trial: 2, change: otherRows, taken: true},
		"the next trial, other hosts": {trial: 2, taken: true, change: func(job *batchv1.Job) {
			job.Spec.Template.Spec.HostAliases = []corev1.HostAlias{{IP: "192.0.2.1", Hostnames: []string{"elsewhere.example.com"}}}
		}},
		"the next trial, nothing else": {trial: 2, change: func(*batchv1.Job) {}, taken: true},
		"the next trial, another token": {trial: 2, taken: true, change: func(job *batchv1.Job) {
			job.Annotations = map[string]string{tokenAnnotation: "mine"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(testutil.MakeRun("run", "").Repetitions(3).With(func(r *v1alpha1.BenchmarkRun) {
				r.Spec.Trials.PrimeSeconds = ptr.To[int32](0)
			}).Obj())
			for c.jobs["run-t1-a1"] == 0 {
				c.reconcile("run")
				c.react()
			}
			job := jobByHand(c, c.get("run"), tc.trial, tc.change)
			c.must(api.Create(t.Context(), job))
			c.react()
			run := c.until("run", v1alpha1.ConditionFinished)
			failed := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed)
			if tc.taken != (failed.Reason == v1alpha1.ReasonNameTaken && strings.Contains(failed.Message, job.Name)) {
				t.Errorf("failed is %s, %s: %s", failed.Status, failed.Reason, failed.Message)
			}
			for _, record := range c.attemptNames() {
				if strings.HasPrefix(record, job.Name) {
					t.Errorf("the Job made by hand has a record: %s", record)
				}
			}
			must.Same(t, "trials that are measured", map[bool]string{true: "1/3", false: "3/3"}[tc.taken], run.Status.Progress)
		})
	}
}

// A Job that the operator made before it was killed, and could not write to the status, is its own.
func TestEnvtestJobIsClaimedAfterARestart(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	m := &mortal{}
	c.reconciler.Client = m.client()
	var before v1alpha1.MadeObjects
	for c.jobs["run-t2-a1"] == 0 {
		before = c.get("run").Status.MadeObjects
		c.reconcile("run")
		c.react()
	}
	run := c.get("run")
	run.Status.MadeObjects = before
	c.must(api.Status().Update(t.Context(), run))
	c.reconciler = c.newReconciler()
	c.until("run", v1alpha1.ConditionComplete)
	c.allAccepted("run", 2)
}

// What has a name that the plan does not need neither blocks the run nor is a part of it, whatever its labels say.
func TestEnvtestNamesThatAreNotNeeded(t *testing.T) {
	c := newCluster(t)
	named := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: map[string]string{
			v1alpha1.LabelRun: "run", v1alpha1.LabelComponent: v1alpha1.ComponentAttempt,
		}}
	}
	strangers := []client.Object{
		&corev1.Service{ObjectMeta: named("service"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}},
		&batchv1.Job{ObjectMeta: named("job"), Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: template(nil)}},
	}
	for _, name := range []string{"run-t999-a1", "run-t1-a77", "run-db9", "run-t2-a1-2"} {
		strangers = append(strangers, &corev1.ConfigMap{ObjectMeta: named(name)})
	}
	for _, stranger := range strangers {
		c.must(api.Create(t.Context(), stranger))
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(3).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")
	for _, stranger := range strangers {
		err := api.Get(t.Context(), client.ObjectKeyFromObject(stranger), stranger)
		if err != nil || stranger.GetDeletionTimestamp() != nil {
			t.Errorf("%s: %v", stranger.GetName(), err)
		}
	}
}

// everyChild is every kind of object that a run makes for a database instance, or that is made of these, by the name that it has for
// instance 1 of the run.
func everyChild(c *cluster, run *v1alpha1.BenchmarkRun) map[string]client.Object {
	c.t.Helper()
	objects, err := database.Objects(run, 1, "", c.reconciler.Images)
	c.must(err)
	children := map[string]client.Object{"Secret": database.Secret(run, "of-a-stranger")}
	for _, object := range objects {
		child := object.(client.Object)
		children[c.reconciler.writer(run).kindOf(child)] = child
		child.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))})
	}
	set := children["StatefulSet"].(*appsv1.StatefulSet)
	children["Pod"] = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: set.Name + "-0", Labels: set.Spec.Template.Labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: database.ServerContainer, Image: "mine"}}},
	}
	return children
}

// suspendedRun has two trials, each on a server of its own with a volume.
func suspendedRun() *v1alpha1.BenchmarkRun {
	return testutil.MakeRun("run", "").Repetitions(2).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Suspend, r.Spec.Trials.Server = ptr.To(true), v1alpha1.ServerPerTrial
	}).Obj()
}

// What a stranger makes beforehand under the name of a child of a run, with all labels and the owner reference of the operator's
// own, is never used: the run goes on with other names, or ends because its name is taken.
func TestEnvtestForgedChildren(t *testing.T) {
	taken := map[string]bool{"Secret": true, "Pod": true}
	for _, kind := range []string{"ConfigMap", "Service", "PodDisruptionBudget", "PersistentVolumeClaim", "StatefulSet", "Secret", "Pod"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.apply(suspendedRun())
			c.reconcile("run")
			child := everyChild(c, c.get("run"))[kind]
			c.must(api.Create(t.Context(), child))
			c.change("run", func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = nil })
			if taken[kind] {
				run := c.until("run", v1alpha1.ConditionFailed)
				failed := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed)
				if failed.Reason != v1alpha1.ReasonNameTaken || !strings.Contains(failed.Message, child.GetName()) {
					t.Errorf("%s: %s", failed.Reason, failed.Message)
				}
				return
			}
			c.until("run", v1alpha1.ConditionComplete)
			for name, record := range c.recordsOf("run") {
				if record.Instance < 2 {
					t.Errorf("%s was measured on instance %d, a part of which is forged", name, record.Instance)
				}
			}
		})
	}
}

// A copy of prepared data that is there beforehand is not restored: its content is unknown. The run makes its own.
func TestEnvtestForgedDataCopy(t *testing.T) {
	c := newCluster(t)
	run := suspendedRun()
	run.Spec.Trials.Data = v1alpha1.DataRestore
	run.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{Script: "tpcc"}}
	c.apply(run)
	c.reconcile("run")
	run = c.get("run")
	forged := database.DataCopy(run, 1)
	forged.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))}
	c.must(api.Create(t.Context(), forged))
	c.change("run", func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = nil })
	for c.jobs["run-t1-a1"] == 0 {
		if _, err := c.try("run"); err != nil {
			t.Logf("to be tried again: %v", err)
		}
		c.react()
	}
	var used corev1.PersistentVolumeClaim
	c.must(c.exists(&used, forged.Name))
	if made := c.get("run").Status.DataCopies; used.UID == forged.UID || len(made) != 1 || made[0].UID != string(used.UID) {
		t.Errorf("the copy is %s, the status names %v, the forged one was %s", used.UID, made, forged.UID)
	}
}

// A foreign finalizer on a child keeps the child, and nothing else: what loads no node any more is not waited for.
func TestEnvtestKeptChildren(t *testing.T) {
	for kind, kept := range map[string]client.Object{
		"Job":                   &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "run-t1-a1"}},
		"ConfigMap":             &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "run-db1"}},
		"Service":               &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "run-db1"}},
		"PodDisruptionBudget":   &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "run-db1"}},
		"PersistentVolumeClaim": &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "run-db1"}},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			run := suspendedRun()
			run.Spec.Suspend = nil
			c.apply(run)
			for c.jobs["run-t1-a1"] == 0 {
				c.reconcile("run")
				c.react()
			}
			kept.SetNamespace(c.namespace)
			c.keep(kept)
			c.until("run", v1alpha1.ConditionComplete)
			c.allAccepted("run", 2)
		})
	}
}

// A Job that a user deletes before it has ended, and that a finalizer keeps, is an attempt that does not count.
func TestEnvtestKeptJobWithoutRecord(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.loader = func(_ *batchv1.Job, pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning }
	for c.jobs["run-t1-a1"] == 0 {
		c.reconcile("run")
		c.react()
	}
	c.loader = c.succeed
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "run-t1-a1"}}
	c.keep(job)
	c.must(api.Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	c.must(api.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(c.namespace),
		client.MatchingLabels{batchv1.JobNameLabel: job.Name}, client.GracePeriodSeconds(0)))
	c.until("run", v1alpha1.ConditionComplete)
	record := c.recordsOf("run")["run-t1-a1"]
	if record == nil || record.Cause != result.CausePodDeleted || !strings.Contains(record.Message, "finalizers") {
		t.Errorf("the record of the Job that was deleted: %+v", record)
	}
}

// What a run has left that was deleted with --cascade=orphan keeps its lane for as long as it may load a node.
func TestEnvtestOrphanedChildren(t *testing.T) {
	for name, orphaning := range map[string]func(c *cluster, orphan func()){
		"of a run that is gone": func(c *cluster, orphan func()) {
			c.must(api.Delete(t.Context(), c.get("first")))
			orphan()
		},
		// The garbage collector takes the references away first, and then its finalizer. A foreign one may stay.
		"of a run that is being deleted": func(c *cluster, orphan func()) {
			first := c.get("first")
			first.Finalizers = []string{"example.com/keep"}
			c.must(api.Update(t.Context(), first))
			c.must(api.Delete(t.Context(), first, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
			orphan()
			for range 3 {
				c.tryAll("first", "second")
			}
			c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
			first = c.get("first")
			first.Finalizers = nil
			c.must(api.Update(t.Context(), first))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.loader = func(_ *batchv1.Job, pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning }
			c.queue(nil, "first", "second")
			for c.jobs["first-t1-a1"] == 0 {
				c.turn("first", "second")
			}
			orphans := []client.Object{c.owned("first-t1-a1"), c.owned("first-db1")}
			orphaning(c, func() {
				for _, orphan := range orphans {
					c.must(api.Patch(t.Context(), orphan, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`))))
				}
			})
			for range 3 {
				c.tryAll("first", "second")
			}
			c.says("second", "False Queued: waiting for run "+c.namespace+"/first, which holds lane default; next in the queue")
			for _, orphan := range orphans {
				c.must(api.Delete(t.Context(), orphan, client.PropagationPolicy(metav1.DeletePropagationBackground)))
			}
			for range 3 {
				c.react() // its Pods are collected
				c.tryAll("first", "second")
			}
			if got := c.condition("second", v1alpha1.ConditionAdmitted); got.Status != metav1.ConditionTrue {
				t.Errorf("the next run is not admitted: %s", got.Message)
			}
		})
	}
}

// Two managers that both believe to be the leader do the same as one: the same trials, as many results, no Job twice. An
// error of theirs is that the other one was faster; each is called again.
func TestEnvtestTwoManagersAtOnce(t *testing.T) {
	c := newCluster(t)
	managers := []*RunReconciler{c.newReconciler(), c.newReconciler()}
	c.apply(testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(2).Obj())
	for range 400 {
		var both sync.WaitGroup
		for _, manager := range managers {
			both.Go(func() {
				_, err := manager.Reconcile(t.Context(), ctrl.Request{
					NamespacedName: client.ObjectKey{Namespace: c.namespace, Name: "run"},
				})
				if err != nil {
					t.Logf("one was slower: %v", err)
				}
			})
		}
		both.Wait()
		c.react()
		if apimeta.IsStatusConditionTrue(c.get("run").Status.Conditions, v1alpha1.ConditionFinished) {
			break
		}
	}
	c.settle("run")
	c.allAccepted("run", 4)
	c.nothingRuns()
}

// allAccepted checks that a run has measured each of so many trials at the first attempt.
func (c *cluster) allAccepted(name string, trials int) {
	c.t.Helper()
	run := c.get(name)
	done := trials / plan.Sides(run) // with variants, rounds
	progress := fmt.Sprintf("%d/%[1]d", done)
	if !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete) || run.Status.Progress != progress {
		c.t.Errorf("status is %+v, want %s", run.Status, progress)
	}
	var want []string
	for n := range trials {
		want = append(want, fmt.Sprintf("%s-t%d-a1 Accepted", name, n+1))
	}
	must.Same(c.t, "records", want, c.attemptNames())
	for job, times := range c.jobs {
		must.Same(c.t, "times that Job "+job+" was made", 1, times)
	}
}
