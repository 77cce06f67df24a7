// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package commitsize

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/pace"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// Each transaction is due with its last row, and COMMIT belongs to it.
func TestCommitSizeOfferedRate(t *testing.T) {
	const second = time.Second
	for name, tc := range map[string]struct {
		p     Parameters
		limit time.Duration
		due   []time.Duration
		rows  int64
	}{
		"one row each":      {Parameters{Rows: 3, RowsPerCommit: 1}, 0, []time.Duration{second, 2 * second, 3 * second}, 3},
		"a remainder":       {Parameters{Rows: 5, RowsPerCommit: 2}, 0, []time.Duration{2 * second, 4 * second, 5 * second}, 5},
		"as the script":     {Parameters{Rows: 5, RowsPerCommit: 3, Compat: compatIsotopp}, 0, []time.Duration{second, 4 * second, 5 * second}, 5},
		"by time":           {Parameters{RowsPerCommit: 2}, 7 * second, []time.Duration{2 * second, 4 * second, 6 * second}, 6},
		"due when it is up": {Parameters{RowsPerCommit: 2}, 4 * second, []time.Duration{2 * second}, 2},
	} {
		tc.p.Parameters = pace.Parameters{RatePerSecond: 1}
		s := &workloadtest.Script{}
		c := workloadtest.Client(0, s)
		c.Limit = tc.limit
		stopped, err := newTestCommitSize(t, tc.p).Measure(t.Context(), c)
		if err != nil || (stopped == result.StoppedBySeconds) != (tc.limit > 0) {
			t.Fatalf("%s: %s, %v", name, stopped, err)
		}
		var due []time.Duration
		for i, x := range s.Transactions {
			due = append(due, x.Due)
			if x.Began < x.Due || x.Ended <= x.Began || s.Commits[i] == 0 {
				t.Errorf("%s: transaction %+v", name, x)
			}
		}
		if !slices.Equal(due, tc.due) || s.Rows != tc.rows || len(s.Commits) != len(due) || s.Commits[len(due)-1] != tc.rows {
			t.Errorf("%s: due at %v, want %v; %d rows, commits at %v", name, due, tc.due, s.Rows, s.Commits)
		}
	}
}

// Think time is after each COMMIT, and nothing begins when the time is over by then.
func TestCommitSizeThinkTime(t *testing.T) {
	s := &workloadtest.Script{}
	c := workloadtest.Client(0, s)
	c.Limit = 3 * time.Second
	w := newTestCommitSize(t, Parameters{RowsPerCommit: 2, Parameters: pace.Parameters{ThinkTimeMilliseconds: 1000}})
	stopped, err := w.Measure(t.Context(), c)
	if err != nil || stopped != result.StoppedBySeconds || !slices.Equal(s.Commits, []int64{2, 4, 6}) || len(s.Slept) != 3 {
		t.Errorf("%s, commits at %v, thought until %v, %v", stopped, s.Commits, s.Slept, err)
	}
	_, err = New(&result.Config{Workload: workloadtest.Load(Definition, Parameters{
		Rows: 1, RowsPerCommit: 1, Parameters: pace.Parameters{RatePerSecond: 1, ThinkTimeMilliseconds: 1},
	})})
	if err == nil || !strings.Contains(err.Error(), "set ratePerSecond or thinkTimeMilliseconds, not both") {
		t.Errorf("error %v", err)
	}
}

// The measured phase continues with the row after the last of the warm-up, wherever that has ended.
func TestCommitSizeContinues(t *testing.T) {
	w := newTestCommitSize(t, Parameters{Rows: 5, RowsPerCommit: 2, Parameters: pace.Parameters{WarmupSeconds: 1}}).(*commitSize)
	w.BeginWarmUp()
	s := &workloadtest.Script{Took: 100 * time.Millisecond}
	c := workloadtest.Client(0, s)
	c.Limit = time.Second
	if stopped, err := w.Measure(t.Context(), c); err != nil || stopped != result.StoppedBySeconds {
		t.Fatal(stopped, err)
	}
	before := s.Rows
	w.Continue()
	again := &workloadtest.Script{}
	if stopped, err := w.Measure(t.Context(), workloadtest.Client(0, again)); err != nil || stopped != result.StoppedByRows {
		t.Fatal(stopped, err)
	}
	if !slices.Equal(again.Commits, []int64{2, 4, 5}) || before < 3 {
		t.Errorf("%d rows before, then commits at %v", before, again.Commits)
	}
	n := int64(0)
	for _, statement := range append(s.Statements, again.Statements...) {
		if !strings.HasPrefix(statement, "INSERT") {
			continue
		}
		if n++; !strings.Contains(statement, fmt.Sprintf("VALUES (%d, '%s')", n, w.rows.AppendText(nil, n))) {
			t.Fatalf("row %d: %s", n, statement)
		}
	}
	if n != before+5 {
		t.Errorf("%d rows were sent, %d of them before", n, before)
	}
}
