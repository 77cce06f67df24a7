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
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Comparisons and runs stand in one queue, the oldest first. Nobody comes between the runs of a comparison, and the time in the
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
