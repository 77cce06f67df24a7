// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// Variants share a database if they ask for the same one, in whatever words, and Benchrun makes it and uses it again.
func TestSharesDatabase(t *testing.T) {
	lazy := &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkComparison)
		want   bool
	}{
		"nothing differs": {func(*v1alpha1.BenchmarkComparison) {}, true},
		"the workload differs": {func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{RowsPerCommit: 2}}
		}, true},
		"the database differs":            {func(s *v1alpha1.BenchmarkComparison) { s.Spec.Variants[1].Database = lazy }, false},
		"the baseline's database differs": {func(s *v1alpha1.BenchmarkComparison) { s.Spec.Variants[0].Database = lazy }, false},
		"all differ from the template alike": {func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Variants[0].Database, s.Spec.Variants[1].Database = lazy, lazy.DeepCopy()
		}, true},
		"the template is said again": {func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Variants[1].Database = s.Spec.Template.Spec.Database.DeepCopy()
		}, true},
		"of the MariaDB operator": {func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Template.Spec.Database.Provisioner = v1alpha1.ProvisionerMariaDBOperator
		}, true},
		"external": {func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Template.Spec.Database.Provisioner = v1alpha1.ProvisionerExternal
		}, false},
		"on a tuned node": {func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Template.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
		}, false},
		"under way at the same time": {func(s *v1alpha1.BenchmarkComparison) { s.Spec.Alternation = v1alpha1.AlternateTrials }, false},
		"begun with a copy":          {func(s *v1alpha1.BenchmarkComparison) { s.Spec.Template.Spec.Trials.Data = v1alpha1.DataRestore }, false},
		"fresh":                      {func(s *v1alpha1.BenchmarkComparison) { s.Spec.Template.Spec.Trials.Server = v1alpha1.ServerFresh }, false},
	} {
		if got := plan.SharesDatabase(testutil.MakeComparison("s", "ns", "a", "b").With(tc.change).Obj()); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// sharing is a run of a comparison that is told to share its database.
func sharing(last plan.Served) *v1alpha1.BenchmarkRun {
	comparison := testutil.MakeComparison("s", "bench", "a", "b").Obj()
	run := plan.MemberRun(comparison, plan.Member{Round: 1})
	run.UID = "01234567-89ab-cdef-0123-456789abcdef"
	run.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: plan.ComparisonKind, Name: "s", UID: comparison.UID, Controller: ptr.To(true),
	}}
	plan.Share(run, last)
	return run
}

// A database that runs share has the comparison's name, labels and credentials. What else a run has is its own.
func TestNamesOfASharedDatabase(t *testing.T) {
	run := sharing(plan.Served{Number: 2, PodUID: "pod"})
	host, _ := plan.Address(&engine.MariaDB, run, 3)
	got := []string{plan.InstanceName(run, 3), host, plan.SecretName(run), plan.AttemptName(run, 7, 2), plan.ResultsName(run)}
	want := []string{"s-db3", "s-db3.bench.svc", "s-89abcdef", "s-r1-a-t7-a2", "s-r1-a-results"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	labels := map[string]string{
		"app.kubernetes.io/name": "benchrun", "app.kubernetes.io/instance": "s", "app.kubernetes.io/component": "database",
		"app.kubernetes.io/managed-by": "benchrun", v1alpha1.LabelComponent: "database", v1alpha1.LabelInstance: "3",
		v1alpha1.LabelComparison: "s", v1alpha1.LabelComparisonUID: "89abcdef-0123-4567-89ab-cdef01234567",
	}
	if diff := cmp.Diff(labels, plan.InstanceLabels(run, 3)); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := plan.Labels(run, v1alpha1.ComponentLoader)[v1alpha1.LabelRun]; got != "s-r1-a" {
		t.Errorf("a loader is labelled as that of run %q", got)
	}
}

// An annotation alone gives nobody a comparison's database.
func TestSharedBy(t *testing.T) {
	served := plan.Served{Number: 2, PodUID: "pod"}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		last   plan.Served
		shares bool
	}{
		"told by its comparison":      {func(*v1alpha1.BenchmarkRun) {}, served, true},
		"not told":                    {func(r *v1alpha1.BenchmarkRun) { delete(r.Annotations, v1alpha1.AnnotationSharedInstance) }, plan.Served{}, false},
		"changed by hand":             {func(r *v1alpha1.BenchmarkRun) { r.Annotations[v1alpha1.AnnotationSharedInstance] = "two" }, plan.Served{}, true},
		"of no comparison":            {func(r *v1alpha1.BenchmarkRun) { r.OwnerReferences = nil }, plan.Served{}, false},
		"owned, not controlled":       {func(r *v1alpha1.BenchmarkRun) { r.OwnerReferences[0].Controller = nil }, plan.Served{}, false},
		"of another kind":             {func(r *v1alpha1.BenchmarkRun) { r.OwnerReferences[0].Kind = "Comparison" }, plan.Served{}, false},
		"of another API's comparison": {func(r *v1alpha1.BenchmarkRun) { r.OwnerReferences[0].APIVersion = "example.com/v1" }, plan.Served{}, false},
	} {
		run := sharing(served)
		tc.change(run)
		last, shares := plan.SharedBy(run)
		if last != tc.last || shares != tc.shares {
			t.Errorf("%s: %+v, %t", name, last, shares)
		}
		own := plan.DatabaseOwner(run).Name == run.Name && plan.InstanceName(run, 1) == "s-r1-a-db1" && plan.SecretName(run) == "s-r1-a-01234567"
		if own == shares {
			t.Errorf("%s: the database is %s", name, plan.InstanceName(run, 1))
		}
	}
}
