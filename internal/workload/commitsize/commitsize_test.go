// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package commitsize

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func newTestCommitSize(t testing.TB, p Parameters) workload.Workload {
	t.Helper()
	w, err := New(&result.Config{Seed: 42, LimitSeconds: 1, Workload: workloadtest.Load(Definition, p)})
	if err != nil {
		t.Fatal(err)
	}
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
		{rows: 7, size: 3, compat: compatNone, want: []int64{3, 6, 7}},
		{rows: 3, size: 1, compat: compatIsotopp, want: []int64{1, 2, 3}},
		{rows: 7, size: 3, compat: compatIsotopp, want: []int64{1, 4, 7}},
		{rows: 6, size: 3, compat: compatIsotopp, want: []int64{1, 4, 6}},
	} {
		t.Run(fmt.Sprintf("%d by %d %s", tc.rows, tc.size, tc.compat), func(t *testing.T) {
			s := &workloadtest.Script{}
			w := newTestCommitSize(t, Parameters{Rows: tc.rows, RowsPerCommit: tc.size, Compat: tc.compat})
			stopped, err := w.Measure(t.Context(), workloadtest.Client(0, s))
			if err != nil || stopped != result.StoppedByRows {
				t.Fatalf("%v, %v", stopped, err)
			}
			if diff := cmp.Diff(tc.want, s.Commits); diff != "" {
				t.Errorf("rows at each commit (-want +got):\n%s", diff)
			}
			if got, want := len(s.Statements), int(tc.rows)+len(tc.want); got != want {
				t.Errorf("%d statements, want %d", got, want)
			}
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
	if _, err := w.Measure(t.Context(), workloadtest.Client(0, s)); err != nil {
		t.Fatal(err)
	}
	if len(s.Statements) != 5 || s.Statements[2] != "ROLLBACK" || s.Statements[1] != s.Statements[3] || s.Rows != 3 {
		t.Errorf("%d rows by %v", s.Rows, s.Statements)
	}
	if diff := cmp.Diff([]int64{1, 2, 3}, s.Commits); diff != "" {
		t.Errorf("rows at each commit (-want +got):\n%s", diff)
	}
}

func TestCommitSizeStatements(t *testing.T) {
	s := &workloadtest.Script{}
	w := newTestCommitSize(t, Parameters{Rows: 2, RowsPerCommit: 2})
	if _, err := w.Measure(t.Context(), workloadtest.Client(0, s)); err != nil {
		t.Fatal(err)
	}
	rows := generate.NewRows(42)
	want := []string{
		"INSERT INTO demo (id, data) VALUES (1, '" + string(rows.AppendText(nil, 1)) + "')",
		"INSERT INTO demo (id, data) VALUES (2, '" + string(rows.AppendText(nil, 2)) + "')",
		"COMMIT",
	}
	if diff := cmp.Diff(want, s.Statements); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
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
		if _, err := w.Measure(t.Context(), workloadtest.Client(0, s)); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
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
		w := newTestCommitSize(t, Parameters{Rows: 5, RowsPerCommit: 3, Compat: compatIsotopp})
		if _, err := w.Measure(t.Context(), workloadtest.Client(0, s)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, statement := range s.Statements {
			id, _, _ := strings.Cut(strings.TrimPrefix(statement, "INSERT INTO demo (id, data) VALUES ("), ",")
			got = append(got, id)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: statements (-want +got):\n%s", name, diff)
		}
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
		{workloadtest.Load(Definition, Parameters{Rows: 1, RowsPerCommit: 1, Compat: "x"}), `compat is "x" but must be None or Isotopp`},
	} {
		if _, err := New(&result.Config{Workload: tc.workload}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %s", err, tc.want)
		}
	}
}

// Without rows there are as many as fit into the limit; without a limit, 10000.
func TestRowsUnset(t *testing.T) {
	for limit, want := range map[int]workload.Plan{0: {Rows: 10_000}, 5: {ByTime: true}} {
		w, err := New(&result.Config{LimitSeconds: limit, Workload: workloadtest.Load(Definition, Parameters{RowsPerCommit: 1})})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.(workload.Planned).Plan(); got.Rows != want.Rows || got.ByTime != want.ByTime {
			t.Errorf("limit %d: %d rows, by time %t; want %d, %t", limit, got.Rows, got.ByTime, want.Rows, want.ByTime)
		}
	}
}

func BenchmarkCommitSizeLoop(b *testing.B) {
	w := newTestCommitSize(b, Parameters{Rows: int64(b.N), RowsPerCommit: 16})
	b.ReportAllocs()
	if _, err := w.Measure(b.Context(), &workload.Client{Session: workloadtest.Silence{}, Recorder: workloadtest.Silence{}}); err != nil {
		b.Fatal(err)
	}
}
