//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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
			Type: v1alpha1.WorkloadBulkInsert, BulkInsert: &v1alpha1.BulkInsertWorkload{Clients: 2},
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
	must.Same(t, "attempts are bound to", [][]string{nil, {"a-node-of-a-job", "node-of-job"}}, bound)
	must.Same(t, "loaders are on", "a-node-of-a-job, node-of-job", done.Status.Environment.LoaderNode)
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

// Containers that a policy has added to the Pods of a run stand beside its numbers, and so do volumes that stay after it.
func TestEnvtestPlaceOfAnAttempt(t *testing.T) {
	c := newCluster(t)
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "keeps-"}, Provisioner: "example.com/none",
		ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimRetain),
	}
	c.must(api.Create(t.Context(), class))
	t.Cleanup(func() { c.must(api.Delete(context.Background(), class)) })
	c.policy = func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "agent", Image: "agent"})
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database.Storage.Medium, r.Spec.Database.Storage.StorageClassName = v1alpha1.MediumVolume, class.Name
	}).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	summary := c.summary("run")
	must.Has(t, summary,
		"- other containers ran in the Pods: database: agent, loader: agent",
		"- the database's volumes were not deleted: the reclaim policy of storage class "+class.Name+" is Retain",
	)
}

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

// An attempt whose server was held back for longer than the run allows is measured again.
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
	must.Same(t, "records", []string{"run-t1-a1 Invalidated", "run-t1-a2 Accepted"}, c.attemptNames())
	const says = "trial 1, attempt 1, Invalidated: Throttled: the server was throttled at its CPU limit (1) for 0.30 s of the measured " +
		"1.00 s, 30.0%; trials.maxThrottledPercent allows 1%: raise database.resources.limits.cpu, or allow more"
	must.Has(t, c.summary("run"), says)
	if got := run.Status.FindingTexts(); len(got) != 0 {
		t.Errorf("warnings %q of a point that was not held back", got)
	}
}

// A run that may choose what alternates does not go on in slices where a server disturbs the others in its pauses.
func TestEnvtestBusyInPauses(t *testing.T) {
	c := newCluster(t)
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		doc := c.measured(job, pod)
		for i := range doc.Sides {
			doc.Sides[i].Findings = append(doc.Sides[i].Findings, finding.BusyWhileIdle(float64(2+i)))
		}
		c.leave(job, pod, doc)
	}
	run, asked := withVariants(), withVariants()
	asked.Name, asked.Spec.Alternation = "asked", v1alpha1.AlternateSlices
	c.apply(run)
	run = c.until("run", v1alpha1.ConditionComplete)
	must.Same(t, "records", []string{
		"run-t1-a1 Invalidated", "run-t1-a2 Accepted", "run-t2-a1 Accepted", "run-t3-a1 Accepted", "run-t4-a1 Accepted",
	}, c.attemptNames())
	const why = "variant durable: the server used 2% of its machine's CPUs while other variants were measured"
	if run.Status.Alternation != v1alpha1.AlternateTrials || run.Status.AlternationReason != why || run.Status.Pairs[0].Rounds != 2 {
		t.Errorf("%s (%s), pairs %+v", run.Status.Alternation, run.Status.AlternationReason, run.Status.Pairs)
	}
	c.settle("run")
	c.apply(asked)
	asked = c.until("asked", v1alpha1.ConditionComplete)
	if asked.Status.Alternation != v1alpha1.AlternateSlices || asked.Status.AlternationReason != "" || *asked.Status.Trials.Measured != 2 {
		t.Errorf("asked for slices: %s (%s), %+v", asked.Status.Alternation, asked.Status.AlternationReason, asked.Status.Trials)
	}
}

// Rounds leave out a variant that those before have decided, also the first one: it has no server, and the record says so.
func TestEnvtestDecidedVariant(t *testing.T) {
	c := newCluster(t)
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		doc := c.measured(job, pod)
		for i := range doc.Sides {
			trial := c.configOf(job).Trial
			value := map[string]float64{"early": 3000, "durable": 1000, "late": 1000 + 300*float64(1-trial%2*2)}[doc.Sides[i].Variant]
			doc.Sides[i].Document = *testutil.Document(pod.UID, trial, 1, value+float64(trial))
		}
		c.leave(job, pod, doc)
	}
	run := withVariants()
	run.Spec.Variants = []v1alpha1.Variant{{Name: "early"}, {Name: "durable"}, {Name: "late"}}
	run.Spec.Baseline = "durable"
	run.Spec.Rounds = &v1alpha1.RoundsSpec{AtMost: 8, AtLeast: 6, Until: v1alpha1.RoundsDecided}
	c.apply(run)
	run = c.until("run", v1alpha1.ConditionComplete)
	must.Same(t, "rounds", []int32{6, 8}, []int32{run.Status.Pairs[0].Rounds, run.Status.Pairs[1].Rounds})
	var cm corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-t7-a1"}, &cm))
	var measured []string
	for _, side := range must.Get(result.DecodeRecord(cm.Data[result.RecordKey]))(t).Sides {
		measured = append(measured, fmt.Sprint(side.Variant, " ", side.Instance))
	}
	must.Same(t, "measured in round 7", []string{"durable 20", "late 21"}, measured)
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-results"}, &cm))
	must.Get(report.CompareBaseline(must.Get(report.FromResults([]byte(cm.Data[report.JSONFile])))(t), ""))(t)
}

// How the node differed between the trials of a run stands in the status and in the summary.
func TestEnvtestNodeThatChanges(t *testing.T) {
	c := newCluster(t)
	// Latencies rise from trial to trial; fewer than five say nothing of a trend.
	latencies := []int64{100, 102, 105, 107, 110}
	c.seen(func(trial, _ int) *result.Observed { return observed(0, latencies[trial-1]) })
	same := func(name string) *v1alpha1.BenchmarkRun { return testutil.MakeRun(name, "").Repetitions(5).Obj() }
	c.apply(same("first"))
	run := c.until("first", v1alpha1.ConditionComplete)
	if e := run.Status.Environment; run.Status.Findings != nil ||
		e.TrialProbe != (v1alpha1.TrialProbe{FdatasyncMicros: 105, FdatasyncP95Micros: 155, WorkNanos: 500_000}) {
		t.Errorf("the first run's environment is %+v", e)
	}
	c.settle("first")

	latencies = []int64{300, 350, 400, 450, 500}
	const drift = "disk probe: fdatasync took 300 µs (p95 350 µs) before trial 1 and 500 µs (p95 550 µs) before trial 5"
	c.apply(same("again"))
	run = c.until("again", v1alpha1.ConditionComplete)
	c.settle("again")
	must.Same(t, "findings", []string{drift}, run.Status.FindingTexts())
	must.Has(t, c.summary("again"), "- "+drift+"\n")
}
