//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// The API server's defaults are those that the operator uses for what is unset.
func TestEnvtestDefaults(t *testing.T) {
	object := parsed(t, minimal, spec("database: {storage: {}}"))
	if err := dryRun(t, object); err != nil {
		t.Fatal(err)
	}
	var run v1alpha1.BenchmarkRun
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &run); err != nil {
		t.Fatal(err)
	}
	s := &run.Spec
	if s.Seed == nil || *s.Seed != v1alpha1.DefaultSeed || s.Trials.MaxInvalid == nil ||
		*s.Trials.MaxInvalid != v1alpha1.DefaultMaxInvalid || s.Trials.DeadlineSeconds != v1alpha1.DefaultTrialDeadlineSeconds ||
		s.Database.Storage.Size.String() != v1alpha1.DefaultStorageSize ||
		s.Trials.Repetitions != nil {
		t.Errorf("defaults of the API server: seed %v, trials %+v, storage %s", s.Seed, s.Trials, s.Database.Storage.Size.String())
	}
}

// An object that the operator has not seen yet is not ready to anybody who waits for it, such as Helm 4.
func TestEnvtestNewObjectIsInProgress(t *testing.T) {
	for _, text := range []string{minimal, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {name: valid, namespace: default}
spec:
  template: {spec: {database: {}, workload: {type: CommitSize, commitSize: {rows: 100}}}}
  variants: [{name: a}, {name: b}]
`} {
		object := parsed(t, text, "metadata: {name: seen-by-nobody}")
		if err := api.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := api.Delete(context.Background(), object); err != nil {
				t.Error(err)
			}
		})
		stored := object.DeepCopy()
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(object), stored); err != nil {
			t.Fatal(err)
		}
		if got, err := kstatus.Compute(stored); err != nil || got.Status != kstatus.InProgressStatus {
			t.Errorf("%s: %+v, %v", object.GetKind(), got, err)
		}
	}
}
