// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func TestRecorderSums(t *testing.T) {
	r := newRecorder(time.Now())
	ms := time.Millisecond
	r.Insert(0, 500*ms, 2)
	r.Commit(500*ms, 1000*ms)     // ends with the first interval
	r.Insert(1000*ms, 3500*ms, 3) // a stall: the second and third interval have nothing
	r.Commit(3500*ms, 3700*ms)
	want := result.Totals{Rows: 5, Transactions: 2, Statements: 4}
	if diff := cmp.Diff(want, r.totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	series := r.series.cut(r.ended)
	wantSeries := []result.Interval{
		{EndMicros: 1_000_000, Rows: 2, Transactions: 1, MaxMicros: 500_000},
		{EndMicros: 2_000_000},
		{EndMicros: 3_000_000},
		{EndMicros: 3_700_000, Rows: 3, Transactions: 1, MaxMicros: 200_000},
	}
	if diff := cmp.Diff(wantSeries, series); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestRecorderLatencies(t *testing.T) {
	r := newRecorder(time.Now())
	for i := range 1000 {
		r.Insert(0, time.Duration(i+1)*time.Microsecond, 1)
	}
	r.Insert(0, 0, 1)           // below the clock's resolution
	r.Insert(0, 2*time.Hour, 1) // beyond the histogram
	all, err := r.latencies()
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
	a, b := newRecorder(time.Now()), newRecorder(time.Now())
	a.Insert(0, time.Second, 1)
	b.Insert(0, 2*time.Second, 10)
	b.Commit(2*time.Second, 2500*time.Millisecond)
	a.merge(b)
	if diff := cmp.Diff(result.Totals{Rows: 11, Transactions: 1, Statements: 3}, a.totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	want := []result.Interval{
		{EndMicros: 1_000_000, Rows: 1},
		{EndMicros: 2_000_000, Rows: 10},
		{EndMicros: 2_500_000, Transactions: 1, MaxMicros: 500_000},
	}
	if diff := cmp.Diff(want, a.series.cut(a.ended)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if a.insert.TotalCount() != 2 || a.commit.TotalCount() != 1 {
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
	r := newRecorder(time.Now())
	if allocs := testing.AllocsPerRun(1000, func() { now := r.Now(); r.Insert(now, r.Now(), 1); r.Commit(now, r.Now()) }); allocs != 0 {
		t.Errorf("%g allocations", allocs)
	}
}

func TestRestWatch(t *testing.T) {
	status := func(dirty, history string) map[string]string {
		return map[string]string{
			"Innodb_buffer_pool_pages_total": "8000", "Innodb_buffer_pool_pages_dirty": dirty,
			"Innodb_history_list_length": history, "Innodb_data_pending_writes": "0",
		}
	}
	for _, tc := range []struct {
		name  string
		polls []map[string]string
		// want is the poll at which the server is at rest, from 1; 0 is not at all.
		want int
	}{
		{"idle", []map[string]string{status("80", "100")}, 1},
		{"falls to little", []map[string]string{status("900", "0"), status("400", "0"), status("80", "0")}, 3},
		{"keeps falling", []map[string]string{status("900", "0"), status("899", "0"), status("898", "0"), status("897", "0"), status("896", "0"), status("895", "0"), status("894", "0")}, 0},
		{"does not fall", []map[string]string{status("900", "0"), status("900", "0"), status("901", "0"), status("900", "0"), status("900", "0"), status("900", "0")}, 6},
		{"history falls", []map[string]string{status("0", "5000"), status("0", "99")}, 2},
		{"writes", []map[string]string{{"Innodb_data_pending_writes": "2"}, {"Innodb_data_pending_writes": "0"}}, 2},
		{"knows nothing", []map[string]string{{}}, 1},
	} {
		w, at := newRestWatch(&engine.MariaDB), 0
		for i, s := range tc.polls {
			if len(w.observe(s)) == 0 {
				at = i + 1
				break
			}
		}
		if at != tc.want {
			t.Errorf("%s: at rest at poll %d, want %d", tc.name, at, tc.want)
		}
	}
	busy := newRestWatch(&engine.MariaDB).observe(status("900", "0"))
	if diff := cmp.Diff([]string{"900 dirty pages"}, busy); diff != "" {
		t.Errorf("busy (-want +got):\n%s", diff)
	}
}

func TestRestarted(t *testing.T) {
	for name, tc := range map[string]struct {
		was, is, between time.Duration
		want             bool
	}{
		"as long as it took":            {100 * time.Second, 160 * time.Second, time.Minute, false},
		"whole seconds":                 {100 * time.Second, 159 * time.Second, time.Minute, false},
		"up for less than before":       {100 * time.Second, 3 * time.Second, time.Minute, true},
		"up for less than before, soon": {2 * time.Second, time.Second, time.Second, true},
		"up for longer, but too short":  {100 * time.Second, 120 * time.Second, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := restarted(tc.was, tc.is, tc.between); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

func TestUptime(t *testing.T) {
	if up, err := uptime(map[string]string{"Uptime": "61"}); err != nil || up != 61*time.Second {
		t.Errorf("%s, %v", up, err)
	}
	if _, err := uptime(map[string]string{}); err == nil || !strings.Contains(err.Error(), "no uptime") {
		t.Errorf("error %v", err)
	}
}

func TestNoErrorIsNoFailure(t *testing.T) {
	if err := failed(result.FailureSQL, nil); err != nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("no error became %v", err)
	}
}
