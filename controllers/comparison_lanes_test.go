//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// Comparisons and runs stand in one queue, the oldest first. Nothing comes between the runs of a comparison, and the time in the
// queue does not count for it.
func TestEnvtestComparisonsAndRunsInOneLane(t *testing.T) {
	t.Parallel()
	l := newInLane(t)
	l.queue(nil, "lone")
	l.older("lone")
	l.comparison("one", 2, func(s *v1alpha1.BenchmarkComparison) { s.Spec.DeadlineSeconds = ptr.To[int32](600) })
	l.turn("one") // its runs are checked before it stands in the queue
	l.turn("one")
	l.older("lone") // at least a second later
	for !l.get("lone").CreationTimestamp.Before(&l.comparisonNamed("one").CreationTimestamp) {
		t.Fatal("the comparison is not younger")
	}
	l.waits("one", "waiting for run "+l.namespace+"/lone, which holds lane default; next in the queue")
	if s := l.comparisonNamed("one").Status; s.StartTime != nil || s.Deadline != nil {
		t.Errorf("in the queue it has begun: %+v", s)
	}
	l.comparison("two", 2, nil)
	l.queue(nil, "zebra")
	l.clock.Step(time.Hour)
	l.turn("two", "one")
	l.turn("two", "one")
	l.waits("two", "in the queue of lane default; others are ahead of it")
	for _, name := range []string{"lone", "one", "two", "zebra"} {
		l.until(name, v1alpha1.ConditionComplete, "one", "two")
	}
	for range 5 {
		l.turn("one", "two")
	}
	if want := []string{"lone", "one", "two", "zebra"}; !slices.Equal(l.began, want) {
		t.Errorf("they measured in the order %v, want %v", l.began, want)
	}
	for _, name := range []string{"one", "two"} {
		if s := l.comparisonNamed(name); *s.Status.Runs.Finished != 4 {
			t.Errorf("%s has measured %+v", name, s.Status.Runs)
		}
	}
	l.nothingRuns()
}

// However a comparison ends that holds a lane, the next one gets it, and not before what its run had is gone.
func TestEnvtestComparisonLeavesItsLane(t *testing.T) {
	t.Parallel()
	suspended := func(l *inLane, value bool) {
		s := l.comparisonNamed("first")
		s.Spec.Suspend = &value
		l.must(api.Update(l.t.Context(), s))
	}
	remove := func(l *inLane) {
		l.must(api.Delete(l.t.Context(), l.comparisonNamed("first")))
		l.turn("first")
		l.turn("first")
	}
	gone := func(l *inLane) {
		var runs v1alpha1.BenchmarkRunList
		l.list(&runs)
		for i := range runs.Items {
			if runs.Items[i].Labels[v1alpha1.LabelComparison] != "" {
				l.must(api.Delete(l.t.Context(), &runs.Items[i]))
				l.turn("first")
				l.collectGarbageOf(runs.Items[i].Name)
			}
		}
		l.collectGarbageOf("first")
	}
	for name, leave := range map[string]func(*inLane){
		"suspended": func(l *inLane) { suspended(l, true) },
		"suspended, and its run resumed by hand": func(l *inLane) {
			suspended(l, true)
			for l.condition("first-r1-a", v1alpha1.ConditionSuspended).Status != metav1.ConditionTrue {
				l.turn("first")
			}
			l.change("first-r1-a", func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(false) })
		},
		"its run suspended by hand, then the comparison": func(l *inLane) {
			l.change("first-r1-a", func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) })
			suspended(l, true)
		},
		"late": func(l *inLane) {
			s := l.comparisonNamed("first")
			s.Spec.DeadlineSeconds = ptr.To[int32](1)
			l.must(api.Update(l.t.Context(), s))
			l.clock.Step(time.Minute)
			l.turn("first")
			l.turn("first")
			l.collectGarbageOf("first-r1-a")
		},
		"its run failed": func(l *inLane) {
			l.change("first-r1-a", func(r *v1alpha1.BenchmarkRun) { r.Spec.DeadlineSeconds = ptr.To[int32](1) })
			l.clock.Step(time.Minute)
		},
		"its run deleted by hand, then the comparison": func(l *inLane) {
			l.must(api.Delete(l.t.Context(), l.get("first-r1-a")))
			remove(l)
			l.collectGarbageOf("first-r1-a")
			gone(l)
		},
		"deleted": func(l *inLane) {
			remove(l)
			gone(l)
		},
		"deleted and made again": func(l *inLane) {
			remove(l)
			l.comparison("first", 2, func(s *v1alpha1.BenchmarkComparison) { s.Spec.Suspend = ptr.To(true) })
			gone(l)
		},
		"deleted while the manager was down": func(l *inLane) {
			l.must(api.Delete(l.t.Context(), l.comparisonNamed("first")))
			l.reconciler, l.comparisons.comparisons = l.newReconciler(), l.newComparisonReconciler()
			l.turn("first")
			gone(l)
		},
		"deleted without its runs": func(l *inLane) {
			l.must(api.Delete(l.t.Context(), l.comparisonNamed("first")))
			l.change("first-r1-a", func(r *v1alpha1.BenchmarkRun) { r.OwnerReferences = nil })
			l.collectGarbageOf("first")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newInLane(t)
			l.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
			l.comparison("first", 2, func(s *v1alpha1.BenchmarkComparison) { s.Spec.Seed = ptr.To[int64](8) })
			for len(l.jobs) == 0 {
				l.turn("first")
			}
			if l.jobs["first-r1-a-t1-a1"] == 0 {
				t.Fatalf("another run came first: %v", l.jobs)
			}
			l.queue(nil, "second")
			l.turn("first")
			l.waits("second", "waiting for comparison "+l.namespace+"/first, which holds lane default; next in the queue")
			leave(l)
			if strings.HasPrefix(name, "deleted without") {
				// What measured is a run like any other now. It is older than the second.
				l.until("first-r1-a", v1alpha1.ConditionAdmitted, "first")
				l.must(api.Delete(t.Context(), l.get("first-r1-a")))
				l.collectGarbageOf("first-r1-a")
			}
			l.until("second", v1alpha1.ConditionAdmitted, "first")
		})
	}
}

// A run that holds its lane itself, because an earlier version of the operator has admitted it, goes on; then its comparison has
// its turn.
func TestEnvtestComparisonOfAnEarlierVersion(t *testing.T) {
	l := newInLane(t)
	l.comparison("s", 2, nil)
	for len(l.jobs) == 0 {
		l.turn("s")
	}
	lease := l.lease()
	l.must(api.Delete(t.Context(), lease))
	var runs v1alpha1.BenchmarkRunList
	l.list(&runs)
	run := runs.Items[0]
	lease.ResourceVersion, lease.UID = "", ""
	lease.Spec.HolderIdentity = ptr.To("BenchmarkRun/" + l.namespace + "/" + run.Name + "/" + string(run.UID))
	l.must(api.Create(t.Context(), lease))
	l.reconciler, l.comparisons.comparisons = l.newReconciler(), l.newComparisonReconciler()
	l.queue(nil, "zebra")
	if _, err := l.reconcileNamed("s"); err != nil {
		t.Fatal(err)
	}
	l.waits("s", "waiting for run "+l.namespace+"/"+run.Name+", which holds lane default; next in the queue")
	l.until("s", v1alpha1.ConditionComplete, "s")
	l.until("zebra", v1alpha1.ConditionComplete, "s")
	if l.jobs[run.Name+"-t1-a1"] == 0 || len(l.jobs) != 5 {
		t.Errorf("Jobs: %v", l.jobs)
	}
}

// A comparison of another installation holds the lane like a run of it, and is found to be gone like one.
func TestEnvtestComparisonOfAnotherInstallation(t *testing.T) {
	other, l := newInLane(t), newInLane(t)
	l.reconciler.LaneNamespace, l.comparisons.comparisons.LaneNamespace = other.namespace, other.namespace
	other.comparison("theirs", 2, nil)
	for len(other.jobs) == 0 {
		other.turn("theirs")
	}
	l.comparison("ours", 2, nil)
	l.turn("ours")
	result, err := l.reconcileNamed("ours")
	l.must(err)
	if result.RequeueAfter != 10*time.Second {
		t.Errorf("it looks again after %s, want 10 s", result.RequeueAfter)
	}
	l.waits("ours", "waiting for a comparison of another installation, which holds lane default (Lease "+
		other.namespace+"/default.lane.benchrun.dev); next in the queue")
	l.must(api.Delete(t.Context(), other.comparisonNamed("theirs")))
	l.turn("ours")
	l.turn("ours")
	if busy := l.busy(); len(busy) != 0 {
		t.Errorf("%v has something, while the other's run is there", busy)
	}
	var runs v1alpha1.BenchmarkRunList
	other.list(&runs)
	for i := range runs.Items {
		l.must(api.Delete(t.Context(), &runs.Items[i]))
		other.collectGarbageOf(runs.Items[i].Name)
	}
	other.collectGarbageOf("theirs")
	l.until("ours", v1alpha1.ConditionAdmitted, "ours")
}

// The manager is killed after each write of the Lease of a comparison, and after the next one, while a run waits, and another
// goes on: the run begins when the comparison has finished, and the lane is free at the end. The runs of the comparison end at
// once.
func TestEnvtestCrashAfterEveryWriteOfAComparisonsLease(t *testing.T) {
	t.Parallel()
	crash := func(t *testing.T, n int) []int {
		t.Helper()
		l := newInLane(t)
		m := &mortal{dieAfter: n}
		l.comparisons.comparisons.Client = m.client()
		l.end = func(run *v1alpha1.BenchmarkRun) { l.complete(run, 1000) }
		l.comparison("s", 2, nil)
		for range 60 {
			if _, err := l.reconcileComparison(); err != nil {
				t.Logf("to be tried again: %v", err)
				if m.dead {
					m.dead, l.comparisons.comparisons = false, l.newComparisonReconciler()
					l.comparisons.comparisons.Client = m.client()
				}
			}
			l.runsEnd()
			if len(l.made) == 1 && apimeta.FindStatusCondition(l.conditionsOf("s"), v1alpha1.ConditionAdmitted) != nil {
				if err := l.exists(&v1alpha1.BenchmarkRun{}, "second"); err != nil {
					l.queue(nil, "second")
				}
			}
			if _, err := l.try("second"); err != nil {
				t.Fatal(err)
			}
			finished := apimeta.IsStatusConditionTrue(l.conditionsOf("s"), v1alpha1.ConditionFinished)
			if len(l.busy()) > 0 && !finished {
				t.Fatalf("killed after write %d: the run measures before the comparison has finished", n)
			}
			l.react()
			if finished && len(l.holders()) == 0 && apimeta.IsStatusConditionTrue(l.conditionsOf("second"), v1alpha1.ConditionFinished) {
				break
			}
		}
		if got := l.comparisonNamed("s").Status; *got.Runs.Finished != 4 || l.get("second").Status.Progress != "1/1" {
			t.Errorf("killed after write %d: %+v", n, got)
		}
		l.nothingRuns()
		return m.leases
	}
	leases := crash(t, 0)
	if len(leases) != 2 {
		t.Fatalf("a comparison takes and leaves its lane by %d writes", len(leases))
	}
	var writes []int
	for _, n := range leases {
		writes = append(writes, n, n+1)
	}
	killedAfter(t, writes, func(t *testing.T, n int) { crash(t, n) })
}

// inLane is a cluster in which comparisons and runs share a lane, and are carried out by their own reconcilers.
type inLane struct {
	*comparisons
	// began are those that measure, or have measured, in their order: comparisons and runs that stand alone.
	began []string
	// before is called before each reconcile.
	before func()
	// together looks at the runs that have something that puts load on a node, if several may have; nil if one may.
	together func(busy []string)
}

func newInLane(t *testing.T) *inLane {
	t.Helper()
	l := &inLane{comparisons: newComparisons(t), before: func() {}}
	l.end = nil
	return l
}

// comparison of two variants, and so many rounds, that measures one point.
func (l *inLane) comparison(name string, rounds int32, change func(*v1alpha1.BenchmarkComparison)) {
	l.t.Helper()
	made := testutil.MakeComparison(name, "", "a", "b").Rounds(rounds)
	if change != nil {
		made = made.With(change)
	}
	l.applyComparison(made.Obj())
}

// turn reconciles comparisons, whether they are there or not, then every run that has something to do, or the lane; and lets the
// cluster react. No two runs may have anything at a time that puts load on a node.
func (l *inLane) turn(comparisons ...string) {
	l.t.Helper()
	var runs v1alpha1.BenchmarkRunList
	l.list(&runs)
	working := append(l.watch(), l.holders()...)
	for _, name := range comparisons {
		l.before()
		if _, err := l.reconcileNamed(name); err != nil {
			l.t.Logf("comparison %s is to be tried again: %v", name, err)
		}
	}
	for _, run := range runs.Items {
		finished := apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
		if finished && !slices.Contains(working, run.Name) {
			continue
		}
		l.before()
		if _, err := l.try(run.Name); err != nil {
			l.t.Logf("run %s is to be tried again: %v", run.Name, err)
		}
		l.watch()
	}
	l.react()
}

// holders are the names of those that hold a lane.
func (l *inLane) holders() []string {
	l.t.Helper()
	var leases coordinationv1.LeaseList
	l.list(&leases)
	var names []string
	for i := range leases.Items {
		names = append(names, holderOf(&leases.Items[i]).Name)
	}
	return names
}

// watch who measures: they are busy.
func (l *inLane) watch() []string {
	l.t.Helper()
	busy := l.busy()
	if l.together != nil {
		l.together(busy)
	} else if len(busy) > 1 {
		// A run, and the database that it shares.
		if comparison, _, ofComparison := strings.Cut(busy[1], "-r"); len(busy) > 2 || !ofComparison || busy[0] != comparison {
			l.t.Fatalf("at the same time: %v", busy)
		}
	}
	for _, name := range busy {
		name, _, _ = strings.Cut(name, "-r")
		if !slices.Contains(l.began, name) {
			l.began = append(l.began, name)
		} else if l.began[len(l.began)-1] != name {
			l.t.Fatalf("%s measures again after %v", name, l.began)
		}
	}
	return busy
}

// conditionsOf a comparison or a run, whichever there is.
func (l *inLane) conditionsOf(name string) []metav1.Condition {
	l.t.Helper()
	key := client.ObjectKey{Namespace: l.namespace, Name: name}
	var comparison v1alpha1.BenchmarkComparison
	if api.Get(l.t.Context(), key, &comparison) == nil {
		return comparison.Status.Conditions
	}
	return l.get(name).Status.Conditions
}

// until takes turns until a condition of a comparison or a run is true.
func (l *inLane) until(name, condition string, names ...string) {
	l.t.Helper()
	for range 300 {
		if apimeta.IsStatusConditionTrue(l.conditionsOf(name), condition) {
			return
		}
		l.turn(names...)
	}
	l.t.Fatalf("%s was never %s: %+v", name, condition, l.conditionsOf(name))
}

func (l *inLane) waits(name, want string) {
	l.t.Helper()
	c := apimeta.FindStatusCondition(l.conditionsOf(name), v1alpha1.ConditionAdmitted)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonQueued || c.Message != want {
		l.t.Errorf("%s says %+v, want %q", name, c, want)
	}
}

// forge makes a run by hand that says of itself that it belongs to a comparison.
func (l *inLane) forge(comparison *v1alpha1.BenchmarkComparison, name string) *v1alpha1.BenchmarkRun {
	l.t.Helper()
	run := testutil.MakeRun(name, l.namespace).Obj()
	run.UID, run.Labels = "", plan.ComparisonLabels(comparison)
	run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(comparison, v1alpha1.GroupVersion.WithKind("BenchmarkComparison"))}
	l.must(api.Create(l.t.Context(), run))
	return run
}

// A run with a hand-written owner reference to a comparison that has its lane gets no turn by it: not beside the comparison's own
// run, not in its place, and it does not keep the lane when the comparison is suspended.
func TestEnvtestMemberMadeByHand(t *testing.T) {
	l := newInLane(t)
	l.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
	l.comparison("first", 2, func(s *v1alpha1.BenchmarkComparison) { s.Spec.Seed = ptr.To[int64](8) })
	for len(l.jobs) == 0 {
		l.turn("first")
	}
	comparison := l.comparisonNamed("first")
	if got, want := comparison.Status.CurrentRuns[0].UID, string(l.get("first-r1-a").UID); got != want {
		t.Fatalf("the current run is %q, want %q", got, want)
	}
	l.forge(comparison, "first-rx")
	l.forge(comparison, "first-r1-b")
	for range 5 {
		l.turn("first")
	}
	for _, name := range []string{"first-rx", "first-r1-b"} {
		if run := l.get(name); lifecycle.Admitted(run.Status.Conditions) {
			t.Errorf("run %s, which the comparison has not made, is admitted", name)
		}
	}
	c := apimeta.FindStatusCondition(l.get("first-rx").Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || !strings.Contains(c.Message, "measures only runs that it created") {
		t.Errorf("why it waits is %+v", c)
	}
	comparison = l.comparisonNamed("first")
	comparison.Spec.Suspend = ptr.To(true)
	l.must(api.Update(t.Context(), comparison))
	l.queue(nil, "second")
	l.until("second", v1alpha1.ConditionAdmitted, "first")
}

// One that has the name of the comparison's next run is removed, and the comparison makes its own.
func TestEnvtestNextMemberMadeByHand(t *testing.T) {
	l := newInLane(t)
	l.comparison("first", 2, func(s *v1alpha1.BenchmarkComparison) { s.Spec.Seed = ptr.To[int64](8) })
	for len(l.jobs) == 0 {
		l.turn("first")
	}
	forged := l.forge(l.comparisonNamed("first"), "first-r1-b")
	l.until("first", v1alpha1.ConditionComplete, "first")
	if run := l.get("first-r1-b"); run.UID == forged.UID {
		t.Error("the comparison has measured a run that it has not made")
	}
}
