// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

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
		if got := passed(t, tc.rates...).TerminalRate(); got != tc.want {
			t.Errorf("%v: %g rows/s, want %g", tc.rates, got, tc.want)
		}
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
	if err := none.Merge(nil, 1, 1); err != nil {
		t.Error(err)
	}
}
