// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
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
		must.Same(t, operation+": series", want, r.Series())
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
	all := must.Get(r.Latencies())(t)
	must.Same(t, "latencies", 1, len(all))
	got := all[0]
	decoded, err := hdrhistogram.Decode([]byte(got.Histogram))
	if err != nil || decoded.TotalCount() != got.Count || decoded.ValueAtQuantile(99) != got.P99Micros {
		t.Errorf("the encoded histogram is another one: %v", err)
	}
	if got.Operation != "insert" || got.Count != 1002 || got.MinMicros != 1 || got.MaxMicros < workload.MaxLatencyMicros ||
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
	r.Shorten(30)
	rows, series := int64(0), r.Series()
	for _, interval := range series {
		rows += interval.Rows
	}
	if len(series) != 25 || rows != 300 || series[0].EndMicros != 4e6 || series[24].EndMicros != 99_500_000 {
		t.Errorf("%d intervals with %d rows: %+v", len(series), rows, series[24])
	}
	r.Shorten(0)
	must.Same(t, "intervals", 1, len(r.Series()))
}

// Buckets have no gap, each value is in one whose middle is nearly the value, and the largest latency is in the last.
func TestBuckets(t *testing.T) {
	last := bucketOf(1) - 1
	for v := int64(1); v <= workload.MaxLatencyMicros; v += 1 + v/1000 {
		b := bucketOf(v)
		if b != last && b != last+1 {
			t.Fatalf("%d µs is in bucket %d, the value before it in %d", v, b, last)
		}
		if off := float64(middleOf(b)-v) / float64(v); off < -0.016 || off > 0.016 {
			t.Fatalf("%d µs is in bucket %d, whose middle is %d", v, b, middleOf(b))
		}
		last = b
	}
	if last = bucketOf(workload.MaxLatencyMicros); last >= buckets || last < buckets-bucketsPerOctave {
		t.Errorf("the longest latency is in bucket %d of %d", last, buckets)
	}
}

// passed are milestones every 1,000 rows that saw so many rows a second, one statement of 500 rows after the other.
func passed(t *testing.T, rates ...int64) *Milestones {
	t.Helper()
	m := StartMilestones(t.Context(), nil, workload.Milestones{Every: 1000}, 1)
	at := time.Duration(0)
	for _, rate := range rates {
		at += 500 * time.Second / time.Duration(rate)
		m.pass(at, 500)
	}
	must.Do(t, m.Finish(at))
	return m
}

func TestMilestones(t *testing.T) {
	got := passed(t, 500, 500, 250, 250, 100).Results()
	want := []result.Milestone{
		{Rows: 1000, Micros: 2_000_000, RowsPerSecond: 500, OverallRowsPerSecond: 500, TableBytes: -1, IndexBytes: -1},
		{Rows: 2000, Micros: 6_000_000, RowsPerSecond: 250, OverallRowsPerSecond: 2000. / 6, TableBytes: -1, IndexBytes: -1},
		{Rows: 2500, Micros: 11_000_000, RowsPerSecond: 100, OverallRowsPerSecond: 2500. / 11, TableBytes: -1, IndexBytes: -1},
	}
	must.Same(t, "", want, got)
}

// A client that comes late with an answer that was early reaches a milestone after the one before, not before it.
func TestMilestonesAscend(t *testing.T) {
	m := StartMilestones(t.Context(), nil, workload.Milestones{Every: 1000}, 1)
	m.pass(3*time.Second, 1000)
	m.pass(2*time.Second, 1000)
	m.pass(4*time.Second, 500)
	must.Do(t, m.Finish(4*time.Second))
	var got []int64
	for _, p := range m.Results() {
		got = append(got, p.Micros)
	}
	must.Same(t, "times", []int64{3_000_000, 3_000_000, 4_000_000}, got)
}

// The terminal rate is over half to one and a half of the usual distance, whatever is left over at the end.
func TestTerminalRate(t *testing.T) {
	for _, tc := range []struct {
		rates []int64
		want  float64
	}{
		{[]int64{500, 500, 250, 250}, 250},
		{[]int64{500, 500, 250, 250, 100}, 100},
		{[]int64{500}, 500},
		{nil, 0},
	} {
		must.Same(t, fmt.Sprint(tc.rates), tc.want, passed(t, tc.rates...).TerminalRate())
	}
	m := StartMilestones(t.Context(), nil, workload.Milestones{Every: 1000}, 1)
	for i, rows := range []int64{1000, 1000, 10} {
		m.pass(time.Duration(i+1)*time.Second, rows)
	}
	if err := m.Finish(3 * time.Second); err != nil || m.TerminalRate() != 505 {
		t.Errorf("ten rows after the last milestone: %g rows/s, %v; want those of 1,010 rows", m.TerminalRate(), err)
	}
}

func TestMilestonesWithoutAny(t *testing.T) {
	m := StartMilestones(t.Context(), nil, workload.Milestones{}, 1)
	if m != nil || m.Finish(0) != nil || m.Results() != nil {
		t.Error("milestones that nobody asked for")
	}
}

// A statement that passes several milestones is one point; sizes that cannot be had are an error.
func TestMilestonesSizes(t *testing.T) {
	m := StartMilestones(t.Context(), nil, workload.Milestones{Every: 1000}, 1)
	requested := 0
	m.sizes = func() (int64, int64, error) {
		if requested++; requested == 3 {
			return -1, -1, errors.New("no such table")
		}
		return int64(requested), 7, nil
	}
	for i := range 4 {
		m.pass(time.Duration(i+1)*time.Second, 2500)
	}
	if err := m.Finish(5 * time.Second); err == nil || !strings.Contains(err.Error(), "no such table") || requested != 3 {
		t.Errorf("asked %d times: %v", requested, err)
	}
	var sizes []int64
	for _, p := range m.Results() {
		sizes = append(sizes, p.Rows, p.TableBytes)
	}
	must.Same(t, "rows and sizes", []int64{2500, 1, 5000, 2, 7500, -1, 10_000, -1}, sizes)
}

// What the server counts afterwards is asked for anew, and leaves the milestones as they were.
func TestMilestonesBytes(t *testing.T) {
	m := StartMilestones(t.Context(), nil, workload.Milestones{Every: 1000}, 1)
	counted := int64(16384)
	m.sizes = func() (int64, int64, error) { return counted, 2 * counted, nil }
	m.pass(time.Second, 1000)
	must.Do(t, m.Finish(time.Second))
	counted *= 10
	if bytes, err := m.Bytes(); err != nil || bytes != 30*16384 || m.Results()[0].TableBytes != 16384 {
		t.Errorf("%d bytes after %+v, %v", bytes, m.Results()[0], err)
	}
	m.sizes = func() (int64, int64, error) { return -1, -1, errors.New("no such table") }
	if bytes, err := m.Bytes(); err == nil || bytes != -1 {
		t.Errorf("%d bytes of no table, %v", bytes, err)
	}
}

// With several Pods, each has a milestone where its part of the rows is; what the others had inserted by then is between two
// milestones of theirs.
func TestMilestonesOfSeveralPods(t *testing.T) {
	m := StartMilestones(t.Context(), nil, workload.Milestones{Every: 1000}, 2)
	m.pass(time.Second, 500)
	m.pass(3*time.Second, 600)
	must.Do(t, m.Finish(3*time.Second))
	other := []partMilestone{{Rows: 400, Nanos: 2 * time.Second}, {Rows: 900, Nanos: 4 * time.Second}}
	must.Do(t, m.Merge([]*Part{{Milestones: other}}, 2000, 4*time.Second))
	var got []int64
	for _, p := range m.Results() {
		got = append(got, p.Rows, p.Micros)
	}
	must.Same(t, "rows and times", []int64{500 + 200, 1_000_000, 1100 + 650, 3_000_000, 2000, 4_000_000}, got)
	var none *Milestones
	must.Do(t, none.Merge(nil, 1, 1))
}
