//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// seen lets loaders succeed with what their observer saw in each attempt.
func (c *cluster) seen(of func(trial, attempt int) *result.Observed) {
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		trial, _ := strconv.Atoi(job.Labels[v1alpha1.LabelTrial])
		attempt, _ := strconv.Atoi(job.Labels[v1alpha1.LabelAttempt])
		document := testutil.Document(pod.UID, trial, attempt, 1000)
		document.Observed = of(trial, attempt)
		c.leave(job, pod, document)
	}
}

// observed is a server that its limit held back for that long, on a node whose disk takes that long.
func observed(throttledMicros, fdatasyncMicros int64) *result.Observed {
	return &result.Observed{
		Before: &result.ProcessFacts{Process: "7@1", CPULimitMillis: 1000},
		After:  &result.ProcessFacts{Process: "7@1", CPULimitMillis: 1000, ThrottledMicros: throttledMicros},
		Probe: &result.NodeProbe{
			Fdatasync: result.FsyncLatency{Calls: 75, Median: fdatasyncMicros, P95: fdatasyncMicros + 50, Max: 1000},
			CPU:       result.WorkTime{Times: 11, Median: 500_000, P95: 510_000},
		},
	}
}

func (c *cluster) summary(run string) string {
	c.t.Helper()
	var results corev1.ConfigMap
	c.must(api.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: run + "-results"}, &results))
	return results.Data["summary.md"]
}

// An attempt whose server was held back for longer than the run allows is measured again. At its own limit, without a bound,
// it counts, with a warning.
func TestEnvtestThrottled(t *testing.T) {
	c := newCluster(t)
	c.seen(func(_, attempt int) *result.Observed {
		if attempt == 1 {
			return observed(300_000, 100)
		}
		return observed(9_000, 100)
	})
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.MaxThrottledPercent = ptr.To[int32](1)
	}).Obj())
	run := c.until("run", v1alpha1.ConditionComplete)
	if diff := cmp.Diff([]string{"run-t1-a1 Invalidated", "run-t1-a2 Accepted"}, c.attemptNames()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	const says = "trial 1, attempt 1, Invalidated: Throttled: the server was throttled at its CPU limit (1) for 0.30 s of the measured " +
		"1.00 s, 30.0%; trials.maxThrottledPercent allows 1%: raise database.resources.limits.cpu, or allow more"
	if got := c.summary("run"); !strings.Contains(got, says) {
		t.Errorf("the summary does not say %q:\n%s", says, got)
	}
	if got := run.Status.Points[0].Warnings; len(got) != 0 {
		t.Errorf("warnings %q of a point that was not held back", got)
	}

	c.settle("run")
	c.apply(testutil.MakeRun("own-limit", "").Repetitions(1).Obj())
	run = c.until("own-limit", v1alpha1.ConditionComplete)
	want := []string{"the server was throttled at its CPU limit for 30% of the measured phase: the number depends on that limit"}
	if diff := cmp.Diff(want, run.Status.Points[0].Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// How the node differed stands in the status and in the summary: between the trials of a run, and from the last run that
// asked for the same.
func TestEnvtestNodeThatChanges(t *testing.T) {
	c := newCluster(t)
	// Latencies rise from trial to trial; fewer than five say nothing of a trend.
	latencies := []int64{100, 102, 105, 107, 110}
	c.seen(func(trial, _ int) *result.Observed { return observed(0, latencies[trial-1]) })
	same := func(name string) *v1alpha1.BenchmarkRun { return testutil.MakeRun(name, "").Repetitions(5).Obj() }
	c.apply(same("first"))
	run := c.until("first", v1alpha1.ConditionComplete)
	if e := run.Status.Environment; e.Warnings != nil ||
		e.TrialProbe != (v1alpha1.TrialProbe{FdatasyncMicros: 105, FdatasyncP95Micros: 155, WorkNanos: 500_000}) {
		t.Errorf("the first run's environment is %+v", e)
	}
	c.settle("first")

	latencies = []int64{300, 350, 400, 450, 500}
	other := same("other")
	other.Spec.Seed = ptr.To[int64](2)
	const drift = "disk probe: fdatasync took 300 µs (p95 350 µs) before trial 1 and 500 µs (p95 550 µs) before trial 5"
	for name, tc := range map[string]struct {
		run  *v1alpha1.BenchmarkRun
		want []string
	}{
		"asks for something else": {other, []string{drift}},
		"asks for the same": {same("again"), []string{drift, "disk probe: fdatasync took 400 µs (p95 450 µs), but 105 µs " +
			"(p95 155 µs) in run first, the last with the same specification"}},
	} {
		c.apply(tc.run)
		run := c.until(tc.run.Name, v1alpha1.ConditionComplete)
		c.settle(tc.run.Name)
		if diff := cmp.Diff(tc.want, run.Status.Environment.Warnings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		summary := c.summary(tc.run.Name)
		for _, warning := range tc.want {
			if !strings.Contains(summary, "- "+warning+"\n") {
				t.Errorf("%s: the summary does not say %q:\n%s", name, warning, summary)
			}
		}
	}
}
