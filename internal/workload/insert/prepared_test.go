// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

var twoInts = []mysqlwire.Type{mysqlwire.TypeInt, mysqlwire.TypeInt}

func preparedLoad(rows, perStatement, perTransaction int64, bulk bool) *Load {
	l := New(rows, perStatement, perTransaction, workload.Share{Pods: 1})
	l.Heads = []string{"INSERT INTO t (a, b) VALUES ", "INSERT INTO u (a, b) VALUES "}
	l.AppendRow = func(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
	l.Prepare(bulk, twoInts, 8)
	return l
}

// Types are sent with the first execution of each statement, and again with those that are repeated: which one the server gets
// first is not known then.
func TestPreparedStatements(t *testing.T) {
	for name, tc := range map[string]struct {
		bulk     bool
		client   int
		fails    []int
		prepared []workload.Prepared
		want     []string
	}{
		"prepared": {
			prepared: []workload.Prepared{
				{SQL: "INSERT INTO t (a, b) VALUES (?,?)", Types: twoInts, Rows: 1},
				{SQL: "INSERT INTO t (a, b) VALUES (?,?),(?,?)", Types: twoInts, Rows: 2},
			},
			want: []string{"first of 2:12", "2:34", "first of 1:5", "COMMIT", "2:67", "1:8", "COMMIT"},
		},
		"the other table": {
			bulk: true, client: 1,
			prepared: []workload.Prepared{{SQL: "INSERT INTO u (a, b) VALUES (?,?)", Types: twoInts}},
			want:     []string{"first of 1:12", "1:34", "1:5", "COMMIT", "1:67", "1:8", "COMMIT"},
		},
		"retried": {
			bulk: true, fails: []int{3, 8},
			prepared: []workload.Prepared{{SQL: "INSERT INTO t (a, b) VALUES (?,?)", Types: twoInts}},
			want: []string{
				"first of 1:12", "1:34", "1:5", "ROLLBACK", "first of 1:12", "first of 1:34", "first of 1:5", "COMMIT",
				"ROLLBACK", "first of 1:12", "first of 1:34", "first of 1:5", "COMMIT", "1:67", "1:8", "COMMIT",
			},
		},
	} {
		l := preparedLoad(8, 2, 5, tc.bulk)
		s := &workloadtest.Script{Fail: func(n int, _ string) error {
			if slices.Contains(tc.fails, n) {
				return workloadtest.ErrDeadlock
			}
			return nil
		}}
		must.Do(t, l.Ready(tc.client, s))
		stopped, err := l.Insert(t.Context(), workloadtest.Client(tc.client, s))
		if err != nil || stopped != result.StoppedByRows {
			t.Fatalf("%s: %s, %v", name, stopped, err)
		}
		must.Same(t, name+": prepared", tc.prepared, s.Prepared)
		must.Same(t, name+": statements", tc.want, s.Statements)
		if s.Rows != 8 || !slices.Equal(s.Commits, []int64{5, 8}) || s.Errors != len(tc.fails) {
			t.Errorf("%s: %d rows, commits at %v, %d errors", name, s.Rows, s.Commits, s.Errors)
		}
	}
}

// There is a statement for each number of rows that is sent, and for no other.
func TestPreparedSizes(t *testing.T) {
	for _, tc := range []struct{ rows, perStatement, perTransaction int64 }{
		{1, 1, 1}, {8, 2, 5}, {10, 3, 6}, {12, 3, 6}, {10, 100, 100}, {100, 7, 1000}, {10, 5, 3}, {11, 5, 3}, {7, 4, 5},
	} {
		l := preparedLoad(tc.rows, tc.perStatement, tc.perTransaction, false)
		s := &workloadtest.Script{}
		must.Do(t, l.Ready(0, s))
		sent := map[int64]bool{}
		for l.left() {
			for first, last := l.take(); first <= last; first += tc.perStatement {
				sent[min(tc.perStatement, last-first+1)] = true
			}
		}
		for size := range l.prepared.heads[0] {
			if !sent[size] {
				t.Errorf("%+v: there is a statement for %d rows, which are never sent", tc, size)
			}
		}
		for size := range sent {
			if l.prepared.heads[0][size] == nil {
				t.Errorf("%+v: there is no statement for %d rows", tc, size)
			}
		}
	}
}

// refusing is a session on which nothing can be prepared.
type refusing struct{ workloadtest.Silence }

func (refusing) Prepare(workload.Prepared) (*mysqlwire.Execution, error) {
	return nil, workload.Refused{Reason: "not here"}
}

func TestReady(t *testing.T) {
	err := preparedLoad(10, 3, 3, false).Ready(0, refusing{})
	if _, refused := errors.AsType[workload.Refused](err); !refused || err.Error() != "not here" {
		t.Errorf("error %v", err)
	}
	if err := New(1, 1, 1, workload.Share{Pods: 1}).Ready(0, refusing{}); err != nil {
		t.Errorf("text: %v", err)
	}
}

func TestCheckCommit(t *testing.T) {
	for _, tc := range []struct {
		commit     string
		statements int64
		want       string
	}{
		{"", 2, ""},
		{CommitExplicit, 2, ""},
		{CommitAutocommit, 1, ""},
		{CommitAutocommit, 2, "commit Autocommit makes each statement a transaction: rowsPerCommit is 2 but must be 1"},
		{"auto", 1, `commit is "auto" but must be Explicit or Autocommit`},
	} {
		if err := CheckCommit(tc.commit, "rowsPerCommit", tc.statements); tc.want == "" && err != nil || tc.want != "" && (err == nil || err.Error() != tc.want) {
			t.Errorf("%q: %v, want %q", tc.commit, err, tc.want)
		}
	}
}
