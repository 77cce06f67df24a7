// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Remark is a warning, with the points that it is about.
type Remark struct {
	// Warning has the trials of all these points.
	stats.PointFinding
	// Points are their indexes.
	Points []int
}

// Remarks are the warnings of points, each once: those that differ only in what they measured are one.
func Remarks(points []stats.Point) []Remark {
	var all []stats.PointFinding
	var at []int
	for i := range points {
		for _, w := range points[i].Warnings {
			all, at = append(all, w), append(at, i)
		}
	}
	var list []Remark
	for _, m := range stats.MergePointFindings(all) {
		r := Remark{PointFinding: m.PointFinding}
		for _, i := range m.From {
			r.Points = append(r.Points, at[i])
		}
		list = append(list, r)
	}
	return list
}

// AllWarnings are what must be read with the numbers: about the run, and about its points.
func (r *Report) AllWarnings() []string { return slices.Concat(r.Warnings(), warnings(r.Points)) }

// AllWarnings are what must be read with the answer.
func (s *Comparison) AllWarnings() []string { return stats.ComparisonTexts(s.Findings) }

// warnings of all points, a line for each, with the points that it is about.
func warnings(points []stats.Point) []string {
	measured := 0
	for i := range points {
		if points[i].Summary.N > 0 {
			measured++
		}
	}
	var list []string
	for _, r := range Remarks(points) {
		var at []map[string]string
		for _, i := range r.Points {
			at = append(at, points[i].Parameters)
		}
		list = append(list, where(at, measured)+r.String())
	}
	return list
}

// maxLabels is how many points of several parameters are named; of more there is only the number.
const maxLabels = 4

// where is what to say before a text about some points, given by their parameters, of all that were measured.
func where(some []map[string]string, measured int) string {
	switch {
	case measured == 1:
		return ""
	case len(some) == measured:
		return "everywhere: "
	}
	return labels(some, measured) + ": "
}

// labels names some points of all that were measured: rowsPerCommit=1, 2, 4.
func labels(some []map[string]string, measured int) string {
	var names, values []string
	for _, parameters := range some {
		names = append(names, stats.Label(parameters))
		for _, value := range parameters {
			values = append(values, value)
		}
	}
	switch {
	case len(values) > len(names) && len(names) > maxLabels:
		return fmt.Sprintf("%d of %d points", len(names), measured)
	case len(values) > len(names):
		return strings.Join(names, "; ")
	}
	name, _, _ := strings.Cut(names[0], "=")
	return name + "=" + strings.Join(values, ", ")
}
