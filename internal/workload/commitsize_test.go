// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// script is a session that writes down what it is sent, and a recorder whose clock ticks once a call.
type script struct {
	statements []string
	refuse     string
	now        time.Duration
	rows       int64
	deleted    int64
	commits    []int64
}

func (s *script) Exec(statement []byte) error {
	s.statements = append(s.statements, string(statement))
	if string(statement) == s.refuse {
		return errors.New("refused")
	}
	return nil
}

func (s *script) ExecWhile(statement []byte, meanwhile func()) error {
	err := s.Exec(statement)
	clear(statement) // whoever still needs its bytes is found out
	meanwhile()
	return err
}

// ExecAffected finds as many rows as a statement limits itself to, but at most 1,000.
func (s *script) ExecAffected(statement []byte) (int64, error) {
	_, limit, _ := strings.Cut(string(statement), " LIMIT ")
	n, err := strconv.ParseInt(limit, 10, 64)
	return min(n, 1000), errors.Join(err, s.Exec(statement))
}

func (s *script) Fetch(statement []byte) (int64, error) { return 0, s.Exec(statement) }

func (s *script) Load(string, io.Reader) (int64, int64, error) { return 0, 0, nil }
func (s *script) Warning() (string, error)                     { return "", nil }

func (s *script) Now() time.Duration { s.now += time.Millisecond; return s.now }

func (s *script) Insert(began, ended time.Duration, rows int64) {
	if ended <= began {
		panic("time runs backwards")
	}
	s.rows += rows
}

func (s *script) Delete(_, _ time.Duration, n int64) { s.deleted += n }
func (s *script) Query(_, _ time.Duration)           {}
func (s *script) Sent(_ time.Duration, _, _ int64)   {}
func (s *script) Loaded(_, _ time.Duration)          {}

func (s *script) Commit(_, _ time.Duration) { s.commits = append(s.commits, s.rows) }

func newTestCommitSize(t testing.TB, p result.CommitSize) Workload {
	t.Helper()
	w, err := New(&result.Config{Seed: 42, Workload: result.Workload{Type: "CommitSize", CommitSize: &p}})
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
		{rows: 3, size: 1, compat: compatIsotopp, want: []int64{1, 2, 3}},
		{rows: 7, size: 3, compat: compatIsotopp, want: []int64{1, 4, 7}},
		{rows: 6, size: 3, compat: compatIsotopp, want: []int64{1, 4, 6}},
	} {
		t.Run(fmt.Sprintf("%d by %d %s", tc.rows, tc.size, tc.compat), func(t *testing.T) {
			s := &script{}
			w := newTestCommitSize(t, result.CommitSize{Rows: tc.rows, RowsPerCommit: tc.size, Compat: tc.compat})
			stopped, err := w.Measure(t.Context(), &Client{Session: s, Recorder: s})
			if err != nil || stopped != result.StoppedByRows {
				t.Fatalf("%v, %v", stopped, err)
			}
			if diff := cmp.Diff(tc.want, s.commits); diff != "" {
				t.Errorf("rows at each commit (-want +got):\n%s", diff)
			}
			if got, want := len(s.statements), int(tc.rows)+len(tc.want); got != want {
				t.Errorf("%d statements, want %d", got, want)
			}
		})
	}
}

func TestCommitSizeStatements(t *testing.T) {
	s := &script{}
	w := newTestCommitSize(t, result.CommitSize{Rows: 2, RowsPerCommit: 2})
	if _, err := w.Measure(t.Context(), &Client{Session: s, Recorder: s}); err != nil {
		t.Fatal(err)
	}
	rows := NewRows(42)
	want := []string{
		"INSERT INTO demo (id, data) VALUES (1, '" + string(rows.AppendText(nil, 1)) + "')",
		"INSERT INTO demo (id, data) VALUES (2, '" + string(rows.AppendText(nil, 2)) + "')",
		"COMMIT",
	}
	if diff := cmp.Diff(want, s.statements); diff != "" {
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
	} {
		s := &script{}
		w := newTestCommitSize(t, result.CommitSize{Rows: tc.rows, RowsPerCommit: 1000})
		stopped, err := w.Measure(t.Context(), &Client{Session: s, Recorder: s, Limit: tc.limit})
		if err != nil || stopped != tc.want {
			t.Errorf("%d rows: stopped by %v, %v", tc.rows, stopped, err)
		}
		if last := s.commits[len(s.commits)-1]; last != tc.committed || s.rows != last {
			t.Errorf("%d rows: %d committed of %d, want %d", tc.rows, last, s.rows, tc.committed)
		}
	}
}

func TestCommitSizeErrors(t *testing.T) {
	for refuse, want := range map[string]string{
		"COMMIT": "committing after row 2: refused",
		"INSERT INTO demo (id, data) VALUES (1, '" + string(NewRows(42).AppendText(nil, 1)) + "')": "inserting row 1: refused",
	} {
		s := &script{refuse: refuse}
		w := newTestCommitSize(t, result.CommitSize{Rows: 2, RowsPerCommit: 2})
		if _, err := w.Measure(t.Context(), &Client{Session: s, Recorder: s}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tc := range []struct {
		workload result.Workload
		want     string
	}{
		{result.Workload{Type: "Nonsense"}, `workload type "Nonsense" is not known to this loader, it knows BulkInsert, CommitSize, IIBench`},
		{result.Workload{Type: "CommitSize"}, "parameters in commitSize are missing"},
		{result.Workload{Type: "CommitSize", CommitSize: &result.CommitSize{RowsPerCommit: 1}}, "rows is 0"},
		{result.Workload{Type: "CommitSize", CommitSize: &result.CommitSize{Rows: 1}}, "rowsPerCommit is 0"},
		{result.Workload{Type: "CommitSize", CommitSize: &result.CommitSize{Rows: 1, RowsPerCommit: 1, Compat: "x"}}, `compat is "x"`},
	} {
		if _, err := New(&result.Config{Workload: tc.workload}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %s", err, tc.want)
		}
	}
}

// silence is a session and a recorder that do nothing: what remains is the loop's own cost.
type silence struct{}

func (silence) Exec([]byte) error                            { return nil }
func (silence) ExecWhile(_ []byte, meanwhile func()) error   { meanwhile(); return nil }
func (silence) ExecAffected([]byte) (int64, error)           { return 0, nil }
func (silence) Fetch([]byte) (int64, error)                  { return 0, nil }
func (silence) Load(string, io.Reader) (int64, int64, error) { return 0, 0, nil }
func (silence) Warning() (string, error)                     { return "", nil }
func (silence) Sent(time.Duration, int64, int64)             {}
func (silence) Loaded(time.Duration, time.Duration)          {}
func (silence) Delete(time.Duration, time.Duration, int64)   {}
func (silence) Query(time.Duration, time.Duration)           {}
func (silence) Now() time.Duration                           { return 0 }
func (silence) Insert(time.Duration, time.Duration, int64)   {}
func (silence) Commit(time.Duration, time.Duration)          {}

func BenchmarkCommitSizeLoop(b *testing.B) {
	w := newTestCommitSize(b, result.CommitSize{Rows: int64(b.N), RowsPerCommit: 16})
	b.ReportAllocs()
	if _, err := w.Measure(b.Context(), &Client{Session: silence{}, Recorder: silence{}}); err != nil {
		b.Fatal(err)
	}
}
