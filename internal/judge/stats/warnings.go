// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// wideSpread is the range of a point's values relative to their median from which on it is warned of.
const wideSpread = 0.25

// WarningsAt points, each once, from the points with these indexes: those that differ only in what they measured are one.
func WarningsAt(points []Point) []finding.Merged {
	return MergeLists(len(points), func(i int) []finding.Finding { return points[i].Warnings })
}

// MergeLists merges the findings of so many lists, each once: From has the indexes of the lists, ascending, as often as they have
// the finding.
func MergeLists(n int, list func(i int) []finding.Finding) []finding.Merged {
	var all []finding.Finding
	var of []int
	for i := range n {
		for _, f := range list(i) {
			all, of = append(all, f), append(of, i)
		}
	}
	merged := finding.Merge(all)
	for _, m := range merged {
		for k, i := range m.From {
			m.From[k] = of[i]
		}
	}
	return merged
}

// Placed is a finding about points, given by their parameters, of so many that were measured.
type Placed struct {
	finding.Finding
	Points   []map[string]string
	Measured int
}

// PlacedAt are the warnings of those points that were measured, each once.
func PlacedAt(points []Point) []Placed {
	measured := Measured(points)
	var list []Placed
	for _, m := range WarningsAt(measured) {
		one := Placed{Finding: m.Finding, Measured: len(measured)}
		for _, i := range m.From {
			one.Points = append(one.Points, measured[i].Parameters)
		}
		list = append(list, one)
	}
	return list
}

// PointWarnings are those that belong to a point: those of its trials, each once, and a wide spread.
func PointWarnings(records []*result.Record, values []float64) []finding.Finding {
	var list []finding.Finding
	for _, m := range MergeLists(len(records), func(i int) []finding.Finding { return findingsOf(records[i]) }) {
		list = append(list, m.InTrials(len(slices.Compact(m.From)), len(records)))
	}
	if s := Summarize(values); s.N > 1 && slices.Max(values)-slices.Min(values) > wideSpread*math.Abs(s.Median) {
		list = append(list, finding.Spread(100*wideSpread).InTrials(len(records), len(records)))
	}
	return list
}

// findingsOf a trial are those of its loader, those about where it ran, and one about a server that its limit held back.
func findingsOf(r *result.Record) []finding.Finding {
	list := slices.Concat(r.Summary.Findings, r.Neighbors.Findings(), r.Place.Findings())
	const fromPart = 0.01 // of the measured phase
	if share := r.Summary.Throttled(); share >= fromPart {
		list = append(list, finding.HeldBack(100*share))
	}
	return list
}

// MaxLabels is how many points of several parameters are named; of more there is only the number.
const MaxLabels = 4

// Place names some points, given by their parameters, of so many that were measured: rowsPerCommit=1, 2, 4. It is empty for all.
func Place(some []map[string]string, measured int) string {
	var names, values []string
	for _, parameters := range some {
		names = append(names, Label(parameters))
		for _, value := range parameters {
			values = append(values, value)
		}
	}
	switch {
	case len(some) == measured || len(some) == 0:
		return ""
	case len(values) > len(names) && len(names) > MaxLabels:
		return fmt.Sprintf("%d of %d points", len(names), measured)
	case len(values) > len(names):
		return strings.Join(names, "; ")
	}
	name, _, _ := strings.Cut(names[0], "=")
	return name + "=" + strings.Join(values, ", ")
}
