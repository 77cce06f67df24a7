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
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// TestComparisonsMeasureEnoughForAnAnswer: the more pairs a comparison has, the more rounds its first answer takes. One whose
// rounds are fewer ends without any.
func TestComparisonsMeasureEnoughForAnAnswer(t *testing.T) {
	files, err := filepath.Glob(folder + "/*.yaml")
	more, errMore := filepath.Glob(folder + "/publications/*.yaml")
	if err != nil || errMore != nil {
		t.Fatal(err, errMore)
	}
	checked := 0
	for _, file := range slices.Concat(files, more) {
		for _, document := range documents(t, file) {
			comparison := defaulted(t, document)
			if comparison == nil {
				continue
			}
			checked++
			p, err := validation.PlanComparison(comparison)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if first := analysis.DesignOf(&comparison.Spec, len(p.Pairs)).FirstLook(); int(comparison.Spec.Rounds.AtMost) < first {
				t.Errorf("%s: %d pairs have their first answer after %d rounds, and it measures at most %d",
					file, len(p.Pairs), first, comparison.Spec.Rounds.AtMost)
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d comparisons were found", checked)
	}
}

// defaulted is the comparison of a document, with the API server's defaults; nil if the document has none.
func defaulted(t *testing.T, document string) *v1alpha1.BenchmarkRun {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(document), &object); err != nil {
		t.Fatal(err)
	}
	if object["kind"] != "BenchmarkComparison" {
		return nil
	}
	schema, err := apischema.Comparisons()
	if err != nil {
		t.Fatal(err)
	}
	schema.Default(object)
	comparison := new(v1alpha1.BenchmarkRun)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, comparison); err != nil {
		t.Fatal(err)
	}
	return comparison
}
