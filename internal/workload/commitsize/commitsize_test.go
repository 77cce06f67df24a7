// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package commitsize

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func newTestCommitSize(t testing.TB, p Parameters) workload.Workload {
	t.Helper()
	w := must.Get(New(&result.Config{Seed: 42, LimitSeconds: 1, Workload: workloadtest.Load(Definition, p)}))(t)
	return w
}

func TestCommitSizeCommits(t *testing.T) {
	for _, tc := range []struct {
		rows, size int64
		compat     string
		// want is the number of rows at each commit.
		want []int64
	}{
		{rows: 3, size: 1, want: []int64{1, 2, 3}},
		{rows: 6, size: 2, want: []int64{2, 4, 6}},
		{rows: 7, size: 3, want: []int64{3, 6, 7}},
		{rows: 2, size: 1000, want: []int64{2}},
		{rows: 7, size: 3, compat: asPublishedNone, want: []int64{3, 6, 7}},
		{rows: 3, size: 1, compat: asPublishedIsotopp, want: []int64{1, 2, 3}},
		{rows: 7, size: 3, compat: asPublishedIsotopp, want: []int64{1, 4, 7}},
		{rows: 6, size: 3, compat: asPublishedIsotopp, want: []int64{1, 4, 6}},
	} {
		t.Run(fmt.Sprintf("%d by %d %s", tc.rows, tc.size, tc.compat), func(t *testing.T) {
			s := &workloadtest.Script{}
			w := newTestCommitSize(t, Parameters{Rows: tc.rows, RowsPerCommit: tc.size, AsPublished: tc.compat})
			stopped, err := w.Measure(t.Context(), workloadtest.Client(0, s))
			if err != nil || stopped != result.StoppedByRows {
				t.Fatalf("%v, %v", stopped, err)
			}
			must.Same(t, "rows at each commit", tc.want, s.Commits)
			must.Same(t, "statements", int(tc.rows)+len(tc.want), len(s.Statements))
		})
	}
}

// The server commits each row: nothing is sent for it, and a row that failed is sent again.
func TestCommitSizeAutocommit(t *testing.T) {
	s := &workloadtest.Script{Fail: func(n int, _ string) error {
		if n == 2 {
			return workloadtest.ErrDeadlock
		}
		return nil
	}}
	w := newTestCommitSize(t, Parameters{Rows: 3, RowsPerCommit: 1, Commit: "Autocommit"})
	if setup := w.(workload.Planned).Plan().Setup; len(setup) != 1 || setup[0] != "SET autocommit=1" {
		t.Errorf("set up by %v", setup)
	}
	must.Get(w.Measure(t.Context(), workloadtest.Client(0, s)))(t)
	if len(s.Statements) != 5 || s.Statements[2] != "ROLLBACK" || s.Statements[1] != s.Statements[3] || s.Rows != 3 {
		t.Errorf("%d rows by %v", s.Rows, s.Statements)
	}
	must.Same(t, "rows at each commit", []int64{1, 2, 3}, s.Commits)
}

func TestCommitSizeStatements(t *testing.T) {
	s := &workloadtest.Script{}
	w := newTestCommitSize(t, Parameters{Rows: 2, RowsPerCommit: 2})
	must.Get(w.Measure(t.Context(), workloadtest.Client(0, s)))(t)
	rows := generate.NewRows(42)
	want := []string{
		"INSERT INTO demo (id, data) VALUES (1, '" + string(rows.AppendText(nil, 1)) + "')",
		"INSERT INTO demo (id, data) VALUES (2, '" + string(rows.AppendText(nil, 2)) + "')",
		"COMMIT",
	}
	must.Same(t, "statements", want, s.Statements)
}

func TestCommitSizeStopsAtTheLimitWithEverythingCommitted(t *testing.T) {
	for _, tc := range []struct {
		rows  int64
		limit time.Duration
		want  result.StoppedBy
		// committed is the number of rows at the last commit: an insert takes two ticks.
		committed int64
	}{
		{rows: 100, limit: 5 * time.Millisecond, want: result.StoppedBySeconds, committed: 3},
		{rows: 3, limit: 5 * time.Millisecond, want: result.StoppedByRows, committed: 3},
		{rows: 3, limit: time.Hour, want: result.StoppedByRows, committed: 3},
		{rows: 0, limit: 5 * time.Millisecond, want: result.StoppedBySeconds, committed: 3},
	} {
		s := &workloadtest.Script{}
		w := newTestCommitSize(t, Parameters{Rows: tc.rows, RowsPerCommit: 1000})
		stopped, err := w.Measure(t.Context(), &workload.Client{Session: s, Recorder: s, Limit: tc.limit})
		if err != nil || stopped != tc.want {
			t.Errorf("%d rows: stopped by %v, %v", tc.rows, stopped, err)
		}
		if last := s.Commits[len(s.Commits)-1]; last != tc.committed || s.Rows != last {
			t.Errorf("%d rows: %d committed of %d, want %d", tc.rows, last, s.Rows, tc.committed)
		}
	}
}

func TestCommitSizeErrors(t *testing.T) {
	for refuse, want := range map[string]string{
		"COMMIT": "committing after row 2: refused",
		"INSERT INTO demo (id, data) VALUES (1, '" + string(generate.NewRows(42).AppendText(nil, 1)) + "')": "inserting row 1: refused",
	} {
		s := &workloadtest.Script{Refuse: refuse}
		w := newTestCommitSize(t, Parameters{Rows: 2, RowsPerCommit: 2})
		must.Same(t, "error", want, must.Text(must.Err(w.Measure(t.Context(), workloadtest.Client(0, s)))))
	}
}

// A transaction that the server rolls back is sent again, whole; its rows are counted once.
func TestCommitSizeRetries(t *testing.T) {
	for name, tc := range map[string]struct {
		fails int
		want  []string
	}{
		"at its first row": {3, []string{"1", "COMMIT", "2", "ROLLBACK", "2", "3", "4", "COMMIT", "5", "COMMIT"}},
		"at its last row":  {5, []string{"1", "COMMIT", "2", "3", "4", "ROLLBACK", "2", "3", "4", "COMMIT", "5", "COMMIT"}},
		"at its end":       {6, []string{"1", "COMMIT", "2", "3", "4", "COMMIT", "ROLLBACK", "2", "3", "4", "COMMIT", "5", "COMMIT"}},
	} {
		s := &workloadtest.Script{Fail: func(n int, _ string) error {
			if n == tc.fails {
				return workloadtest.ErrDeadlock
			}
			return nil
		}}
		w := newTestCommitSize(t, Parameters{Rows: 5, RowsPerCommit: 3, AsPublished: asPublishedIsotopp})
		must.Get(w.Measure(t.Context(), workloadtest.Client(0, s)))(t)
		var got []string
		for _, statement := range s.Statements {
			id, _, _ := strings.Cut(strings.TrimPrefix(statement, "INSERT INTO demo (id, data) VALUES ("), ",")
			got = append(got, id)
		}
		must.Same(t, name+": statements", tc.want, got)
		if diff := cmp.Diff([]int64{1, 4, 5}, s.Commits); diff != "" || s.Errors != 1 {
			t.Errorf("%s: %d errors, rows at each commit (-want +got):\n%s", name, s.Errors, diff)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tc := range []struct {
		workload result.Workload
		want     string
	}{
		{result.Workload{Type: "CommitSize"}, "the parameters are missing"},
		{
			result.Workload{Type: "CommitSize", Parameters: []byte(`{"rows":1,"rowsPerCommit":1,"rowsPerComit":2}`)},
			`reading the parameters: json: unknown field "rowsPerComit"`,
		},
		{
			workloadtest.Load(Definition, Parameters{Rows: 9, RowsPerCommit: 2, Commit: "Autocommit"}),
			"commit Autocommit makes each statement a transaction: rowsPerCommit is 2 but must be 1",
		},
		{workloadtest.Load(Definition, Parameters{RowsPerCommit: 10_001}), "above rows (10000 unless set)"},
		{workloadtest.Load(Definition, Parameters{Rows: 1}), "rowsPerCommit is 0"},
		{workloadtest.Load(Definition, Parameters{Rows: 1, RowsPerCommit: 1, AsPublished: "x"}), `asPublished is "x" but must be None or Isotopp`},
	} {
		must.Refused(New(&result.Config{Workload: tc.workload}))(t, tc.want)
	}
}

// Without rows there are as many as fit into the limit; without a limit, 10000.
func TestRowsUnset(t *testing.T) {
	for limit, want := range map[int]workload.Plan{0: {Rows: 10_000}, 5: {ByTime: true}} {
		w := must.Get(New(&result.Config{LimitSeconds: limit, Workload: workloadtest.Load(Definition, Parameters{RowsPerCommit: 1})}))(t)
		if got := w.(workload.Planned).Plan(); got.Rows != want.Rows || got.ByTime != want.ByTime {
			t.Errorf("limit %d: %d rows, by time %t; want %d, %t", limit, got.Rows, got.ByTime, want.Rows, want.ByTime)
		}
	}
}

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
		"as the script":     {Parameters{Rows: 5, RowsPerCommit: 3, AsPublished: asPublishedIsotopp}, 0, []time.Duration{second, 4 * second, 5 * second}, 5},
		"by time":           {Parameters{RowsPerCommit: 2}, 7 * second, []time.Duration{2 * second, 4 * second, 6 * second}, 6},
		"due when it is up": {Parameters{RowsPerCommit: 2}, 4 * second, []time.Duration{2 * second}, 2},
	} {
		tc.p.Pacing = workload.Pacing{RatePerSecond: 1}
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
	w := newTestCommitSize(t, Parameters{RowsPerCommit: 2, Pacing: workload.Pacing{ThinkTimeMilliseconds: 1000}})
	stopped, err := w.Measure(t.Context(), c)
	if err != nil || stopped != result.StoppedBySeconds || !slices.Equal(s.Commits, []int64{2, 4, 6}) || len(s.Slept) != 3 {
		t.Errorf("%s, commits at %v, thought until %v, %v", stopped, s.Commits, s.Slept, err)
	}
	_, err = New(&result.Config{Workload: workloadtest.Load(Definition, Parameters{
		Rows: 1, RowsPerCommit: 1, Pacing: workload.Pacing{RatePerSecond: 1, ThinkTimeMilliseconds: 1},
	})})
	must.Fail(t, err, "set ratePerSecond or thinkTimeMilliseconds, not both")
}

// The measured phase continues with the row after the last of the warm-up, wherever that has ended.
func TestCommitSizeContinues(t *testing.T) {
	w := newTestCommitSize(t, Parameters{Rows: 5, RowsPerCommit: 2, Pacing: workload.Pacing{WarmupSeconds: 1}}).(*commitSize)
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
