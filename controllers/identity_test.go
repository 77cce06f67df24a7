//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// jobByHand is a Job that somebody makes under the name of an attempt, with the run's owner reference and all labels, and with a
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

// A Job of an attempt is the one that the operator has made. One that somebody makes by hand is nobody's, whatever its name,
// labels and owner reference say; if it has the name that is needed next, the run ends.
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
			if want := map[bool]string{true: "1/3", false: "3/3"}[tc.taken]; run.Status.Progress != want {
				t.Errorf("%s trials are measured, want %s", run.Status.Progress, want)
			}
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

// What has a name that the plan does not need is not in the way.
func TestEnvtestNamesThatAreNotNeeded(t *testing.T) {
	c := newCluster(t)
	labels := map[string]string{v1alpha1.LabelRun: "run", v1alpha1.LabelComponent: v1alpha1.ComponentAttempt}
	for _, name := range []string{"run-t999-a1", "run-t1-a77", "run-db9", "run-t2-a1-2"} {
		c.must(api.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: labels}}))
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(3).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	var left corev1.ConfigMapList
	c.must(api.List(t.Context(), &left, client.InNamespace(c.namespace), client.MatchingLabels{v1alpha1.LabelRun: "run"}))
	for _, name := range []string{"run-t999-a1", "run-t1-a77", "run-db9", "run-t2-a1-2"} {
		if !strings.Contains(namesOf(left.Items), " "+name+" ") {
			t.Errorf("%s was deleted; left are%s", name, namesOf(left.Items))
		}
	}
}

func namesOf(configs []corev1.ConfigMap) string {
	names := " "
	for i := range configs {
		names += configs[i].Name + " "
	}
	return names
}
