//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestEnvtestCompleteRun(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Sweep("1", "2").Repetitions(2).Obj())
	run := c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")

	want := []string{"run-t1-a1 Accepted", "run-t2-a1 Accepted", "run-t3-a1 Accepted", "run-t4-a1 Accepted"}
	if diff := cmp.Diff(want, c.attemptNames()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	for name, times := range c.jobs {
		if times != 1 {
			t.Errorf("Job %s was made %d times", name, times)
		}
	}
	if got := run.Status.Progress; got != "4/4" {
		t.Errorf("progress is %q", got)
	}
	if !strings.Contains(run.Status.Headline, "rows/s") {
		t.Errorf("headline is %q", run.Status.Headline)
	}
	if e := run.Status.Environment; e.ServerVersion != "11.8.3-MariaDB" || e.FdatasyncMicros != 110 || e.DatabaseNode == "" {
		t.Errorf("environment is %+v", e)
	}
	for _, condition := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionFinished} {
		if !apimeta.IsStatusConditionTrue(run.Status.Conditions, condition) {
			t.Errorf("%s is not true", condition)
		}
	}

	var results corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-results"}, &results))
	for _, file := range []string{"results.csv", "results.json", "results.bench", "summary.md"} {
		if results.Data[file] == "" {
			t.Errorf("the results lack %s", file)
		}
	}
	if results.Immutable == nil || !*results.Immutable {
		t.Error("the results are not immutable")
	}
	if lines := strings.Count(results.Data["results.csv"], "\n"); lines != 5 {
		t.Errorf("results.csv has %d lines, want a header and 4 trials", lines)
	}
	c.nothingRuns()
}

// nothingRuns checks that a finished run has left no database and no Job.
func (c *cluster) nothingRuns() {
	c.t.Helper()
	var sets appsv1.StatefulSetList
	var jobs batchv1.JobList
	var pods corev1.PodList
	c.list(&sets)
	c.list(&jobs)
	c.list(&pods)
	if n := len(sets.Items) + len(jobs.Items) + len(pods.Items); n != 0 {
		c.t.Errorf("%d StatefulSets, %d Jobs, %d Pods are left", len(sets.Items), len(jobs.Items), len(pods.Items))
	}
}

func TestEnvtestFreshDatabases(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Sweep("1", "2").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.Database = v1alpha1.DatabaseFresh
	}).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	for name, instance := range map[string]int{"run-t1-a1": 1, "run-t2-a1": 2} {
		var cm corev1.ConfigMap
		c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, &cm))
		record, err := result.DecodeRecord(cm.Data[result.RecordKey])
		c.must(err)
		if record.Instance != instance {
			t.Errorf("%s measured instance %d, want %d", name, record.Instance, instance)
		}
	}
}

// TestEnvtestFailures lets things go wrong that end a run, and asks for the reason and the sentence.
func TestEnvtestFailures(t *testing.T) {
	for name, test := range map[string]struct {
		prepare        func(*cluster)
		run            func(*v1alpha1.BenchmarkRun)
		reason, says   string
		attempts       []string
		publishedToo   bool
		eventsMustSay  string
		advanceSeconds int
	}{
		"server refuses its configuration": {
			prepare: func(c *cluster) {
				c.server = func(p *corev1.Pod) {
					testutil.RefusedDatabasePod(p, "2026-01-01 0:00:00 0 [Note] Starting\n"+
						"2026-01-01 0:00:00 0 [ERROR] mariadbd: Error while setting value 'O_DIRCET' to 'innodb_flush_method'\n"+
						"2026-01-01 0:00:00 0 [ERROR] Aborting\n")
				}
			},
			reason:        v1alpha1.ReasonServerRefusedConfiguration,
			says:          "mariadbd: Error while setting value 'O_DIRCET' to 'innodb_flush_method'",
			eventsMustSay: "Warning ServerRefusedConfiguration",
		},
		"setting not effective": {
			prepare: func(c *cluster) {
				c.loader = c.failWith(result.FailureSetting, "innodb_x: requested 1, effective 2")
			},
			reason: v1alpha1.ReasonSettingNotEffective, says: "innodb_x: requested 1, effective 2",
			attempts: []string{"run-t1-a1 Failed"}, publishedToo: true,
		},
		"loader is silent too often": {
			prepare: func(c *cluster) { c.loader = c.failSilently("garbage") },
			run:     func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.MaxInvalid = ptr.To[int32](1) },
			reason:  v1alpha1.ReasonTooManyInvalid, says: "Silent: the loader ended with exit code 1 and left no result",
			attempts: []string{"run-t1-a1 Invalidated", "run-t1-a2 Invalidated"}, publishedToo: true,
			eventsMustSay: "Warning AttemptInvalidated",
		},
		"document lost": {
			prepare: func(c *cluster) {
				c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
					c.succeed(job, pod)
					c.logs[pod.Name] = c.logs[pod.Name][:200]
					pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(c.clock.Now().Add(-time.Minute))
				}
			},
			run:    func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.MaxInvalid = ptr.To[int32](0) },
			reason: v1alpha1.ReasonTooManyInvalid, says: "DocumentLost",
			attempts: []string{"run-t1-a1 Invalidated"}, publishedToo: true,
		},
		"deadline of an attempt": {
			prepare: func(c *cluster) {
				c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
					testutil.EndedLoaderPod(pod, 143, "", c.clock.Now())
					testutil.JobCondition(job, batchv1.JobFailureTarget, batchv1.JobReasonDeadlineExceeded)
				}
			},
			reason: v1alpha1.ReasonDeadlineExceeded, says: "the attempt took longer than trials.deadlineSeconds (3600)",
			attempts: []string{"run-t1-a1 Failed"}, publishedToo: true,
		},
		"database does not start": {
			prepare: func(c *cluster) {
				c.server = func(p *corev1.Pod) {
					p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "server", State: corev1.ContainerState{
						Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"},
					}}}
				}
			},
			advanceSeconds: 301, reason: v1alpha1.ReasonDatabaseNotStarted,
			says: "within trials.startDeadlineSeconds (300): container server is waiting: ImagePullBackOff: no such image",
		},
		"loader does not start": {
			prepare: func(c *cluster) {
				c.loader = func(_ *batchv1.Job, p *corev1.Pod) {
					p.Status.Phase = corev1.PodPending
					p.Status.Conditions = []corev1.PodCondition{{
						Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available",
					}}
				}
			},
			advanceSeconds: 301, reason: v1alpha1.ReasonLoaderNotStarted, says: "0/3 nodes are available",
			attempts: []string{"run-t1-a1 Failed"}, publishedToo: true,
		},
		"quota": {
			prepare: func(c *cluster) {
				c.must(api.Create(c.t.Context(), &corev1.ResourceQuota{
					ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: c.namespace},
					Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
						"count/statefulsets.apps": resource.MustParse("0"),
					}},
				}))
				var quota corev1.ResourceQuota
				c.must(api.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "none"}, &quota))
				quota.Status.Hard = quota.Spec.Hard
				quota.Status.Used = quota.Spec.Hard
				c.must(api.Status().Update(c.t.Context(), &quota))
			},
			reason: v1alpha1.ReasonRejected, says: "exceeded quota: none",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			test.prepare(c)
			run := testutil.MakeRun("run", "").Sweep("1", "2").Repetitions(1)
			if test.run != nil {
				run.With(test.run)
			}
			c.apply(run.Obj())
			if test.advanceSeconds > 0 {
				for range 6 {
					c.reconcile("run")
					c.react()
				}
				c.clock.Step(time.Duration(test.advanceSeconds) * time.Second)
			}
			failed := c.until("run", v1alpha1.ConditionFailed)
			c.settle("run")
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != test.reason || !strings.Contains(condition.Message, test.says) {
				t.Errorf("failed with %s: %s; want %s: …%s…", condition.Reason, condition.Message, test.reason, test.says)
			}
			for _, condition := range []string{v1alpha1.ConditionFinished, v1alpha1.ConditionStalled} {
				if !apimeta.IsStatusConditionTrue(failed.Status.Conditions, condition) {
					t.Errorf("%s is not true", condition)
				}
			}
			if diff := cmp.Diff(test.attempts, c.attemptNames()); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			err := api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-results"}, &corev1.ConfigMap{})
			if published := err == nil; published != test.publishedToo {
				t.Errorf("results published: %v, want %v", published, test.publishedToo)
			}
			c.nothingRuns()
			c.eventSays(test.eventsMustSay)
		})
	}
}

func (c *cluster) eventSays(want string) {
	c.t.Helper()
	for {
		select {
		case event := <-c.events.Events:
			if strings.Contains(event, want) {
				return
			}
		default:
			if want != "" {
				c.t.Errorf("no event says %q", want)
			}
			return
		}
	}
}

func TestEnvtestDisturbedAttemptIsMeasuredAgain(t *testing.T) {
	c := newCluster(t)
	failures := 0
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		if failures++; failures == 1 {
			pod.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "evicted",
			}}
			c.failWith(result.FailureInterrupted, "told to stop")(job, pod)
			return
		}
		c.succeed(job, pod)
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	run := c.until("run", v1alpha1.ConditionComplete)
	if diff := cmp.Diff([]string{"run-t1-a1 Invalidated", "run-t1-a2 Accepted"}, c.attemptNames()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if *run.Status.Trials.Invalidated != 1 || *run.Status.Trials.Measured != 1 {
		t.Errorf("counts are %+v", run.Status.Trials)
	}
	var cm corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-t1-a1"}, &cm))
	if record, err := result.DecodeRecord(cm.Data[result.RecordKey]); err != nil || record.Cause != result.CauseEvicted {
		t.Errorf("the cause is %v (%v), want Evicted", record.Cause, err)
	}
}

func TestEnvtestStrangersObjectIsLeftAlone(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "run-db1"}
	selector := map[string]string{"app": "stranger"}
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: selector},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}, RestartPolicy: corev1.RestartPolicyNever},
	}
	set := pod.DeepCopy()
	set.Spec.RestartPolicy = corev1.RestartPolicyAlways
	for name, stranger := range map[string]client.Object{
		"ConfigMap run-db1":   &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"mine": "yes"}},
		"Service run-db1":     &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}},
		"StatefulSet run-db1": &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{MatchLabels: selector}, Template: *set}},
		"Job run-t1-a1":       &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "run-t1-a1"}, Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: pod}},
		"ConfigMap run-t1-a1": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "run-t1-a1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			stranger := stranger.DeepCopyObject().(client.Object)
			stranger.SetNamespace(c.namespace)
			c.must(api.Create(t.Context(), stranger))
			before := stranger.GetResourceVersion()
			c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
			run := c.until("run", v1alpha1.ConditionFailed)
			condition := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != v1alpha1.ReasonNameTaken || !strings.Contains(condition.Message, name+" exists and is not this run's") {
				t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
			}
			c.settle("run")
			c.must(api.Get(t.Context(), client.ObjectKeyFromObject(stranger), stranger))
			if _, isJob := stranger.(*batchv1.Job); !isJob && stranger.GetResourceVersion() != before {
				t.Error("the stranger was changed")
			}
		})
	}
}

func TestEnvtestPredecessorIsWaitedFor(t *testing.T) {
	c := newCluster(t)
	old := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "run-db1", Namespace: c.namespace, Labels: map[string]string{v1alpha1.LabelRun: "run", v1alpha1.LabelRunUID: "old"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "benchrun.dev/v1alpha1", Kind: "BenchmarkRun", Name: "run", UID: "old"}},
	}}
	c.must(api.Create(t.Context(), old))
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	for range 3 {
		c.reconcile("run")
	}
	ready := apimeta.FindStatusCondition(c.get("run").Status.Conditions, v1alpha1.ConditionReady)
	if ready.Reason != v1alpha1.ReasonWaitingForPredecessor || !strings.Contains(ready.Message, "run-db1") {
		t.Errorf("it says %s: %s", ready.Reason, ready.Message)
	}
	c.must(api.Delete(t.Context(), old))
	c.until("run", v1alpha1.ConditionComplete)
}

func TestEnvtestSuspend(t *testing.T) {
	c := newCluster(t)
	c.loader = func(_ *batchv1.Job, p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	for range 8 {
		c.reconcile("run")
		c.react()
	}
	run := c.get("run")
	run.Spec.Suspend = ptr.To(true)
	c.must(api.Update(t.Context(), run))
	c.until("run", v1alpha1.ConditionSuspended)
	c.settle("run")
	c.nothingRuns()

	c.loader = c.succeed
	run = c.get("run")
	run.Spec.Suspend = ptr.To(false)
	c.must(api.Update(t.Context(), run))
	run = c.until("run", v1alpha1.ConditionComplete)
	if apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionSuspended) {
		t.Error("it is still said to be suspended")
	}
}

func TestEnvtestTimeToLive(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.TTLSecondsAfterFinished = ptr.To[int32](60)
	}).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")
	if after := c.reconcile("run").RequeueAfter; after <= 0 || after > time.Minute {
		t.Errorf("it is looked at again after %v", after)
	}
	c.clock.Step(61 * time.Second)
	c.reconcile("run")
	err := api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run"}, &v1alpha1.BenchmarkRun{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestEnvtestRetention(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Results.Retention = v1alpha1.RetentionRetain
	}).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	for _, name := range []string{"run-results", "run-t1-a1"} {
		var cm corev1.ConfigMap
		c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, &cm))
		if len(cm.OwnerReferences) != 0 {
			t.Errorf("%s would go with the run", name)
		}
	}
	// The next run of this name must not take the retained results for its own.
	c.must(api.Delete(t.Context(), c.get("run")))
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	run := c.until("run", v1alpha1.ConditionFailed)
	if r := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed).Reason; r != v1alpha1.ReasonNameTaken {
		t.Errorf("it ended %s", r)
	}
}
