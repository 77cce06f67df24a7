//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

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
				c.loader = c.failWith(result.CauseSettingNotEffective, "innodb_x: requested 1, effective 2")
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
			reason: v1alpha1.ReasonDeadlineExceeded, says: "the attempt took longer than trials.deadlineSeconds allows (3660 s)",
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
			advanceSeconds: 301, reason: v1alpha1.ReasonRejected, says: "exceeded quota: none",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			test.prepare(c)
			run := testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(1)
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
			failed := c.patiently("run", v1alpha1.ConditionFinished)
			c.settle("run")
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != test.reason || !strings.Contains(condition.Message, test.says) {
				t.Errorf("failed with %s: %s; want %s: …%s…", condition.Reason, condition.Message, test.reason, test.says)
			}
			if !apimeta.IsStatusConditionTrue(failed.Status.Conditions, v1alpha1.ConditionStalled) {
				t.Error("Stalled is not true")
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
