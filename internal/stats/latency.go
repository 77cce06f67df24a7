// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Latency of an operation at a point.
type Latency struct {
	P50Micros, P99Micros float64
	// Merged says that the percentiles are those of all trials' operations together. Otherwise a trial has no histogram, and they
	// are the medians of what each trial took from its own.
	Merged bool
}

// LatencyOf an operation in the trials of a point; false if none has one.
func LatencyOf(records []*result.Record, operation string) (Latency, bool) {
	var all *hdrhistogram.Histogram
	var p50, p99 []float64
	merged := true
	for _, r := range records {
		i := slices.IndexFunc(r.Summary.Latencies, func(l result.Latency) bool { return l.Operation == operation && l.Count > 0 })
		if i < 0 {
			continue
		}
		l := &r.Summary.Latencies[i]
		p50, p99 = append(p50, float64(l.P50Micros)), append(p99, float64(l.P99Micros))
		h, err := DecodeHistogram(l.Histogram)
		switch {
		case l.Histogram == "" || err != nil:
			merged = false
		case all == nil:
			all = h
		default:
			merged = merged && all.Merge(h) == 0
		}
	}
	switch {
	case len(p50) == 0:
		return Latency{}, false
	case !merged:
		return Latency{P50Micros: Summarize(p50).Median, P99Micros: Summarize(p99).Median}, true
	}
	const median, high = 50, 99
	return Latency{
		P50Micros: float64(all.ValueAtQuantile(median)), P99Micros: float64(all.ValueAtQuantile(high)), Merged: true,
	}, true
}
