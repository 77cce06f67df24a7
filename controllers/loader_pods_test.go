//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// followed lets two loaders end well: the one that leads names in its document that Pod as the other one.
func (c *cluster) followed(named func(*corev1.Pod) string) func(*batchv1.Job, *corev1.Pod) {
	return func(job *batchv1.Job, lead *corev1.Pod) {
		follower := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: lead.Name + "-follower", Namespace: c.namespace, Labels: lead.Labels, OwnerReferences: lead.OwnerReferences,
				Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: "1"},
			},
			Spec: *lead.Spec.DeepCopy(),
		}
		follower.Spec.NodeName = "a-node-of-a-job"
		c.must(api.Create(c.t.Context(), follower))
		summary, err := result.EncodeSummary(result.Summary{
			Version: result.DocumentVersion, Delivered: true, Identity: result.Identity{PodUID: string(follower.UID), Pod: 1},
		})
		c.must(err)
		testutil.EndedLoaderPod(follower, 0, string(summary), c.clock.Now())
		c.must(api.Status().Update(c.t.Context(), follower))
		document := testutil.Document(lead.UID, number(job, v1alpha1.LabelTrial), number(job, v1alpha1.LabelAttempt), 1000)
		document.Pods = []result.PodFacts{{Pod: 0, PodUID: string(lead.UID)}, {Pod: 1, PodUID: named(follower)}}
		c.leave(job, lead, document)
	}
}

func twoPods(trials int32) *v1alpha1.BenchmarkRun {
	return testutil.MakeRun("pods", "").Repetitions(trials).With(func(run *v1alpha1.BenchmarkRun) {
		run.Spec.Workload = v1alpha1.WorkloadSpec{
			Type: v1alpha1.WorkloadBulkInsert, BulkInsert: &v1alpha1.BulkInsertWorkload{Concurrency: 2},
		}
		run.Spec.Loader.Pods = 2
	}).Obj()
}

// Of two loaders, both are recorded, and both nodes bind the next attempt.
func TestEnvtestTwoLoaders(t *testing.T) {
	c := newCluster(t)
	c.loader = c.followed(func(p *corev1.Pod) string { return string(p.UID) })
	var bound [][]string
	lead := c.loader
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		var nodes []string
		if a := job.Spec.Template.Spec.Affinity; a != nil && a.NodeAffinity != nil {
			for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
				nodes = append(nodes, term.MatchFields[0].Values...)
			}
		}
		bound = append(bound, nodes)
		lead(job, pod)
	}
	run := twoPods(2)
	c.apply(run)
	done := c.until(run.Name, v1alpha1.ConditionComplete)
	if diff := cmp.Diff([][]string{nil, {"a-node-of-a-job", "node-of-job"}}, bound); diff != "" {
		t.Errorf("attempts are bound to (-want +got):\n%s", diff)
	}
	if got := done.Status.Environment.LoaderNode; got != "a-node-of-a-job, node-of-job" {
		t.Errorf("loaders on %s", got)
	}
}

// A document that names another Pod than those of the Job is not theirs.
func TestEnvtestTwoLoadersAndAStranger(t *testing.T) {
	c := newCluster(t)
	c.loader = c.followed(func(*corev1.Pod) string { return "stranger" })
	run := twoPods(1)
	c.apply(run)
	for range 50 {
		if c.reconcile(run.Name); len(c.attemptNames()) > 0 {
			break
		}
		c.react()
	}
	var cm corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: run.Name + "-t1-a1"}, &cm))
	record, err := result.DecodeRecord(cm.Data[result.RecordKey])
	c.must(err)
	if record.Cause != result.CauseForeignResult || !strings.Contains(record.Message, "other Pods have measured together") {
		t.Errorf("record %+v", record)
	}
}
