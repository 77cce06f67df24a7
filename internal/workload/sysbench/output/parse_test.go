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

	"github.com/google/go-cmp/cmp"
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

// published are the figures of the publication, read by a person.
type published struct {
	Transactions, Queries, Ignored int64
	Seconds, Min, Avg, Max         float64
}

func TestPublishedFigures(t *testing.T) {
	for name, want := range map[string]published{
		"t1": {9649, 277474, 43, 301.7092, 8.30, 1995.94, 17905.03},
		"t2": {53411, 1520888, 260, 300.3966, 1.62, 359.68, 8907.32},
		"t3": {53399, 1515192, 209, 300.3952, 1.18, 359.74, 7360.77},
		"t4": {59777, 1701747, 280, 300.4008, 1.06, 321.37, 5131.15},
	} {
		f := read(t, "published-"+name+".txt").Final
		if f == nil || f.SQL == nil {
			t.Errorf("%s: no final report", name)
			continue
		}
		got := published{
			f.SQL.Transactions, f.SQL.Queries, f.SQL.IgnoredErrors, *f.Seconds, *f.Latency.Min, *f.Latency.Avg, *f.Latency.Max,
		}
		if diff := cmp.Diff(want, got); diff != "" || f.Events != want.Transactions || f.SQL.Reconnects != 0 {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBothVersions(t *testing.T) {
	old, recent := read(t, "1.0-full.txt"), read(t, "1.1-full.txt")
	if old.Version != "1.0.20" || recent.Version != "1.1.0-df89d34" || old.Threads != 4 || recent.Threads != 8 {
		t.Errorf("versions %q with %d threads, %q with %d", old.Version, old.Threads, recent.Version, recent.Threads)
	}
	// What a checkpoint reports is not in what comes after it.
	if f := old.Final; f.Events != 320 || f.Unfinished != 3 || *f.Seconds != 2.0047 || HistogramEvents(f.Histogram) != 320 ||
		*f.Latency.Min != 4.86 || *f.Latency.Sum != 1606.40 || len(old.Errors) != 0 {
		t.Errorf("final %+v, errors %q", f, old.Errors)
	}
	must.Same(t, "SQL statistics", &SQL{Queries: 6418, Transactions: 320, IgnoredErrors: 1}, old.Final.SQL)
	if f := recent.Final; f.Events != 36400 || f.SQL.Transactions != 36400 || f.SQL.Queries != 728000 || *f.Seconds != 20.0029 ||
		*f.Latency.Avg != 4.39 {
		t.Errorf("final %+v", f)
	}
}

// What sysbench says of a checkpoint is no report of the whole, even if it is the last that it says.
func TestCheckpointIsNoResult(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/1.0-full.txt"))(t)
	text, _, found := strings.Cut(string(data), "[ 3s ]")
	if r := Parse(text); !found || r.Final != nil || len(r.Intervals) != 2 {
		t.Errorf("final %+v, intervals %+v", r.Final, r.Intervals)
	}
}

func TestIntervals(t *testing.T) {
	for file, want := range map[string]int{
		"1.0-full.txt": 3, "1.1-full.txt": 1, "report-default.txt": 2, "cpu.txt": 2, "suppressed.txt": 1, "1.0.20-real.txt": 3,
		"1.1-shutdown.txt": 2, "fileio.txt": 0, "refused.txt": 0,
	} {
		must.Same(t, file, want, len(read(t, file).Intervals))
	}
	full := read(t, "1.0-full.txt").Intervals
	if stall := full[1]; stall.Second != 2 || *stall.Events != 0 || stall.LatencyMillis != nil {
		t.Errorf("a stall is read as %+v", stall)
	}
	if i := full[0]; i.Second != 1 || *i.Events != 151.87 || *i.LatencyMillis != 9.91 {
		t.Errorf("interval %+v", i)
	}
	if i := read(t, "report-default.txt").Intervals[0]; *i.Events != 31.98 || *i.LatencyMillis != 61.08 {
		t.Errorf("without the colon: %+v", i)
	}
	if i := read(t, "cpu.txt").Intervals; *i[0].Events != 1071.52 || *i[0].LatencyMillis != 0.97 || i[1].LatencyMillis != nil {
		t.Errorf("without SQL: %+v", i)
	}
}

// How many events wait is what the last interval says: with two threads or with SQL, and not at all without a rate.
func TestQueue(t *testing.T) {
	for file, want := range map[string]*int64{
		"1.0-full.txt": ptr.To[int64](2), "1.0.20-real.txt": ptr.To[int64](0), "cpu.txt": ptr.To[int64](3), "published-t1.txt": nil,
	} {
		must.Same(t, file, want, read(t, file).Queue)
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

// A test that is ended by force has a report, which is not one of a result: it says so twice.
func TestForcedShutdown(t *testing.T) {
	r := read(t, "1.1-shutdown.txt")
	if len(r.Errors) != 1 || !strings.HasSuffix(r.Errors[0], "forcing shutdown...") || r.Final == nil || r.Final.Unfinished != 2 {
		t.Errorf("errors %q, final %+v", r.Errors, r.Final)
	}
	if f := r.Final; f.Events != 0 || f.SQL.Queries != 2 || *f.Seconds != 2.0002 || r.Threads != 2 {
		t.Errorf("final %+v of %d threads", f, r.Threads)
	}
	if l := r.Final.Latency; l.Avg != nil || *l.Min != 0 || *l.Sum != 0 {
		t.Errorf("latency of nothing: %+v", l)
	}
	if i := r.Intervals[0]; i.Second != 1 || i.Events != nil || i.LatencyMillis != nil {
		t.Errorf("numbers that are none: %+v", i)
	}
	if i := r.Intervals[1]; *i.Events != 48.98 || i.LatencyMillis != nil {
		t.Errorf("without percentiles: %+v", i)
	}
}

// Throughput is a heading of its own in file I/O of 1.0, and no report.
func TestFileIO(t *testing.T) {
	if f := read(t, "fileio.txt").Final; f == nil || f.SQL != nil || f.Events != 6943 || *f.Seconds != 2.0008 || *f.Latency.Max != 7.05 {
		t.Errorf("final %+v", f)
	}
}

func TestRefused(t *testing.T) {
	if r := read(t, "refused.txt"); r.Final != nil || len(r.Errors) != 4 || !strings.Contains(r.Errors[1], "Access denied for user") {
		t.Errorf("final %+v, errors %q", r.Final, r.Errors)
	}
}

func TestSuppressed(t *testing.T) {
	r := read(t, "suppressed.txt")
	if r.Final != nil || len(r.Errors) != 2 || !strings.Contains(r.Errors[0], "error 2013") {
		t.Errorf("final %+v, errors %q", r.Final, r.Errors)
	}
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
	must.Same(t, "counts", map[string]int64{"new_order": 29, "payment": 25}, read(t, "report-default.txt").Counts)
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
