//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A trial in stages is one Job, one record, and a point for each stage in the status and the results. If it is disturbed in any
// stage, none of its stages counts, and the chain is measured again.
func TestEnvtestStages(t *testing.T) {
	c := newCluster(t)
	attempts := 0
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		if attempts++; attempts == 1 {
			c.failWith(result.CauseServerRestarted, "in stage qr100")(job, pod)
			return
		}
		document := testutil.Document(pod.UID, number(job, v1alpha1.LabelTrial), number(job, v1alpha1.LabelAttempt), 0)
		document.Metrics = []result.Metric{}
		for i, name := range []string{"l.i0", "qr100"} {
			document.Stages = append(document.Stages, result.Stage{
				Name: name, Totals: result.Totals{Rows: 100, Micros: 1000, StoppedBy: result.StoppedByRows}, Latencies: document.Latencies,
				Series: []result.Interval{{EndMicros: 1000, Rows: 100}},
				Metrics: []result.Metric{{
					Name: "operationsPerSecond", Value: float64(1000*(i+1) + attempts), Unit: "operations/s", Better: "higher",
				}},
			})
		}
		c.leave(job, pod, document)
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(2).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{
			Clients: 2, Stages: []v1alpha1.IIBenchStage{
				{Name: "l.i0", Insert: &v1alpha1.IIBenchInsertStage{Rows: 1000}},
				{Name: "rest", Rest: &v1alpha1.IIBenchRestStage{}},
				{Name: "qr100", Query: &v1alpha1.IIBenchQueryStage{By: v1alpha1.IIBenchPrimaryKey, Seconds: 1}},
			},
		}}
	}).Obj())
	run := c.until("run", v1alpha1.ConditionComplete)

	if got := run.Status.Trials; ptr.Deref(got.Measured, 0) != 2 || ptr.Deref(got.Invalidated, 0) != 1 || attempts != 3 {
		t.Errorf("%d attempts, trials %+v", attempts, got)
	}
	if len(run.Status.Points) != 2 || run.Status.Points[0].N != 2 || run.Status.Points[1].Parameters["stage"] != "qr100" {
		t.Errorf("points %+v", run.Status.Points)
	}
	if want := "1002 operations/s (1002–1003) at stage=l.i0; 1 other stage"; run.Status.Headline != want {
		t.Errorf("headline %q, want %q", run.Status.Headline, want)
	}
	var attempt, results corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-t1-a2"}, &attempt))
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-results"}, &results))
	record, err := result.DecodeRecord(attempt.Data[result.RecordKey])
	c.must(err)
	if len(record.Summary.Stages) != 2 || record.Parameters != nil {
		t.Errorf("the record is at %v and has stages %+v", record.Parameters, record.Summary.Stages)
	}
	rows := strings.Split(strings.TrimSpace(results.Data["results.csv"]), "\n")
	if len(rows) != 5 || !strings.HasPrefix(rows[0], "trial,round,attempt,stage,operationsPerSecond,") || !strings.HasPrefix(rows[2], "1,1,2,qr100,2002,") {
		t.Errorf("results.csv:\n%s", results.Data["results.csv"])
	}
	if len(results.BinaryData["report.html.gz"]) == 0 {
		t.Errorf("the results have no page, but %d other files", len(results.Data)+len(results.BinaryData))
	}
}
