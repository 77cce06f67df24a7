// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// ComparedFinding is a finding about one side of a comparison, or about both.
type ComparedFinding struct {
	// Of is the side; empty if it is about both.
	Of string `json:"of,omitempty"`
	// Points are the parameters of those that it is about; none if it is about all of them.
	Points []map[string]string `json:"points,omitempty"`
	stats.ComparisonFinding
}

// ComparedChange is a field of the specification or of the environment that has two values.
type ComparedChange struct {
	// Variant of the comparison; empty if two sides are compared.
	Variant string `json:"variant,omitempty"`
	Difference
}

// UnpairedPoint is a point that only one side has.
type UnpairedPoint struct {
	Of         string            `json:"of"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// findingsOf a run, with the points that they are about.
func findingsOf(r *Report) []ComparedFinding {
	var list []ComparedFinding
	for _, f := range slices.Concat(r.Run.Findings, r.ChangedInputs()) {
		list = append(list, ComparedFinding{ComparisonFinding: aboutAll(f)})
	}
	for _, remark := range Remarks(r.Points) {
		one := ComparedFinding{ComparisonFinding: stats.ComparisonFinding{PointFinding: remark.PointFinding}}
		for _, i := range remark.Points {
			one.Points = append(one.Points, r.Points[i].Parameters)
		}
		list = append(list, one)
	}
	return list
}

func aboutAll(f finding.Finding) stats.ComparisonFinding {
	return stats.ComparisonFinding{PointFinding: stats.PointFinding{Finding: f}}
}

// findings of a comparison.
func (s *Comparison) findings() []ComparedFinding {
	var list []ComparedFinding
	for _, w := range s.Findings {
		list = append(list, ComparedFinding{ComparisonFinding: w})
	}
	return list
}

// changes of the variants from the baseline.
func (s *Comparison) changes() []ComparedChange {
	var list []ComparedChange
	for _, v := range s.Variants {
		for _, d := range v.Differences {
			list = append(list, ComparedChange{v.Name, d})
		}
	}
	return list
}

// changesBetween two sides: of the specification, of inputs and of the environment.
func changesBetween(a, b *Side) []ComparedChange {
	var list []ComparedChange
	for _, c := range slices.Concat(differing(a.spec, b.spec), differingFacts(a, b, true), differingFacts(a, b, false)) {
		list = append(list, ComparedChange{Difference: Difference{Name: c.name, From: c.before, To: c.after}})
	}
	return list
}
