// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"math"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestRecorderSums(t *testing.T) {
	r := newRecorder(NewClock(time.Time{}))
	ms := time.Millisecond
	r.Insert(0, 500*ms, 2)
	r.Commit(500*ms, 1000*ms)     // ends with the first interval
	r.Insert(1000*ms, 3500*ms, 3) // a stall: the second and third interval have nothing
	r.Commit(3500*ms, 3700*ms)
	want := result.Totals{Rows: 5, Transactions: 2, Statements: 4}
	must.Same(t, "totals", want, r.Totals())
	series := r.Series()
	wantSeries := []result.Interval{
		{EndMicros: 1_000_000, Rows: 2, Transactions: 1, MaxMicros: 500_000},
		{EndMicros: 2_000_000},
		{EndMicros: 3_000_000},
		{EndMicros: 3_700_000, Rows: 3, Transactions: 1, MaxMicros: 2_500_000},
	}
	must.Same(t, "series", wantSeries, series)
}

// The longest latency of an interval is that of whatever took longest in it, and nothing else happens to what is recorded.
func TestRecorderOperations(t *testing.T) {
	ms := time.Millisecond
	for operation, tc := range map[string]struct {
		record func(r *Recorder, began, ended time.Duration)
		want   result.Totals
	}{
		"insert":     {func(r *Recorder, b, e time.Duration) { r.Insert(b, e, 3) }, result.Totals{Statements: 1, Rows: 3}},
		"commit":     {(*Recorder).Commit, result.Totals{Statements: 1, Transactions: 1}},
		"delete":     {func(r *Recorder, b, e time.Duration) { r.Delete(b, e, 3) }, result.Totals{Statements: 1, RowsDeleted: 3}},
		"query":      {(*Recorder).Query, result.Totals{Statements: 1, Queries: 1}},
		"load":       {(*Recorder).Loaded, result.Totals{Statements: 1, Transactions: 1}},
		"wait":       {(*Recorder).Wait, result.Totals{}},
		"rolledBack": {(*Recorder).RolledBack, result.Totals{Errors: 1}},
	} {
		r := newRecorder(NewClock(time.Time{}))
		tc.record(r, 5*ms, 9*ms)
		if diff := cmp.Diff(tc.want, r.Totals()); diff != "" || r.Ended() != 9*ms {
			t.Errorf("%s: ended at %s, totals (-want +got):\n%s", operation, r.Ended(), diff)
		}
		want := []result.Interval{{
			EndMicros: 9000, MaxMicros: 4000, Rows: tc.want.Rows, Transactions: tc.want.Transactions,
			RowsDeleted: tc.want.RowsDeleted, Queries: tc.want.Queries, Errors: tc.want.Errors,
		}}
		if diff := cmp.Diff(want, r.Series()); diff != "" {
			t.Errorf("%s: series (-want +got):\n%s", operation, diff)
		}
		all, err := r.Latencies()
		if err != nil || len(all) != 1 || all[0].Operation != operation || all[0].Count != 1 || all[0].MaxMicros < 4000 {
			t.Errorf("%s: latencies %+v, %v", operation, all, err)
		}
		// What another Pod recorded arrives whole.
		part := must.Get(r.Part(nil))(t)
		arrived := must.Get(part.Recorder())(t)
		arrived.Merge(r)
		if again, err := arrived.Latencies(); err != nil || again[0].Count != 2 || arrived.Totals().Errors != 2*tc.want.Errors {
			t.Errorf("%s: merged %+v, %v", operation, again, err)
		}
	}
}

// A statement that is a transaction by itself is one transaction, and no commit was waited for.
func TestRecorderCommitted(t *testing.T) {
	r := newRecorder(NewClock(time.Time{}))
	r.Insert(0, time.Second, 3)
	r.Committed()
	must.Same(t, "totals", result.Totals{Statements: 1, Rows: 3, Transactions: 1}, r.Totals())
	want := []result.Interval{{EndMicros: 1_000_000, Rows: 3, Transactions: 1, MaxMicros: 1_000_000}}
	must.Same(t, "series", want, r.Series())
	if all, err := r.Latencies(); err != nil || len(all) != 1 {
		t.Errorf("latencies %+v, %v", all, err)
	}
}

func TestRecorderLatencies(t *testing.T) {
	r := newRecorder(NewClock(time.Time{}))
	for i := range 1000 {
		r.Insert(0, time.Duration(i+1)*time.Microsecond, 1)
	}
	r.Insert(0, 0, 1)           // below the clock's resolution
	r.Insert(0, 2*time.Hour, 1) // beyond the histogram
	all, err := r.Latencies()
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	got := all[0]
	decoded, err := hdrhistogram.Decode([]byte(got.Histogram))
	if err != nil || decoded.TotalCount() != got.Count || decoded.ValueAtQuantile(99) != got.P99Micros {
		t.Errorf("the encoded histogram is another one: %v", err)
	}
	if got.Operation != "insert" || got.Count != 1002 || got.MinMicros != 1 || got.MaxMicros < maxLatencyMicros ||
		got.P50Micros < 499 || got.P50Micros > 502 || got.P999Micros != 1000 {
		t.Errorf("%+v", got)
	}
}

func TestRecorderMerge(t *testing.T) {
	a, b := newRecorder(NewClock(time.Time{})), newRecorder(NewClock(time.Time{}))
	a.Insert(0, time.Second, 1)
	b.Insert(0, 2*time.Second, 10)
	b.Commit(2*time.Second, 2500*time.Millisecond)
	a.Merge(b)
	must.Same(t, "totals", result.Totals{Rows: 11, Transactions: 1, Statements: 3}, a.Totals())
	want := []result.Interval{
		{EndMicros: 1_000_000, Rows: 1, MaxMicros: 1_000_000},
		{EndMicros: 2_000_000, Rows: 10, MaxMicros: 2_000_000},
		{EndMicros: 2_500_000, Transactions: 1, MaxMicros: 500_000},
	}
	must.Same(t, "series", want, a.Series())
	if a.histograms[insert].TotalCount() != 2 || a.histograms[commit].TotalCount() != 1 {
		t.Error("histograms were not added")
	}
}

// However long a run takes, its series is bounded and loses nothing but resolution.
func TestSeriesIsBounded(t *testing.T) {
	const hours = 11
	long, short := newSeries(), newSeries()
	for second := range int64(hours * 3600) {
		long.at(time.Duration(second+1) * time.Second).Rows += second
	}
	short.at(500 * time.Millisecond).Rows = 7
	short.merge(&long)
	rows, end := int64(0), int64(0)
	for _, i := range short.cut(hours * time.Hour) {
		if i.EndMicros <= end {
			t.Fatalf("interval %d ends before the one before it", i.EndMicros)
		}
		rows, end = rows+i.Rows, i.EndMicros
	}
	if n := int64(hours * 3600); rows != n*(n-1)/2+7 {
		t.Errorf("%d rows", rows)
	}
	if len(short.intervals) > maxIntervals || end != (hours*time.Hour).Microseconds() {
		t.Errorf("%d intervals, the last one ends at %d", len(short.intervals), end)
	}
}

func TestRecorderDoesNotAllocate(t *testing.T) {
	r := newRecorder(NewClock(time.Time{}))
	if allocs := testing.AllocsPerRun(1000, func() { now := r.Now(); r.Insert(now, r.Now(), 1); r.Commit(now, r.Now()) }); allocs != 0 {
		t.Errorf("%g allocations", allocs)
	}
}

// A transaction of an offered rate is measured from when it was due, and so is for how long it was not begun; it is no statement.
func TestTransactionOfARate(t *testing.T) {
	r, other := newRecorder(NewClock(time.Time{})), newRecorder(NewClock(time.Time{}))
	r.Transaction(1*time.Second, 3*time.Second, 7*time.Second)
	other.Transaction(2*time.Second, 5*time.Second, 6*time.Second)
	r.Merge(other)
	p := must.Get(r.Part(nil))(t)
	again := must.Get(p.Recorder())(t)
	for _, r := range []*Recorder{r, again} {
		longest := map[string]float64{}
		latencies := must.Get(r.Latencies())(t)
		for _, l := range latencies {
			longest[l.Operation] = math.Round(float64(l.MaxMicros) / 1e6)
		}
		if longest["transaction"] != 6 || longest["queued"] != 3 || r.Began() != 5*time.Second || r.Totals().Statements != 0 {
			t.Errorf("longest %v, the last one began at %s, %+v", longest, r.Began(), r.Totals())
		}
	}
}

// A series that is to share a document with others has longer intervals, and adds up to the same.
func TestShorten(t *testing.T) {
	r := newRecorder(NewClock(time.Time{}))
	for i := range 100 {
		at := time.Duration(i) * time.Second
		r.Insert(at, at+500*time.Millisecond, 3)
	}
	r.Shorten(30, 10)
	rows, counted := int64(0), int64(0)
	series, latencies := r.Series(), r.OverTime()
	for _, interval := range series {
		rows += interval.Rows
	}
	for _, l := range latencies {
		counted += l.Count
	}
	if len(series) != 25 || len(latencies) != 7 || rows != 300 || counted != 100 || series[0].EndMicros != 4e6 || series[24].EndMicros != 99_500_000 {
		t.Errorf("%d intervals with %d rows, %d with %d latencies: %+v", len(series), rows, len(latencies), counted, series[24])
	}
	r.Shorten(0, 0)
	if len(r.Series()) != 1 || len(r.OverTime()) != 1 {
		t.Errorf("%d intervals, %d with latencies", len(r.Series()), len(r.OverTime()))
	}
}
