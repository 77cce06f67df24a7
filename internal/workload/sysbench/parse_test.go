// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func read(t testing.TB, name string) *Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return Parse(string(data))
}

// TestGolden keeps everything that is read from each kind of output. The tests below say which of it is right and why.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 11 {
		t.Fatalf("%d outputs, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(read(t, name), "", " ")
			if err != nil {
				t.Fatal(err)
			}
			testutil.Golden(t, strings.TrimSuffix(name, ".txt")+".json", append(got, '\n'))
		})
	}
}

// published are the figures of the publication, read by a person.
type published struct {
	Transactions, Queries, Reads, Writes, Others, Ignored int64
	PerSecond, Seconds, Min, Avg, Max, P95, EventsAvg     float64
}

func TestPublishedFigures(t *testing.T) {
	for name, want := range map[string]published{
		"t1": {9649, 277474, 126822, 131226, 19426, 43, 31.98, 301.7092, 8.30, 1995.94, 17905.03, 6135.91, 150.7656},
		"t2": {53411, 1520888, 694080, 719858, 106950, 260, 177.80, 300.3966, 1.62, 359.68, 8907.32, 909.80, 834.5469},
		"t3": {53399, 1515192, 691477, 716789, 106926, 209, 177.76, 300.3952, 1.18, 359.74, 7360.77, 926.33, 834.3594},
		"t4": {59777, 1701747, 776074, 805991, 119682, 280, 198.99, 300.4008, 1.06, 321.37, 5131.15, 831.46, 934.0156},
	} {
		f := read(t, "published-"+name+".txt").Final
		if f == nil || f.SQL == nil {
			t.Errorf("%s: no final report", name)
			continue
		}
		got := published{
			f.SQL.Transactions.Total, f.SQL.Queries, f.SQL.Reads, f.SQL.Writes, f.SQL.Others, f.SQL.IgnoredErrors.Total,
			*f.SQL.Transactions.PerSecond, *f.Seconds, *f.Latency.Min, *f.Latency.Avg, *f.Latency.Max, *f.Latency.Value,
			*f.Fairness.EventsAvg,
		}
		if diff := cmp.Diff(want, got); diff != "" || f.Events != want.Transactions || f.Latency.Percentile != 95 {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBothVersions(t *testing.T) {
	old, recent := read(t, "1.0-full.txt"), read(t, "1.1-full.txt")
	if old.Version != "1.0.20" || old.LuaJIT != "2.1.0-beta3" || recent.Version != "1.1.0-df89d34" {
		t.Errorf("versions %q, %q", old.Version, recent.Version)
	}
	seed, shutdown := int64(42), int64(12)
	want := Options{
		Threads: 4, Rate: 150, ReportSeconds: 1, CheckpointSeconds: []int64{2, 4}, Debug: true, Validation: true,
		Seed: &seed, ForcedShutdownSeconds: &shutdown,
	}
	if diff := cmp.Diff(want, old.Options); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Options{Threads: 8, WarmupSeconds: 5, ReportSeconds: 10}, recent.Options); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if len(old.Checkpoints) != 1 || old.Checkpoints[0].Second != 2 || old.Checkpoints[0].Events != 10 ||
		HistogramEvents(old.Checkpoints[0].Histogram) != 10 || old.Final.Events != 320 || old.Final.Unfinished != 3 {
		t.Errorf("checkpoints %+v, final %+v", old.Checkpoints, old.Final)
	}
	if f := recent.Final; *f.EventsPerSecond != 1819.7305 || *f.Seconds != 20.0029 || f.Latency.Percentile != 99 {
		t.Errorf("final %+v", f)
	}
}

func TestIntervals(t *testing.T) {
	for file, want := range map[string]int{
		"1.0-full.txt": 3, "1.1-full.txt": 1, "report-default.txt": 2, "csv.txt": 3, "json.txt": 2, "cpu.txt": 2, "suppressed.txt": 1,
		"1.1-shutdown.txt": 2, "fileio.txt": 0, "refused.txt": 0,
	} {
		if got := len(read(t, file).Intervals); got != want {
			t.Errorf("%s: %d intervals, want %d", file, got, want)
		}
	}
	full := read(t, "1.0-full.txt").Intervals
	if stall := full[1]; *stall.Events != 0 || stall.LatencyMillis != nil || *stall.QueueLength != 148 || *stall.Concurrency != 4 {
		t.Errorf("a stall is read as %+v", stall)
	}
	if i := full[0]; *i.Events != 151.87 || *i.Others != 307.73 || *i.LatencyMillis != 9.91 || i.Percentile != 95 {
		t.Errorf("interval %+v", i)
	}
	if i := read(t, "report-default.txt").Intervals[0]; *i.Errors != 0.14 || *i.Reconnects != 0 {
		t.Errorf("without the colon: %+v", i)
	}
	if i := read(t, "csv.txt").Intervals[2]; i.Events != nil || i.Queries != nil || i.LatencyMillis != nil || i.Errors != nil || *i.Reconnects != 0 {
		t.Errorf("numbers that are none: %+v", i)
	}
	if i := read(t, "json.txt").Intervals[1]; i.Second != 2 || i.Events != nil || i.Queries != nil || *i.Writes != 0 {
		t.Errorf("numbers that are none: %+v", i)
	}
	if i := read(t, "cpu.txt").Intervals; *i[0].Events != 1071.52 || i[0].Queries != nil || *i[0].QueueLength != 3 || i[1].LatencyMillis != nil {
		t.Errorf("without SQL: %+v", i)
	}
}

// A test that is ended by force has a report, which is not one of a result: it says so twice.
func TestForcedShutdown(t *testing.T) {
	r := read(t, "1.1-shutdown.txt")
	if len(r.Errors) != 1 || !strings.HasSuffix(r.Errors[0], "forcing shutdown...") || r.Final == nil || r.Final.Unfinished != 2 {
		t.Errorf("errors %q, final %+v", r.Errors, r.Final)
	}
	if len(r.Checkpoints) != 1 || r.Checkpoints[0].Events != 50 || *r.Checkpoints[0].Seconds != 2.0007 || r.Checkpoints[0].Unfinished != 0 {
		t.Errorf("checkpoints %+v", r.Checkpoints)
	}
	if l := r.Final.Latency; l.Percentile != 0 || l.Value != nil || l.Avg != nil || *l.Min != 0 {
		t.Errorf("latency without percentile: %+v", l)
	}
	if o := r.Options; o.WarmupSeconds != 1 || o.Rate != 50 || *o.ForcedShutdownSeconds != 4 {
		t.Errorf("options %+v", o)
	}
	if i := r.Intervals[0]; i.Events != nil || i.Queries != nil || i.Reads != nil || i.Others != nil || i.Errors != nil || *i.QueueLength != 51 {
		t.Errorf("numbers that are none: %+v", i)
	}
	if i := r.Intervals[1]; *i.Events != 48.98 || i.LatencyMillis != nil {
		t.Errorf("without percentiles: %+v", i)
	}
}

// Throughput is a heading of its own in file I/O of 1.0, and no report.
func TestFileIO(t *testing.T) {
	if f := read(t, "fileio.txt").Final; f == nil || f.SQL != nil || f.Events != 6943 || *f.Seconds != 2.0008 || *f.Latency.Value != 0.55 {
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
		data, err := os.ReadFile("testdata/1.1-full.txt")
		if err != nil {
			t.Fatal(err)
		}
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
	if own, _ := Percentile(r.Final.Histogram, float64(r.Final.Latency.Percentile)); own != *r.Final.Latency.Value {
		t.Errorf("sysbench says %g, its histogram %g", *r.Final.Latency.Value, own)
	}
	// What a real sysbench printed agrees with itself.
	actual := read(t, "1.0.20-real.txt")
	if own, _ := Percentile(actual.Final.Histogram, 99); math.Abs(own-*actual.Final.Latency.Value) > 0.01 ||
		HistogramEvents(actual.Final.Histogram) != actual.Final.Events || len(actual.Intervals) != 3 {
		t.Errorf("sysbench says %g of %d, its histogram %g of %d", *actual.Final.Latency.Value, actual.Final.Events, own,
			HistogramEvents(actual.Final.Histogram))
	}
	if _, known := Percentile(nil, 50); known {
		t.Error("nothing has a percentile")
	}
}

func TestCountsAndChecks(t *testing.T) {
	if diff := cmp.Diff(map[string]int64{"new_order": 29, "payment": 25}, read(t, "report-default.txt").Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	glued := Parse("benchrun: new_order=14 payment=13benchrun: new_order=1benchrun: payment=2\n\n\nbenchrun: payment=3\nbenchrun: it was cold\nbenchrun: payment=1234567890123456\n")
	if diff := cmp.Diff(map[string]int64{"new_order": 15, "payment": 18}, glued.Counts); diff != "" {
		t.Errorf("counts of threads that ended at the same time (-want +got):\n%s", diff)
	}
	got := ParseChecks("sysbench 1.0.20\n\nCheck 1, warehouse: 3 PASSED\nCheck 2, warehouse: 3 FAILED!!! 7 of 10\nChecking\nCheck 3: PASSED 10 warehouses\n")
	want := []Check{
		{Name: "Check 1, warehouse: 3", Passed: true},
		{Name: "Check 2, warehouse: 3", Detail: "7 of 10"},
		{Name: "Check 3", Passed: true, Detail: "10 warehouses"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

// FuzzParse looks for output that panics, or is read as something that cannot be.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, output string) {
		r := Parse(output)
		if len(r.Errors) > maxErrors || len(r.Counts) > maxCounts {
			t.Errorf("%d errors, %d counts", len(r.Errors), len(r.Counts))
		}
		// JSON has no numbers that are none: Marshal would object.
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var again Report
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
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
