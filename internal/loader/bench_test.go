// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"math"
	"slices"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

// side is one of those that are compared: operations per second, and microseconds of CPU time for each.
type side struct{ rate, cost float64 }

// medianOf is the median of values as people read it.
func medianOf(values []float64) string { return stats.Format(stats.Summarize(values).Median) }

func report(b *testing.B, name string, ratios []float64) {
	slices.Sort(ratios)
	n := len(ratios)
	b.ReportMetric((ratios[(n-1)/2]+ratios[n/2])/2, name+"-ratio-median")
	if k := rank(n); k > 0 {
		b.ReportMetric(ratios[k-1], name+"-ratio-low")
		b.ReportMetric(ratios[n-k], name+"-ratio-high")
	}
}

// rank is the largest k for which the k-th smallest and the k-th largest of n values enclose the median with a probability of
// 95%: the chance of fewer than k heads in n tosses is 2.5% at most. 0 if there is none.
func rank(n int) int {
	p := math.Pow(0.5, float64(n))
	below := 0.0
	for k := 0; ; k++ {
		if below += p; below > 0.025 {
			return k
		}
		p *= float64(n-k) / float64(k+1)
	}
}
