// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/randfill"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// FuzzComparisonStatus: whatever the runs of a comparison measured, the API server accepts the comparison's status.
func FuzzComparisonStatus(f *testing.F) {
	schema := testutil.MakeComparisonSchema(f)
	for i, spec := range specs(f, "BenchmarkComparison") {
		f.Add(spec, []byte{byte(i)})
	}
	f.Fuzz(func(t *testing.T, spec string, facts []byte) {
		comparison, refused := schema.Stored(t, comparisonOf(spec))
		if refused != nil {
			return
		}
		for n := range 2 { // the second status is made from the first one
			seen, p := new(ComparisonObserved), new(analysis.ComparisonPlan)
			planned, err := validation.PlanComparison(comparison)
			if err != nil {
				seen.Terminal = InvalidVariant(err)
			} else {
				p = planned
				seen = anyRuns(append(facts, byte(n)), comparison, p)
			}
			old := comparison.DeepCopy()
			at := now.Add(time.Duration(n) * time.Second)
			comparison.Status = StatusOfComparison(comparison, p, seen, NextOfComparison(comparison, p, seen, at), at)
			if errs := schema.StatusErrors(t, old, comparison); len(errs) > 0 {
				t.Fatalf("the API server refuses the status: %.2000s", errs.ToAggregate())
			}
			text, err := json.Marshal(comparison.Status)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > maxStatusBytes {
				t.Fatalf("the status has %d bytes", len(text))
			}
			var back v1alpha1.BenchmarkComparisonStatus
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			comparison.Status = back
		}
	})
}

func comparisonOf(spec string) []byte {
	return fmt.Appendf(nil, `{"apiVersion": "benchrun.dev/v1alpha1", "kind": "BenchmarkComparison", "metadata": {"name": "comparison",
		"namespace": "ns", "uid": "01234567-89ab-cdef-0123-456789abcdef", "generation": 1}, "spec": %s}`, spec)
}

// anyRuns are runs of a comparison that have ended, as many as facts say, with any values.
func anyRuns(facts []byte, comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan) *ComparisonObserved {
	fill := randfill.NewFromGoFuzz(facts).NilChance(0.2).NumElements(0, 20).Funcs(anyText, anyNumber, anyInteger, anyObject)
	seen := &ComparisonObserved{Checked: true, ComparisonRuns: membersOf(p)}
	var ended, chance uint8
	fill.Fill(&ended)
	for i, m := range p.Members[:min(int(ended), len(p.Members))] {
		run := plan.MemberRun(comparison, m)
		fill.Fill(&run.Status.Environment)
		fill.Fill(&run.Status.Trials)
		if fill.Fill(&chance); chance%16 == 0 {
			endedRun(run, v1alpha1.ConditionFailed)
			seen.Members[i] = analysis.Member{Run: run}
			break
		}
		endedRun(run, v1alpha1.ConditionComplete)
		measured := &analysis.Measurements{Values: slices.Repeat([]float64{math.NaN()}, len(p.Variants[m.Variant].Plan.Points))}
		fill.Fill(&measured.Metric)
		for point := range measured.Values {
			if fill.Fill(&measured.Values[point]); chance%4 == 1 {
				measured.Values[point] = math.Abs(measured.Values[point]) + 1
			}
		}
		seen.Members[i] = analysis.Member{Run: run, Measured: measured}
	}
	fill.Fill(&seen.Variables)
	if len(seen.Variables) != len(p.Variants) {
		seen.Variables = make([]map[string]string, len(p.Variants))
	}
	if fill.Fill(&chance); chance%4 == 0 {
		seen.Results = new(v1alpha1.ResultsReference)
		fill.Fill(seen.Results)
	}
	if chance%8 == 1 {
		fill.Fill(&seen.Predecessor)
	}
	fill.Fill(&seen.RetryError)
	seen.Judged = analysis.Judge(comparison, p, &seen.ComparisonRuns, analysis.Verdicts{})
	return seen
}
