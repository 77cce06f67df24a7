// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// trialOf has so many commits of each latency.
func trialOf(t *testing.T, counts map[int64]int64) *result.Record {
	t.Helper()
	const highest, digits = 1_000_000, 3
	h := hdrhistogram.New(1, highest, digits)
	for micros, n := range counts {
		must.Do(t, h.RecordValues(micros, n))
	}
	encoded := must.Get(h.Encode(hdrhistogram.V2CompressedEncodingCookieBase))(t)
	return &result.Record{Summary: &result.Summary{Latencies: []result.Latency{{
		Operation: "commit", Count: h.TotalCount(), P50Micros: h.ValueAtQuantile(50), P99Micros: h.ValueAtQuantile(99), Histogram: string(encoded),
	}}}}
}

// One slow trial of three decides the 99th percentile of all commits, and not the median of the percentiles.
func TestLatencyOfMergedHistograms(t *testing.T) {
	fast, slow := map[int64]int64{100: 1000}, map[int64]int64{100: 900, 900: 100}
	records := []*result.Record{trialOf(t, fast), trialOf(t, fast), trialOf(t, slow)}
	l, found := LatencyOf(records, "commit")
	if want := (Latency{P50Micros: 100, P99Micros: 900, Merged: true}); !found || l != want {
		t.Errorf("%+v, want %+v", l, want)
	}
	records[0].Summary.Latencies[0].Histogram = ""
	l, _ = LatencyOf(records, "commit")
	must.Same(t, "without one histogram", Latency{P50Micros: 100, P99Micros: 100}, l)
	records[0].Summary.Latencies[0].Histogram = "broken"
	if l, _ = LatencyOf(records, "commit"); l.Merged {
		t.Errorf("a broken histogram was merged: %+v", l)
	}
	if _, found := LatencyOf(records, "insert"); found {
		t.Error("a latency of what was not measured")
	}
}
