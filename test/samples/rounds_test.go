// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// The API server's defaults of a comparison that a design is made of.
const (
	defaultMaxRounds   = 20
	defaultMinRounds   = 6
	defaultEquivalence = 5
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
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var comparison v1alpha1.BenchmarkComparison
			if yaml.UnmarshalStrict([]byte(document), &comparison) != nil || comparison.Kind != "BenchmarkComparison" {
				continue
			}
			checked++
			spec := &comparison.Spec
			spec.MaxRounds = cmp.Or(spec.MaxRounds, defaultMaxRounds)
			spec.EarlyStop.MinRounds = cmp.Or(spec.EarlyStop.MinRounds, defaultMinRounds)
			spec.EquivalencePercent = cmp.Or(spec.EquivalencePercent, defaultEquivalence)
			p, err := plan.ForRun(&plan.MemberRun(&comparison, plan.Member{Round: 1}).Spec)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			pairs := len(p.Points) * (len(spec.Variants) - 1)
			if first := analysis.DesignOf(spec, pairs).FirstLook(); int(spec.MaxRounds) < first {
				t.Errorf("%s: %d pairs have their first answer after %d rounds, and it measures at most %d",
					file, pairs, first, spec.MaxRounds)
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d comparisons were found", checked)
	}
}
