//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// All variants measure the same trial at the same time, and the observer of the first run of the round gives the turns of all.
func TestEnvtestSlices(t *testing.T) {
	t.Parallel()
	a := newSlices(t)
	var turns []*result.Turns
	a.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		turns = append(turns, a.configOf(job).Turns)
		a.succeed(job, pod)
	}
	a.until("s", v1alpha1.ConditionFinished, "s")
	a.check()
	if a.were != 2 {
		t.Errorf("%d loaders at most were there at a time, want both", a.were)
	}
	for i := 0; i < len(turns); i += 2 {
		first, second := turns[i], turns[i+1]
		if first == nil || second == nil || first.Host != second.Host || first.Place+second.Place != 1 || first.Seed != second.Seed {
			t.Errorf("pair %d: %+v and %+v", i/2+1, first, second)
		}
	}
}

// The operator is killed after one write in 31: every trial is measured once, next to that of the other variant.
func TestEnvtestSlicesCrash(t *testing.T) {
	t.Parallel()
	alternationCrash(t, newSlices, 31)
}

// If the attempt of one variant is invalidated, the round begins again with new runs of both. If that happens too often, the
// comparison fails, and says why.
func TestEnvtestSlicesDisturbed(t *testing.T) {
	t.Parallel()
	for name, times := range map[string]int{"once": 1, "always": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newSlices(t)
			a.before = a.runsGone
			disturbed, runs := 0, map[string]bool{}
			a.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				runs[pod.Labels[v1alpha1.LabelRunUID]] = true
				if disturbed < times && strings.HasPrefix(job.Name, "s-r1-b-t2") {
					disturbed++
					a.failWith(result.CauseAlternationBroken, "the other one has gone")(job, pod)
					return
				}
				a.succeed(job, pod)
			}
			a.until("s", v1alpha1.ConditionFinished, "s")
			conditions := a.comparisonNamed("s").Status.Conditions
			limit := int(v1alpha1.DefaultMaxInvalid)
			if times == 1 {
				a.eventSays("the round was disturbed and begins again: run s-r1-b: trial 2 was invalidated: AlternationBroken")
				if !apimeta.IsStatusConditionTrue(conditions, v1alpha1.ConditionComplete) || len(runs) != 6 {
					t.Errorf("%d runs, want 6; conditions %+v", len(runs), conditions)
				}
				return
			}
			failed := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionFailed)
			if failed.Reason != v1alpha1.ReasonTooManyInvalid || !strings.Contains(failed.Message, "the other one has gone") {
				t.Errorf("it ended with %+v", failed)
			}
			if disturbed != limit+1 {
				t.Errorf("the round was disturbed %d times, want %d", disturbed, limit+1)
			}
		})
	}
}

// takingTurns is a cluster with a comparison of a and b whose trials alternate: two in each of two rounds.
type takingTurns struct {
	*inLane
	// measured are the Jobs of attempts in the order in which they were made.
	measured []string
	// most is how many loaders may be there at a time, and were how many there were.
	most, were int
}

// newAlternation has trials that alternate; with newSlices, all variants measure the same trial at the same time.
func newAlternation(t *testing.T) *takingTurns {
	t.Helper()
	return newTogether(t, v1alpha1.AlternateTrials, 1)
}

func newSlices(t *testing.T) *takingTurns {
	t.Helper()
	return newTogether(t, v1alpha1.AlternateSlices, 2)
}

func newTogether(t *testing.T, alternation v1alpha1.Alternation, most int) *takingTurns {
	t.Helper()
	a := &takingTurns{inLane: newInLane(t), most: most}
	a.together = a.look
	a.comparison("s", 2, func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.Alternation, s.Spec.TrialsPerRound = alternation, ptr.To[int32](2)
		s.Spec.EarlyStop.Policy = v1alpha1.EarlyStopDisabled
	})
	return a
}

// look at what is on the nodes: servers of both runs of a round, and no more loaders that have not ended than there may be.
func (a *takingTurns) look(busy []string) {
	a.t.Helper()
	for _, name := range busy {
		if round := strings.TrimSuffix(busy[0], "a"); !strings.HasPrefix(name, strings.TrimSuffix(round, "b")) {
			a.t.Errorf("two rounds at a time: %v", busy)
		}
	}
	var jobs batchv1.JobList
	a.list(&jobs)
	var loading []string
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if !slices.Contains(a.measured, job.Name) {
			a.measured = append(a.measured, job.Name)
		}
		ended := slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type != batchv1.JobSuspended })
		if !ended && job.DeletionTimestamp == nil {
			loading = append(loading, job.Name)
		}
	}
	if a.were = max(a.were, len(loading)); len(loading) > a.most {
		a.t.Errorf("at the same time: %v", loading)
	}
}

// check what was measured: each trial once, and the same trials of both variants next to each other.
func (a *takingTurns) check() {
	a.t.Helper()
	c := a.comparisonNamed("s")
	if !apimeta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionComplete) {
		a.t.Fatalf("it is not Complete: %+v", c.Status.Conditions)
	}
	if len(a.jobs) != 8 || len(a.measured) != 8 {
		a.t.Fatalf("%d Jobs: %v", len(a.jobs), a.measured)
	}
	for name, made := range a.jobs {
		if made != 1 {
			a.t.Errorf("Job %s was made %d times", name, made)
		}
	}
	for pair := range 4 {
		round, trial := pair/2+1, pair%2+1
		got := slices.Sorted(slices.Values(a.measured[2*pair : 2*pair+2]))
		want := []string{fmt.Sprintf("s-r%d-a-t%d-a1", round, trial), fmt.Sprintf("s-r%d-b-t%d-a1", round, trial)}
		if !slices.Equal(got, want) {
			a.t.Errorf("pair %d is %v, want %v; all: %v", pair+1, got, want, a.measured)
		}
	}
	for range 3 {
		a.turn("s")
	}
	a.nothingRuns()
}

// runsGone deletes what is left of runs that are gone: there is no garbage collector.
func (a *takingTurns) runsGone() {
	a.t.Helper()
	var runs v1alpha1.BenchmarkRunList
	a.list(&runs)
	there := func(uid string) bool {
		return slices.ContainsFunc(runs.Items, func(r v1alpha1.BenchmarkRun) bool { return string(r.UID) == uid })
	}
	for _, list := range []client.ObjectList{
		&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{},
		&corev1.SecretList{}, &corev1.ConfigMapList{}, &policyv1.PodDisruptionBudgetList{},
	} {
		a.list(list)
		items, err := apimeta.ExtractList(list)
		a.must(err)
		for _, item := range items {
			o := item.(client.Object)
			if uid := o.GetLabels()[v1alpha1.LabelRunUID]; uid != "" && !there(uid) {
				err := api.Delete(a.t.Context(), o, client.GracePeriodSeconds(0), client.PropagationPolicy("Background"))
				a.must(client.IgnoreNotFound(err))
			}
		}
	}
	a.releaseClaims()
}

// The trials of two variants take turns, on servers that are up for a round, and the second run is on the nodes of the first.
func TestEnvtestAlternation(t *testing.T) {
	t.Parallel()
	a := newAlternation(t)
	a.until("s", v1alpha1.ConditionFinished, "s")
	a.check()
	second := "s-r1-b"
	if a.get("s-r1-a").Annotations[v1alpha1.AnnotationDatabaseNode] != "" {
		second = "s-r1-a"
	}
	if got := a.get(second).Annotations; got[v1alpha1.AnnotationDatabaseNode] == "" || got[v1alpha1.AnnotationLoaderNodes] == "" {
		t.Errorf("%s is bound to no nodes: %v", second, got)
	}
	if n := *a.comparisonNamed("s").Status.Rounds.Measured; n != 2 {
		t.Errorf("%d rounds are measured", n)
	}
}

// The operator is killed after one write in 23, each time after another one: every trial is measured once, in its turn.
func TestEnvtestAlternationCrash(t *testing.T) {
	t.Parallel()
	alternationCrash(t, newAlternation, 23)
}

// alternationCrash kills the operator of a comparison after one write in so many.
func alternationCrash(t *testing.T, begin func(*testing.T) *takingTurns, step int) {
	t.Helper()
	crash := func(t *testing.T, n int) int {
		t.Helper()
		a := begin(t)
		m := &mortal{dieAfter: n}
		start := func() {
			m.dead = false
			a.reconciler, a.comparisons.comparisons = a.newReconciler(), a.newComparisonReconciler()
			a.reconciler.Client, a.comparisons.comparisons.Client = m.client(), m.client()
		}
		start()
		a.before = func() {
			if m.dead {
				start()
			}
		}
		a.until("s", v1alpha1.ConditionFinished, "s")
		a.check()
		return m.writes
	}
	var writes []int
	all := crash(t, 0)
	for n := 4; n < all; n += step {
		writes = append(writes, n)
	}
	killedAfter(t, writes, func(t *testing.T, n int) { crash(t, n) })
}

// A run of a round that is deleted, or suspended by a user, begins the round again: trials that were measured at different times
// are no pair. So does a comparison that is suspended.
func TestEnvtestAlternationInterrupted(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(*takingTurns){
		"deleted": func(a *takingTurns) { a.must(api.Delete(a.t.Context(), a.get("s-r1-a"))) },
		"suspended": func(a *takingTurns) {
			a.change("s-r1-a", func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) })
		},
		"comparison suspended": func(a *takingTurns) {
			for _, suspend := range []bool{true, false} {
				s := a.comparisonNamed("s")
				s.Spec.Suspend = &suspend
				a.must(api.Update(a.t.Context(), s))
				for range 4 {
					a.turn("s")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAlternation(t)
			for len(a.measured) < 3 {
				a.turn("s")
			}
			uid := a.get("s-r1-b").UID
			a.before = a.runsGone
			interrupt(a)
			a.until("s", v1alpha1.ConditionFinished, "s")
			if a.get("s-r1-b").UID == uid {
				t.Error("the round goes on with the run of the other variant")
			}
			if c := a.comparisonNamed("s"); !apimeta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionComplete) {
				t.Errorf("it is not Complete: %+v", c.Status.Conditions)
			}
		})
	}
}

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

// Servers that take long to stop: those of the next round start meanwhile, and nothing is measured beside one that stops.
func TestEnvtestRoundsOverlap(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(*testing.T) *takingTurns{"slices": newSlices, "trials": newAlternation} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := made(t)
			a.stopping = 4
			beside := false
			a.together = func([]string) {
				var pods corev1.PodList
				a.list(&pods)
				first := func(pod string) bool { return strings.HasPrefix(pod, "s-r1-") }
				second := func(pod string) bool { return strings.HasPrefix(pod, "s-r2-") }
				beside = beside || slices.ContainsFunc(databasePods(&pods, true), first) &&
					slices.ContainsFunc(databasePods(&pods, false), second)
			}
			succeed := a.loader
			a.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				var pods corev1.PodList
				a.list(&pods)
				if stops := databasePods(&pods, true); len(stops) > 0 {
					a.t.Errorf("%s measures while these stop: %v", job.Name, stops)
				}
				succeed(job, pod)
			}
			a.until("s", v1alpha1.ConditionFinished, "s")
			if conditions := a.comparisonNamed("s").Status.Conditions; !apimeta.IsStatusConditionTrue(conditions, v1alpha1.ConditionComplete) {
				t.Errorf("it ended with %+v", conditions)
			}
			if !beside {
				t.Error("no server started while one stopped")
			}
		})
	}
}

// databasePods are the names of the databases' Pods that are being deleted, or are not.
func databasePods(pods *corev1.PodList, deleted bool) []string {
	var names []string
	for _, pod := range pods.Items {
		if pod.Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentDatabase && (pod.DeletionTimestamp != nil) == deleted {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}
