// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Pilots say how many rows they decided for the trials of their point.
func (r *Report) Pilots() []string {
	var list []string
	for _, d := range r.Records {
		if d.Outcome == result.OutcomePilot {
			list = append(list, fmt.Sprintf("%s%d rows per trial; the pilot inserted %d in %.1f s", label(d.Parameters), d.Rows,
				d.Summary.Totals.Rows, float64(d.Summary.Totals.Micros)/1e6))
		}
	}
	return list
}

func (r *Report) disturbances() []string {
	var list []string
	for _, d := range r.Disturbed() {
		list = append(list, fmt.Sprintf("trial %d, attempt %d, %s%s: %s: %s", d.Trial, d.Attempt, label(d.Parameters), d.Outcome,
			d.Cause, d.Message))
	}
	return list
}

func label(parameters map[string]string) string {
	if len(parameters) == 0 {
		return ""
	}
	return stats.Label(parameters) + ": "
}

// median is that of some values for people; empty if there are none.
func median(values []float64) string { return MedianCell(values).Text }
