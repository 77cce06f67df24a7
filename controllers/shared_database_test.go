//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// sharing is a lane with a comparison s of two variants that differ in their workload alone, and has seen which StatefulSets
// there were.
type sharing struct {
	*inLane
	// sets are the names of the StatefulSets that were seen, each with its UID.
	sets sets.Set[string]
}

func newSharing(t *testing.T, rounds int32, change func(*v1alpha1.BenchmarkComparison)) *sharing {
	t.Helper()
	s := &sharing{newInLane(t), sets.New[string]()}
	s.before = func() {
		var there appsv1.StatefulSetList
		s.list(&there)
		for _, set := range there.Items {
			s.sets.Insert(set.Name + " " + string(set.UID))
		}
	}
	s.comparison("s", rounds, func(comparison *v1alpha1.BenchmarkComparison) {
		comparison.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{RowsPerCommit: 2}}
		if change != nil {
			change(comparison)
		}
	})
	return s
}

// setNames are the names of the StatefulSets that were seen, one for each that was made.
func (s *sharing) setNames() []string {
	var names []string
	for _, set := range sets.List(s.sets) {
		name, _, _ := strings.Cut(set, " ")
		names = append(names, name)
	}
	return names
}

// servers are the instances that the runs have measured, each with the UID of its Pod, in the order of the runs.
func (s *sharing) servers() []result.Record {
	s.t.Helper()
	var configs corev1.ConfigMapList
	s.must(api.List(s.t.Context(), &configs, client.InNamespace(s.namespace),
		client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentAttempt}))
	var all []result.Record
	for _, cm := range configs.Items {
		record, err := result.DecodeRecord(cm.Data[result.RecordKey])
		s.must(err)
		all = append(all, *record)
	}
	return all
}

// nothingShared is left of the comparison's database. Its credentials go with the comparison.
func (s *sharing) nothingShared() {
	s.t.Helper()
	for _, list := range []client.ObjectList{
		&appsv1.StatefulSetList{}, &corev1.ServiceList{}, &corev1.ConfigMapList{}, &corev1.PersistentVolumeClaimList{},
		&policyv1.PodDisruptionBudgetList{}, &corev1.PodList{},
	} {
		s.must(api.List(s.t.Context(), list, client.InNamespace(s.namespace),
			client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentDatabase}))
		if n := apimeta.LenList(list); n > 0 {
			s.t.Errorf("%T: %d are left", list, n)
		}
	}
}

// Runs that differ in their workload alone measure one server, which is gone when the comparison has ended.
func TestEnvtestComparisonSharesItsDatabase(t *testing.T) {
	s := newSharing(t, 2, nil)
	s.until("s", v1alpha1.ConditionFinished, "s")
	if diff := cmp.Diff([]string{"s-db1"}, s.setNames()); diff != "" {
		t.Errorf("StatefulSets (-want +got):\n%s", diff)
	}
	pods := sets.New[string]()
	for _, record := range s.servers() {
		pods.Insert(record.Place.DatabasePodUID)
	}
	if records := s.servers(); len(records) != 4 || len(pods) != 1 || pods.Has("") {
		t.Errorf("%d records, of the servers %v", len(records), pods)
	}
	if got := s.getComparison().Status.Database; got != "all runs used one database server" {
		t.Errorf("the status says %q", got)
	}
	for range 3 {
		s.turn("s")
	}
	s.nothingShared()
	s.nothingRuns()
}

// finishedRuns of the comparison, and how many there are.
func (s *sharing) finishedRuns() (finished, all int) {
	s.t.Helper()
	var runs v1alpha1.BenchmarkRunList
	s.list(&runs)
	for i := range runs.Items {
		if apimeta.IsStatusConditionTrue(runs.Items[i].Status.Conditions, v1alpha1.ConditionFinished) {
			finished++
		}
	}
	return finished, len(runs.Items)
}

// untilBetweenRuns takes turns until a run has finished, and the next one is not there yet.
func (s *sharing) untilBetweenRuns() {
	s.t.Helper()
	for range 100 {
		if finished, all := s.finishedRuns(); finished == 1 && all == 1 {
			return
		}
		s.turn("s")
	}
	s.t.Fatal("no run has finished alone")
}

func (s *sharing) suspend(value bool) {
	s.t.Helper()
	comparison := s.getComparison()
	comparison.Spec.Suspend = &value
	s.must(api.Update(s.t.Context(), comparison))
}

func (s *sharing) ends(condition string, sets ...string) {
	s.t.Helper()
	s.until("s", v1alpha1.ConditionFinished, "s")
	s.turn("s")
	if comparison := s.getComparison(); !apimeta.IsStatusConditionTrue(comparison.Status.Conditions, condition) {
		s.t.Errorf("it is not %s: %+v", condition, comparison.Status)
	}
	if diff := cmp.Diff(sets, s.setNames()); diff != "" {
		s.t.Errorf("StatefulSets (-want +got):\n%s", diff)
	}
}

// A server whose Pod was replaced between two runs is not measured any more. The runs after that go on with the next one.
func TestEnvtestSharedServerIsReplaced(t *testing.T) {
	s := newSharing(t, 2, nil)
	s.untilBetweenRuns()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "s-db1-0"}}
	s.must(api.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	s.react()
	s.ends(v1alpha1.ConditionComplete, "s-db1", "s-db2")
	counts := map[int]int{}
	for _, record := range s.servers() {
		counts[record.Instance]++
	}
	if diff := cmp.Diff(map[int]int{1: 1, 2: 3}, counts); diff != "" {
		t.Errorf("records by instance (-want +got):\n%s", diff)
	}
	if got := s.getComparison().Status.Database; got != "the runs shared a database, whose server was replaced: 2 servers" {
		t.Errorf("the status says %q", got)
	}
	s.nothingShared()
}

// A comparison that is suspended has no database, and a new one when it is resumed.
func TestEnvtestSharedDatabaseOfASuspendedComparison(t *testing.T) {
	t.Parallel()
	for name, until := range map[string]func(*sharing){
		"during a run": func(s *sharing) {
			s.loader = func(*batchv1.Job, *corev1.Pod) {} // it runs until it is removed
			for len(s.jobs) == 0 {
				s.turn("s")
			}
		},
		"between two runs": (*sharing).untilBetweenRuns,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSharing(t, 2, nil)
			until(s)
			s.suspend(true)
			for range 8 {
				s.turn("s")
			}
			s.nothingShared()
			s.nothingRuns() // not even a Lease
			s.loader = s.succeed
			s.suspend(false)
			s.ends(v1alpha1.ConditionComplete, "s-db1", "s-db2")
			if got := ptr.Deref(s.getComparison().Status.LastInstance, 0); got != 2 {
				t.Errorf("the last instance is %d, want 2", got)
			}
			s.nothingShared()
		})
	}
}

// A comparison that fails removes the database, or keeps it to be looked at. What is kept does not keep the lane, nor a node from
// being drained.
func TestEnvtestSharedDatabaseOfAComparisonThatFails(t *testing.T) {
	for name, policy := range map[string]v1alpha1.CleanupPolicy{"removed": v1alpha1.CleanupAlways, "kept": v1alpha1.CleanupOnSuccess} {
		t.Run(name, func(t *testing.T) {
			s := newSharing(t, 2, func(comparison *v1alpha1.BenchmarkComparison) { comparison.Spec.Template.Spec.Cleanup = policy })
			s.untilBetweenRuns()
			s.loader = func(*batchv1.Job, *corev1.Pod) {}
			for len(s.jobs) == 1 {
				s.turn("s")
			}
			comparison := s.getComparison()
			comparison.Spec.DeadlineSeconds = ptr.To[int32](1)
			s.must(api.Update(t.Context(), comparison))
			s.clock.Step(time.Minute)
			for range 3 { // the comparison removes its run
				s.turn("s")
			}
			for name := range s.jobs {
				s.collectGarbageOf(name[:len(name)-len("-t1-a1")])
			}
			s.ends(v1alpha1.ConditionFailed, "s-db1")
			for range 3 {
				s.turn("s")
			}
			if policy == v1alpha1.CleanupAlways {
				s.nothingShared()
			} else {
				budgets := &policyv1.PodDisruptionBudgetList{}
				if s.list(budgets); len(budgets.Items) > 0 || !slices.Equal(s.busy(), []string{"s"}) {
					t.Errorf("%d budgets are left, and something of %v", len(budgets.Items), s.busy())
				}
			}
			if holders := s.holders(); len(holders) > 0 {
				t.Errorf("the lane is held by %v", holders)
			}
		})
	}
}

// The operator is killed before and after each write of an object of the database that the runs share: there is one server, every
// trial is measured once, and nothing is left.
func TestEnvtestCrashAfterEveryWriteOfASharedDatabase(t *testing.T) {
	t.Parallel()
	crash := func(t *testing.T, n int) []int {
		t.Helper()
		s := newSharing(t, 2, nil)
		m := &mortal{dieAfter: n}
		start := func() {
			m.dead = false
			s.reconciler, s.comparisons.comparisons = s.newReconciler(), s.newComparisonReconciler()
			s.reconciler.Client, s.comparisons.comparisons.Client = m.client(), m.client()
		}
		start()
		look := s.before
		s.before = func() {
			if look(); m.dead {
				start()
			}
		}
		s.until("s", v1alpha1.ConditionFinished, "s")
		if made := s.setNames(); len(made) != 1 { // a volume without a server is not used: then it has the number 2
			t.Errorf("killed after write %d: StatefulSets %v", n, made)
		}
		for range 3 {
			s.turn("s")
		}
		s.nothingShared()
		s.nothingRuns()
		for name, made := range s.jobs {
			if made != 1 {
				t.Errorf("killed after write %d: Job %s was made %d times", n, name, made)
			}
		}
		if len(s.jobs) != 4 {
			t.Errorf("killed after write %d: Jobs %v", n, s.jobs)
		}
		return m.shared
	}
	writes := crash(t, 0)
	if len(writes) != 11 {
		t.Fatalf("a database is made and removed by %d writes", len(writes))
	}
	at := map[int]bool{}
	for _, n := range writes {
		at[n-1], at[n] = true, true
	}
	killedAfter(t, slices.Sorted(maps.Keys(at)), func(t *testing.T, n int) { crash(t, n) })
}
