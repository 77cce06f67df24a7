// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
		change func(*v1alpha1.BenchmarkRun)
		want   bool
	}{
		"nothing differs": {func(*v1alpha1.BenchmarkRun) {}, true},
		"the workload differs": {func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{RowsPerCommit: 2}}
		}, true},
		"the database differs":            {func(s *v1alpha1.BenchmarkRun) { s.Spec.Variants[1].Database = lazy }, false},
		"the baseline's database differs": {func(s *v1alpha1.BenchmarkRun) { s.Spec.Variants[0].Database = lazy }, false},
		"all differ from the template alike": {func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Variants[0].Database, s.Spec.Variants[1].Database = lazy, lazy.DeepCopy()
		}, true},
		"the template is said again": {func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Variants[1].Database = s.Spec.Database.DeepCopy()
		}, true},
		"of the MariaDB operator": {func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Database.Provisioner = v1alpha1.ProvisionerMariaDBOperator
		}, true},
		"external": {func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Database.Provisioner = v1alpha1.ProvisionerExternal
		}, false},
		"on a tuned node": {func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
		}, false},
		"under way at the same time": {func(s *v1alpha1.BenchmarkRun) { s.Spec.Alternation = v1alpha1.AlternateTrials }, false},
		"begun with a copy":          {func(s *v1alpha1.BenchmarkRun) { s.Spec.Trials.Data = v1alpha1.DataRestore }, false},
		"fresh":                      {func(s *v1alpha1.BenchmarkRun) { s.Spec.Trials.Server = v1alpha1.ServerFresh }, false},
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

// An annotation alone gives no run a comparison's database.
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

func restores(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.Data = v1alpha1.DataRestore }

// The copy of a lone run is its own. Those of a comparison's runs are the comparison's, one for each variant, with its credentials.
func TestDataCopyNames(t *testing.T) {
	alone := testutil.MakeRun("run", "ns").With(restores).Obj()
	if name, secret := plan.DataCopyName(alone), plan.SecretName(alone); name != "run-data" || secret != "run-"+string(alone.UID)[:8] {
		t.Errorf("alone: %s, %s", name, secret)
	}
	comparison := testutil.MakeComparison("s", "ns", "a", "b").With(func(s *v1alpha1.BenchmarkRun) {
		s.Spec.Trials.Data, s.Spec.Seed = v1alpha1.DataRestore, ptr.To[int64](7)
	}).Obj()
	if plan.SharesDatabase(comparison) {
		t.Error("the servers that begin with a copy are one server")
	}
	for _, m := range []plan.Member{{Round: 1, Variant: 0, Seed: 1}, {Round: 2, Variant: 1, Seed: 2}} {
		run := plan.MemberRun(comparison, m)
		run.UID = "other"
		run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(comparison, v1alpha1.GroupVersion.WithKind(plan.ComparisonKind))}
		want := map[int]string{0: "s-data-a", 1: "s-data-b"}[m.Variant]
		secret := "s-" + string(comparison.UID)[:8]
		if plan.DataCopyName(run) != want || plan.SecretName(run) != secret || plan.InstanceName(run, 1) != run.Name+"-db1" {
			t.Errorf("round %d: %s, %s, %s", m.Round, plan.DataCopyName(run), plan.SecretName(run), plan.InstanceName(run, 1))
		}
		if *run.Spec.Trials.DataSeed != 7 || *run.Spec.Seed != m.Seed {
			t.Errorf("round %d: data of seed %d, and seed %d", m.Round, *run.Spec.Trials.DataSeed, *run.Spec.Seed)
		}
		if labels := plan.DataCopyLabels(run); labels[v1alpha1.LabelComparisonUID] != string(comparison.UID) || labels[v1alpha1.LabelRun] != "" {
			t.Errorf("labels %v", labels)
		}
	}
	// Runs that begin with no copy have the data of their seeds.
	if run := plan.MemberRun(testutil.Pair(), plan.Member{Round: 1}); run.Spec.Trials.DataSeed != nil {
		t.Errorf("data of seed %d", *run.Spec.Trials.DataSeed)
	}
}

func TestCPULimitMillis(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Obj()
	for name, tc := range map[string]struct {
		resources corev1.ResourceRequirements
		want      int64
	}{
		"unset":  {corev1.ResourceRequirements{}, 1000},
		"a half": {corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}, 500},
		"none":   {corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}, 0},
		"requests only": {
			corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}, 0,
		},
	} {
		run.Spec.Database.Resources = tc.resources
		if got := plan.CPULimitMillis(&run.Spec.Database); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
