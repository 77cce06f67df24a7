// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func encoded(t *testing.T, highest int64, digits int) string {
	t.Helper()
	h := hdrhistogram.New(1, highest, digits)
	must.Do(t, h.RecordValue(42))
	text := must.Get(h.Encode(hdrhistogram.V2CompressedEncodingCookieBase))(t)
	return string(text)
}

// A short text of a histogram that would take much memory is not read: the percentiles of the trials are used instead.
func TestLatencyOfGiganticHistograms(t *testing.T) {
	huge := encoded(t, math.MaxInt64/2, 5)
	var records []*result.Record
	for trial := range 10 {
		r := testutil.Record(trial+1, 1, nil, 1000)
		r.Summary.Latencies = []result.Latency{{Operation: "commit", Count: 1, P50Micros: 42, Histogram: huge}}
		records = append(records, r)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, found := stats.LatencyOf(records, "commit")
	runtime.ReadMemStats(&after)
	if !found || l.Merged || l.P50Micros != 42 {
		t.Errorf("%t, %+v", found, l)
	}
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 10 {
		t.Errorf("%d MiB are allocated for texts of %d bytes", allocated, len(huge))
	}
}

func TestDecodeHistogram(t *testing.T) {
	h, err := stats.DecodeHistogram(encoded(t, 3_600_000_000, 3))
	if err != nil || h.TotalCount() != 1 || h.Max() != 42 {
		t.Errorf("%v, %v", h, err)
	}
	whole := encoded(t, 3_600_000_000, 3)
	for n := range len(whole) {
		if _, err := stats.DecodeHistogram(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are read", n, len(whole))
		}
	}
}
