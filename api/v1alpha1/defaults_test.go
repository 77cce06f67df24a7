//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

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
