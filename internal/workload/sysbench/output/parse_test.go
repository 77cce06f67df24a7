// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func read(t testing.TB, name string) *Report {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
	return Parse(string(data))
}

// What sysbench says of a checkpoint is no report of the whole, even if it is the last that it says.
func TestCheckpointIsNoResult(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/1.0-full.txt"))(t)
	text, _, found := strings.Cut(string(data), "[ 3s ]")
	if r := Parse(text); !found || r.Final != nil || len(r.Intervals) != 2 {
		t.Errorf("final %+v, intervals %+v", r.Final, r.Intervals)
	}
}

// Lines that are not read are not taken for others, wherever they stand: what a script's hooks print in place of
// intervals.
func TestLinesThatNobodyReads(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/1.1-full.txt"))(t)
	want := Parse(string(data))
	for _, line := range []string{
		"1,4,151.87,3056.32,2140.12,608.47,307.73,9.91,0.00,0.00",
		"{", `"time":    1,`, `"threads": 4,`, `"total": 3056.32,`, `"latency": 9.91,`, `"reconnects": 0.00`, "}",
	} {
		for _, after := range []string{
			"Threads started!\n", "SQL statistics:\n", "Throughput:\n", "Latency (ms):\n", "Threads fairness:\n",
		} {
			if !strings.Contains(string(data), after) {
				t.Fatalf("%q is not there", after)
			}
			got := Parse(strings.Replace(string(data), after, after+line+"\n", 1))
			must.Same(t, fmt.Sprintf("%s after %q", line, after), want, got, cmpopts.IgnoreUnexported(Summary{}))
		}
	}
}

func TestSuppressed(t *testing.T) {
	for _, cut := range []string{"General statistics:", "total number of events"} {
		data := must.Get(os.ReadFile("testdata/1.1-full.txt"))(t)
		text, _, _ := strings.Cut(strings.Replace(string(data), "Throughput:", "General statistics:", 1), cut)
		if f := Parse(text).Final; f != nil {
			t.Errorf("an output that ends before %q has the final report %+v", cut, f)
		}
	}
}

func TestPercentiles(t *testing.T) {
	r := read(t, "1.0-full.txt")
	for percent, want := range map[float64]float64{5: 4.91, 50: 5, 95: 5, 99: 5, 99.9: 16.119, 100: 16.119} {
		if got, known := Percentile(r.Final.Histogram, percent); got != want || !known {
			t.Errorf("p%g is %g, want %g", percent, got, want)
		}
	}
	// What a real sysbench printed agrees with itself: it says 15.83 ms.
	actual := read(t, "1.0.20-real.txt")
	if own, _ := Percentile(actual.Final.Histogram, 99); math.Abs(own-15.83) > 0.01 ||
		HistogramEvents(actual.Final.Histogram) != actual.Final.Events || actual.Final.Events != 304 {
		t.Errorf("p99 is %g of %d events, the histogram has %d", own, actual.Final.Events, HistogramEvents(actual.Final.Histogram))
	}
	if _, known := Percentile(nil, 50); known {
		t.Error("nothing has a percentile")
	}
}

func TestCountsAndChecks(t *testing.T) {
	glued := Parse("benchrun: new_order=14 payment=13benchrun: new_order=1benchrun: payment=2\n\n\nbenchrun: payment=3\nbenchrun: it was cold\nbenchrun: payment=1234567890123456\n")
	must.Same(t, "counts of threads that ended at the same time", map[string]int64{"new_order": 15, "payment": 18}, glued.Counts)
	got := ParseChecks("sysbench 1.0.20\n\nCheck 1, warehouse: 3 PASSED\nCheck 2, warehouse: 3 FAILED!!! 7 of 10\nChecking\nCheck 3: PASSED 10 warehouses\n")
	want := []result.Check{
		{Name: "Check 1, warehouse: 3", Passed: true},
		{Name: "Check 2, warehouse: 3", Detail: "7 of 10"},
		{Name: "Check 3", Passed: true, Detail: "10 warehouses"},
	}
	must.Same(t, "checks", want, got)
}

// FuzzParse looks for output that panics, or is read as something that cannot be.
func FuzzParse(f *testing.F) {
	files := must.Get(filepath.Glob("testdata/*.txt"))(f)
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(f)
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, output string) {
		r := Parse(output)
		if len(r.Errors) > maxErrors || len(r.Counts) > maxCounts {
			t.Errorf("%d errors, %d counts", len(r.Errors), len(r.Counts))
		}
		// JSON has no numbers that are none: Marshal would object.
		data := must.Get(json.Marshal(r))(t)
		var again Report
		must.Do(t, json.Unmarshal(data, &again))
		for _, i := range r.Intervals {
			if (i.Events == nil || *i.Events == 0) && i.LatencyMillis != nil {
				t.Errorf("nothing finished, and took %g ms", *i.LatencyMillis)
			}
		}
		if r.Final != nil {
			last := math.Inf(-1)
			for _, b := range r.Final.Histogram {
				last = max(last, b.Millis)
			}
			if p, known := Percentile(r.Final.Histogram, 99); known && p > last {
				t.Errorf("p99 %g is above the largest value %g", p, last)
			}
		}
		ParseChecks(output)
	})
}

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
	must.Same(t, "merged", want, Merge([]*Report{one, two}, 2.7), cmpopts.IgnoreUnexported(Summary{}))
	if got := Merge([]*Report{one}, 5); got != one {
		t.Error("one report is not itself")
	}
}
