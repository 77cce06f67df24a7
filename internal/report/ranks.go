// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// RatioText is a ratio with its interval, if it has one.
func RatioText(r stats.Ratio) string {
	switch {
	case math.IsNaN(r.Value) || math.IsInf(r.Value, 0):
		return ""
	case r.Low == r.High || !r.Bounded():
		return digits(r.Value)
	}
	return fmt.Sprintf("%s (%s–%s)", digits(r.Value), digits(r.Low), digits(r.High))
}

// digits of a ratio: two decimals, or as few as four digits leave.
func digits(v float64) string {
	if v >= 100 {
		return stats.Format(v)
	}
	return fmt.Sprintf("%.2f", v)
}

// RatioToFirst is the head of the column with the ratios of a table's points to the first one, and what they are ratios of.
func RatioToFirst(t *analysis.Table) (name, of string) {
	if slices.ContainsFunc(t.Rows, func(r analysis.Row) bool { return r.Summary.N >= stats.MinForRanks }) {
		return "ratio to first", RatioOfRounds
	}
	return "ratio to first", "of medians"
}

// Ranks says which point is the best, which ones may be as good, and by what; empty for one point.
func Ranks(points []stats.Point) string {
	if len(points) < 2 {
		return ""
	}
	if stats.InStages(points) {
		return "The stages are not ranked: each is another part of a trial's work."
	}
	standing := stats.Stand(points)
	others := standing.Others(points)
	if !stats.Ranked(points) {
		return fmt.Sprintf("No point is ranked best: it takes %d trials each to tell points apart.", stats.MinForRanks)
	}
	best := stats.Label(points[standing.Best].Parameters) + " has the best median"
	if others == "" {
		best = stats.Label(points[standing.Best].Parameters) + " is the best"
	} else {
		best += "; " + others
	}
	return best + ". Points are compared round by round (t test of the ratios) at 95% confidence across all of them, and so are " +
		"the ratios to the first point."
}
