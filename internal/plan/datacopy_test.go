// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func restores(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.Data = v1alpha1.DataRestore }

// The copy of a lone run is its own. Those of a comparison's runs are the comparison's, one for each variant, with its credentials.
func TestDataCopyNames(t *testing.T) {
	alone := testutil.MakeRun("run", "ns").With(restores).Obj()
	if name, secret := plan.DataCopyName(alone), plan.SecretName(alone); name != "run-data" || secret != "run-"+string(alone.UID)[:8] {
		t.Errorf("alone: %s, %s", name, secret)
	}
	comparison := testutil.MakeComparison("s", "ns", "a", "b").With(func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.Template.Spec.Trials.Data, s.Spec.Seed = v1alpha1.DataRestore, ptr.To[int64](7)
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
