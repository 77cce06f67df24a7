// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestVariantsMeasureEnoughForAnAnswer: the more pairs a run has, the more rounds its first answer takes. One whose
// rounds are fewer ends without any.
func TestVariantsMeasureEnoughForAnAnswer(t *testing.T) {
	files, err := filepath.Glob(folder + "/*.yaml")
	more, errMore := filepath.Glob(folder + "/publications/*.yaml")
	if err != nil || errMore != nil {
		t.Fatal(err, errMore)
	}
	checked := 0
	for _, file := range slices.Concat(files, more) {
		for _, document := range documents(t, file) {
			run := defaulted(t, document)
			if run == nil {
				continue
			}
			checked++
			p, err := analysis.PlanVariants(run, func(r *v1alpha1.BenchmarkRun) (*plan.Plan, error) { return plan.ForRun(&r.Spec) })
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if first := analysis.DesignOf(&run.Spec, len(p.Planned)).FirstLook(); int(plan.Rounds(&run.Spec).AtMost) < first {
				t.Errorf("%s: %d pairs have their first answer after %d rounds, and it measures at most %d",
					file, len(p.Planned), first, plan.Rounds(&run.Spec).AtMost)
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d runs with variants were found", checked)
	}
}

// defaulted is the run with variants of a document, with the API server's defaults; nil if the document has none.
func defaulted(t *testing.T, document string) *v1alpha1.BenchmarkRun {
	t.Helper()
	var object map[string]any
	must.Do(t, yaml.Unmarshal([]byte(document), &object))
	if object["kind"] != "BenchmarkRun" {
		return nil
	}
	schema := must.Get(apischema.Runs())(t)
	schema.Default(object)
	run := new(v1alpha1.BenchmarkRun)
	must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object, run))
	if len(run.Spec.Variants) == 0 {
		return nil
	}
	return run
}
