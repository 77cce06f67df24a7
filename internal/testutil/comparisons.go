// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"math"
	"sync"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
)

// ComparisonWrapper builds a BenchmarkComparison.
type ComparisonWrapper struct{ comparison v1alpha1.BenchmarkComparison }

// MakeComparison is a comparison of the run of MakeRun, of whole runs, with variants of these names that change nothing and with the
// API server's defaults.
func MakeComparison(name, namespace string, variants ...string) *ComparisonWrapper {
	comparison := storedComparison().DeepCopy()
	comparison.Name, comparison.Namespace = name, namespace
	for _, v := range variants {
		comparison.Spec.Variants = append(comparison.Spec.Variants, v1alpha1.Variant{Name: v})
	}
	return &ComparisonWrapper{*comparison}
}

// minimalComparison is what MakeComparison asks for besides variants: the run of MakeRun.
const minimalComparison = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {uid: 89abcdef-0123-4567-89ab-cdef01234567, generation: 1}
spec: {alternation: Runs, template: {spec: ` + minimalSpec + `}}`

var storedComparison = sync.OnceValue(func() *v1alpha1.BenchmarkComparison {
	return stored[v1alpha1.BenchmarkComparison](apischema.Comparisons, minimalComparison)
})

// Pair is a comparison of two variants at one point, durable and lazy.
func Pair(changes ...func(*v1alpha1.BenchmarkComparison)) *v1alpha1.BenchmarkComparison {
	w := MakeComparison("s", "ns", "durable", "lazy")
	for _, change := range changes {
		w.With(change)
	}
	return w.Obj()
}

// PairValue is what the run at an index of the plan of a Pair has measured: lazy is three times as fast. The noise is small, and
// the same whatever the number of runs.
func PairValue(run, variant int) float64 {
	return 1000 * math.Pow(3, float64(variant)) * (1 + 0.002*float64(run%3))
}

// FixedRounds sets the most rounds, and measures all of them.
func FixedRounds(n int32) func(*v1alpha1.BenchmarkComparison) {
	return func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.MaxRounds, s.Spec.EarlyStop.Policy = n, v1alpha1.EarlyStopDisabled
	}
}

// Rounds sets the most rounds, and measures all of them.
func (w *ComparisonWrapper) Rounds(n int32) *ComparisonWrapper { return w.With(FixedRounds(n)) }

// Sweep sets the values of rowsPerCommit.
func (w *ComparisonWrapper) Sweep(values ...v1alpha1.CommitSizeRowsPerCommit) *ComparisonWrapper {
	w.comparison.Spec.Template.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: values}
	return w
}

// With changes anything else.
func (w *ComparisonWrapper) With(change func(*v1alpha1.BenchmarkComparison)) *ComparisonWrapper {
	change(&w.comparison)
	return w
}

// Obj is the comparison.
func (w *ComparisonWrapper) Obj() *v1alpha1.BenchmarkComparison { return w.comparison.DeepCopy() }
