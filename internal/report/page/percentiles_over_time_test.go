// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// latenciesOf operations in n intervals of a second.
func latenciesOf(n int, operations ...string) []result.IntervalLatency {
	var list []result.IntervalLatency
	for i := range int64(n) {
		for _, op := range operations {
			list = append(list, result.IntervalLatency{
				EndMicros: (i + 1) * 1_000_000, Operation: op, Count: 2, P50Micros: 1000, P95Micros: 2000 + i, P99Micros: 3000 - i, MaxMicros: 9000,
			})
		}
	}
	return list
}

// Of one series there are three percentiles, of several the 99th of each that has enough intervals. A transaction of an offered
// rate stands for what it consists of.
func TestPercentilesOverTime(t *testing.T) {
	two := latenciesOf(3, "insert", "commit")
	for name, tc := range map[string]struct {
		of   []timed
		want map[string]int
	}{
		"nothing":        {[]timed{{name: "a"}}, map[string]int{}},
		"too few":        {[]timed{{name: "a", latencies: two[:4]}}, map[string]int{}},
		"one":            {[]timed{{name: "a", latencies: two}}, map[string]int{"percentiles_over_time.commit": 3, "percentiles_over_time.insert": 3}},
		"one of two":     {[]timed{{name: "a"}, {name: "b", latencies: latenciesOf(3, "load")}}, map[string]int{"percentiles_over_time.load": 3}},
		"two":            {[]timed{{name: "a", latencies: latenciesOf(3, "load")}, {name: "b", latencies: latenciesOf(4, "load")}}, map[string]int{"percentiles_over_time.load": 2}},
		"transactions":   {[]timed{{name: "a", latencies: latenciesOf(3, "commit", "insert", "query", "transaction")}}, map[string]int{"percentiles_over_time.query": 3, "percentiles_over_time.transaction": 3}},
		"more than 1000": {[]timed{{name: "a", latencies: latenciesOf(1200, "load")}}, map[string]int{"percentiles_over_time.load": 3}},
	} {
		got := map[string]int{}
		for _, d := range percentilesOverTime(tc.of, "", "of it") {
			var text bytes.Buffer
			if err := d.SVG(&text); err != nil {
				t.Fatal(err)
			}
			got[d.Name] = strings.Count(text.String(), ` curve"`)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	lines := percentileLines([]timed{{latencies: two}}, "insert")
	if lines[0].Points[2].Y != 1 || lines[1].Points[2].Y != 2.002 || lines[2].Points[2].Y != 2.998 || lines[2].Points[2].X != 3 {
		t.Errorf("lines %v", lines)
	}
}

// What the page keeps of latencies over time is bounded, and hides no long one.
func TestThinnedLatencies(t *testing.T) {
	short := thinnedLatencies(latenciesOf(2*maxIntervals+1, "commit", "insert"))
	of := slices.IndexFunc(short, func(l result.IntervalLatency) bool { return l.Operation == "insert" })
	want := result.IntervalLatency{
		EndMicros: 3_000_000, Operation: "insert", Count: 6, P50Micros: 1000, P95Micros: 2002, P99Micros: 3000, MaxMicros: 9000,
	}
	if diff := cmp.Diff(want, short[of]); diff != "" || len(short) > 2*maxIntervals {
		t.Errorf("%d intervals, the first of inserts (-want +got):\n%s", len(short), diff)
	}
	count := int64(0)
	for _, l := range short {
		count += l.Count
	}
	if count != 2*2*(2*maxIntervals+1) || short[len(short)-1].EndMicros != (2*maxIntervals+1)*1_000_000 {
		t.Errorf("%d latencies until %d", count, short[len(short)-1].EndMicros)
	}
}
