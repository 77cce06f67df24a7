//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
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

// What has the name of the database and is not the comparison's is left alone.
func TestEnvtestSharedDatabaseNameTaken(t *testing.T) {
	s := newSharing(t, 2, nil)
	labels := map[string]string{"app": "theirs"}
	theirs := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "s-db1"},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
	s.must(api.Create(t.Context(), theirs))
	for range 10 {
		_, err := s.reconcileComparison()
		s.must(err)
		var runs v1alpha1.BenchmarkRunList
		s.list(&runs)
		for _, run := range runs.Items {
			s.reconcile(run.Name)
		}
	}
	want := "NameTaken: StatefulSet s-db1 exists and does not belong to this comparison"
	if got := reasonOfEnd(s.getComparison()); !strings.HasPrefix(got, "MemberFailed: ") || !strings.Contains(got, want) {
		t.Errorf("it ended %s", got)
	}
	if err := s.exists(theirs, "s-db1"); err != nil || theirs.DeletionTimestamp != nil || len(theirs.OwnerReferences) > 0 {
		t.Errorf("it was touched: %v, %+v", err, theirs.ObjectMeta)
	}
}
