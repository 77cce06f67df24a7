// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// However many Pods share a load, they send each row once, and what was sent is known from how many rows each has sent.
func TestShareOfRows(t *testing.T) {
	for _, rows := range []int64{1, 5, 6, 7, 100, 101} {
		for pods := range int64(5) {
			var all, counts []int64
			for pod := range pods + 1 {
				d := dispenser{Rows: rows, PerTransaction: 6, Share: workload.Share{Pod: pod, Pods: pods + 1}}
				count := int64(0)
				for d.left() {
					first, last := d.take()
					for n := first; n <= last; n++ {
						all, count = append(all, n), count+1
					}
				}
				if first, last := d.take(); first <= last {
					t.Errorf("rows %d to %d after the last", first, last)
				}
				counts = append(counts, count)
			}
			sent := slices.Collect((&dispenser{Rows: rows, PerTransaction: 6}).Sent(counts))
			slices.Sort(sent)
			slices.Sort(all)
			if !slices.Equal(all, sent) || int64(len(all)) != rows || all[0] != 1 || all[rows-1] != rows {
				t.Errorf("%d Pods send of %d rows %v, counted %v", pods+1, rows, all, sent)
			}
		}
	}
}

// Of three Pods with transactions of two rows, the first has rows 1, 2, 7, 8 and so on.
func TestSentBeforeTheEnd(t *testing.T) {
	d := &dispenser{Rows: 100, PerTransaction: 2}
	if got := slices.Collect(d.Sent([]int64{4, 0, 2})); !slices.Equal(got, []int64{1, 2, 7, 8, 5, 6}) {
		t.Errorf("sent %v", got)
	}
	if got := slices.Collect(d.Sent([]int64{200})); len(got) != 100 {
		t.Errorf("%d rows of 100", len(got))
	}
}

// A transaction that the server rolls back is sent again up to where it was, while the next one is made already. Its rows are
// counted once.
func TestRetries(t *testing.T) {
	const rows, perStatement, perTransaction = 8, 2, 5
	const head = "INSERT INTO t VALUES "
	for name, tc := range map[string]struct {
		fails []int
		want  []string
	}{
		"never": {nil, []string{"12", "34", "5", "COMMIT", "67", "8", "COMMIT"}},
		"at its first statement": {
			[]int{5}, []string{"12", "34", "5", "COMMIT", "67", "ROLLBACK", "67", "8", "COMMIT"},
		},
		"at its last statement": {
			[]int{3}, []string{"12", "34", "5", "ROLLBACK", "12", "34", "5", "COMMIT", "67", "8", "COMMIT"},
		},
		"at its end": {
			[]int{7}, []string{"12", "34", "5", "COMMIT", "67", "8", "COMMIT", "ROLLBACK", "67", "8", "COMMIT"},
		},
		"again and again": {
			[]int{2, 4, 7, 10},
			[]string{
				"12", "34", "ROLLBACK", "12", "ROLLBACK", "12", "34", "ROLLBACK", "12", "34", "ROLLBACK", "12", "34", "5", "COMMIT",
				"67", "8", "COMMIT",
			},
		},
	} {
		l := New(rows, perStatement, perTransaction, workload.Share{Pods: 1})
		l.Heads, l.RowBytes = []string{head}, 8
		l.AppendRow = func(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
		s := &workloadtest.Script{Fail: func(n int, _ string) error {
			if slices.Contains(tc.fails, n) {
				return workloadtest.ErrDeadlock
			}
			return nil
		}}
		stopped, err := l.Insert(t.Context(), workloadtest.Client(0, s))
		if err != nil || stopped != result.StoppedByRows {
			t.Fatalf("%s: %s, %v", name, stopped, err)
		}
		var got []string
		for _, statement := range s.Statements {
			got = append(got, strings.ReplaceAll(strings.TrimPrefix(statement, head), ",", ""))
		}
		must.Same(t, name+": statements", tc.want, got)
		if s.Rows != rows || !slices.Equal(s.Commits, []int64{5, 8}) || s.Errors != len(tc.fails) || l.Done() != rows {
			t.Errorf("%s: %d rows, commits at %v, %d errors, %d done", name, s.Rows, s.Commits, s.Errors, l.Done())
		}
	}
}

// Where each statement is a transaction, none is sent to end it.
func TestAutocommit(t *testing.T) {
	l := New(5, 2, 2, workload.Share{Pods: 1})
	if !l.WholeTransactions() || New(5, 2, 3, workload.Share{Pods: 1}).WholeTransactions() {
		t.Error("a statement has the rows of a transaction if it has as many")
	}
	l.Heads, l.RowBytes, l.Autocommit = []string{"INSERT "}, 8, true
	l.AppendRow = func(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
	s := &workloadtest.Script{}
	must.Get(l.Insert(t.Context(), workloadtest.Client(0, s)))(t)
	if diff := cmp.Diff([]string{"INSERT 1,2", "INSERT 3,4", "INSERT 5"}, s.Statements); diff != "" || !slices.Equal(s.Commits, []int64{2, 4, 5}) {
		t.Errorf("commits at %v, statements (-want +got):\n%s", s.Commits, diff)
	}
}

// A clock that was set while an answer was on its way is not believed.
func TestAnswered(t *testing.T) {
	for _, tc := range []struct{ began, now, ago, want time.Duration }{
		{100, 130, 0, 130}, {100, 130, 20, 110}, {100, 130, 30, 100}, {100, 130, 31, 130}, {100, 130, time.Hour, 130},
	} {
		if got := answered(tc.began, tc.now, tc.ago); got != tc.want {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}

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
