// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"
)

func TestMerge(t *testing.T) {
	one := &Report{
		Version: "1.0.20", Threads: 2, Counts: map[string]int64{"new_order": 3}, Queue: ptr.To[int64](7),
		Intervals: []Interval{{Second: 1, Events: ptr.To(5.0), LatencyMillis: ptr.To(2.0)}},
		Final: &Summary{
			Events: 10, Seconds: ptr.To(2.0), SQL: &SQL{Queries: 20, Transactions: 10, IgnoredErrors: 1},
			Latency: Latency{Min: ptr.To(1.0), Max: ptr.To(9.0), Sum: ptr.To(40.0)}, Histogram: []Bucket{{1, 4}, {9, 6}},
		},
	}
	two := &Report{
		Version: "1.0.20", Threads: 1, Counts: map[string]int64{"new_order": 4, "payment": 1}, Queue: ptr.To[int64](4),
		Intervals: []Interval{
			{Second: 1, Events: nil}, {Second: 2, Events: ptr.To(1.0), LatencyMillis: ptr.To(3.0)},
		},
		Final: &Summary{
			Events: 5, Seconds: ptr.To(2.5), SQL: &SQL{Queries: 2, Transactions: 5, Reconnects: 2},
			Latency: Latency{Min: ptr.To(0.5), Max: ptr.To(8.0), Sum: ptr.To(20.0)}, Histogram: []Bucket{{0.5, 1}, {1, 4}},
		},
	}
	want := &Report{
		Version: "1.0.20", Threads: 3, Counts: map[string]int64{"new_order": 7, "payment": 1}, Queue: ptr.To[int64](11),
		Intervals: []Interval{
			{Second: 1, Events: ptr.To(5.0), LatencyMillis: ptr.To(2.0)},
			{Second: 2, Events: ptr.To(1.0), LatencyMillis: ptr.To(3.0)},
		},
		Final: &Summary{
			Events: 15, Seconds: ptr.To(2.7),
			SQL:       &SQL{Queries: 22, Transactions: 15, IgnoredErrors: 1, Reconnects: 2},
			Latency:   Latency{Min: ptr.To(0.5), Avg: ptr.To(4.0), Max: ptr.To(9.0), Sum: ptr.To(60.0)},
			Histogram: []Bucket{{0.5, 1}, {1, 8}, {9, 6}},
		},
	}
	if diff := cmp.Diff(want, Merge([]*Report{one, two}, 2.7), cmpopts.IgnoreUnexported(Summary{})); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if got := Merge([]*Report{one}, 5); got != one {
		t.Error("one report is not itself")
	}
}
