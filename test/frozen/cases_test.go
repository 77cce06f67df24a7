// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package frozen_test gives what Benchrun makes of its samples, and says of recorded rounds, to the recordings beside it.
package frozen_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

const (
	uid  types.UID = "01234567-89ab-cdef-0123-456789abcdef"
	seed           = int64(42)
)

var images = podutil.Images{Loader: "loader:test", Sysbench: "loader-sysbench:test"}

// sample is the run of a sample's file, and its plan.
type sample struct {
	name string
	run  *v1alpha1.BenchmarkRun
	plan *plan.Plan
}

// samples are all of config/samples, and the small publications, as the API server stores them, with an explicit seed.
func samples(t *testing.T) []sample {
	t.Helper()
	var list []sample
	for _, pattern := range []string{"*.yaml", "publications/*-small.yaml"} {
		files, err := filepath.Glob(filepath.Join("../../config/samples", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files like %s, %v", len(files), pattern, err)
		}
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(t)
			for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
				if s, ok := decoded(t, document); ok {
					s.name = strings.TrimSuffix(filepath.Base(file), ".yaml") + "/" + s.name
					list = append(list, s)
				}
			}
		}
	}
	return list
}

func decoded(t *testing.T, document []byte) (sample, bool) {
	t.Helper()
	var object map[string]any
	must.Do(t, yaml.Unmarshal(document, &object))
	object["metadata"].(map[string]any)["namespace"] = "bench"
	text := must.Get(json.Marshal(object))(t)
	if object["kind"] != plan.RunKind {
		return sample{}, false
	}
	run, errs := testutil.MakeRunSchema(t).Stored(t, text)
	if errs != nil {
		t.Fatal(errs.ToAggregate())
	}
	run.UID = uid
	run.Spec.Seed = ptr.To(ptr.Deref(run.Spec.Seed, seed))
	p, err := validation.PlanRun(run)
	if err != nil {
		t.Fatalf("%s: %v", run.Name, err)
	}
	return sample{name: run.Name, run: run, plan: p}, true
}
