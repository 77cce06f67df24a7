// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// ComparisonRuns are the runs of a comparison: the input of its analysis.
type ComparisonRuns struct {
	// Members in the order of the plan.
	Members []Member
	// Variables of the servers, as the first complete run of each variant read them; nil where they are not known.
	Variables []map[string]string
}

// Member is a run of a comparison, and what it measured.
type Member struct {
	// Run is nil if it does not exist.
	Run *v1alpha1.BenchmarkRun
	// Measured is nil unless the run is Complete.
	Measured *Measurements
	// Trials of a run with variants that the member is.
	Trials []int
}

// Finished says whether the member's run has finished.
func (m *Member) Finished() bool { return m.Is(v1alpha1.ConditionFinished) }

// Is says whether a condition of the member's run is true.
func (m *Member) Is(condition string) bool {
	return m.Run != nil && apimeta.IsStatusConditionTrue(m.Run.Status.Conditions, condition)
}

// Comparison is the analysis of a comparison.
type Comparison struct {
	Verdicts
	// Variants in the order of the specification.
	Variants []Variant
	// Warnings must be read with the answer.
	Warnings []stats.ComparisonFinding
	// Rows are those that the pilots of the runs have decided, by the label of the point.
	Rows map[string]int64
	// Invalidated is how many attempts of all runs were disturbed and measured again.
	Invalidated int
}

// Variant is what a comparison asks for in a variant, and what its runs say of the place.
type Variant struct {
	Name     string
	Baseline bool
	// Differences from the baseline that are requested. Others is nil of the baseline, and if nothing is known of them.
	Differences []plan.Difference
	Others      *OtherVariables
	// Volume is nil if nothing is known of it.
	Volume *Volume
}

// OfComparison analyses a comparison with that plan, of which the runs have these verdicts.
func OfComparison(
	comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan, runs *ComparisonRuns, verdicts Verdicts,
) *Comparison {
	s := &Comparison{
		Verdicts: verdicts, Warnings: warningsOfComparison(comparison, p, runs),
		Rows:        runs.DecidedRows(),
		Invalidated: runs.invalidated(),
	}
	for i := range p.Variants {
		v := Variant{
			Name: comparison.Spec.Variants[i].Name, Baseline: i == p.Baseline, Differences: p.Variants[i].Differences,
			Volume: volumeOf(p, runs, i),
		}
		if !v.Baseline {
			v.Others = otherVariables(p, runs, i)
		}
		s.Variants = append(s.Variants, v)
	}
	return s
}

// invalidated is how many attempts of all runs were disturbed and measured again.
func (r *ComparisonRuns) invalidated() int {
	n := 0
	for _, m := range r.Members {
		if m.Run != nil {
			n += int(ptr.Deref(m.Run.Status.Trials.Invalidated, 0))
		}
	}
	return n
}

// DecidedRows are those that the pilots of the runs have decided, by the label of the point. The first decision holds.
func (r *ComparisonRuns) DecidedRows() map[string]int64 {
	var all map[string]int64
	for i := range r.Members {
		m := r.Members[i].Measured
		if m == nil {
			continue
		}
		for label, rows := range m.Rows {
			all = addRows(all, label, rows)
		}
	}
	return all
}
