// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// numbers is a load of rows that are their numbers.
func numbers(rows, perStatement, perTransaction int64, share workload.Share, p workload.Pacing) *Load {
	l := New(rows, perStatement, perTransaction, share)
	l.Heads, l.RowBytes, l.Pace = []string{"INSERT "}, 8, p
	l.AppendRow = func(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
	return l
}

func seconds(n ...float64) []time.Duration {
	var all []time.Duration
	for _, s := range n {
		all = append(all, time.Duration(s*float64(time.Second)))
	}
	return all
}

// dues are when transactions were due.
func dues(s *workloadtest.Script) []time.Duration {
	var all []time.Duration
	for _, t := range s.Transactions {
		all = append(all, t.Due)
	}
	return all
}

// Transactions begin when they are due, each statement is sent once, and a transaction is measured from when it was due to its
// end.
func TestOfferedRate(t *testing.T) {
	l := numbers(8, 2, 3, workload.Share{Pods: 1}, workload.Pacing{RatePerSecond: 2})
	s := &workloadtest.Script{}
	stopped, err := l.Insert(t.Context(), workloadtest.Client(0, s))
	if err != nil || stopped != result.StoppedByRows {
		t.Fatalf("%s, %v", stopped, err)
	}
	want := []string{"INSERT 1,2", "INSERT 3", "COMMIT", "INSERT 4,5", "INSERT 6", "COMMIT", "INSERT 7,8", "COMMIT"}
	must.Same(t, "statements", want, s.Statements)
	if want := seconds(1.5, 3, 4); !slices.Equal(s.Slept, want) || !slices.Equal(dues(s), want) {
		t.Errorf("waited until %v, due at %v, want %v", s.Slept, dues(s), want)
	}
	for _, x := range s.Transactions {
		if x.Began < x.Due || x.Ended <= x.Began || x.Ended-x.Due > 20*time.Millisecond {
			t.Errorf("transaction %+v", x)
		}
	}
	if l.Done() != 8 || s.Rows != 8 {
		t.Errorf("%d rows, %d done", s.Rows, l.Done())
	}
}

// A server that is too slow moves no transaction's time: latencies grow by what it lags behind. Coordinated omission would leave
// them at what a statement takes.
func TestOfferedRateNotReached(t *testing.T) {
	l := numbers(4, 1, 1, workload.Share{Pods: 1}, workload.Pacing{RatePerSecond: 1})
	l.Autocommit = true
	s := &workloadtest.Script{Took: 3 * time.Second}
	must.Get(l.Insert(t.Context(), workloadtest.Client(0, s)))(t)
	var latencies []time.Duration
	for _, x := range s.Transactions {
		latencies = append(latencies, (x.Ended - x.Due).Round(time.Second))
	}
	if want := seconds(3, 5, 7, 9); !slices.Equal(latencies, want) || !slices.Equal(dues(s), seconds(1, 2, 3, 4)) {
		t.Errorf("latencies %v, want %v; due at %v", latencies, want, dues(s))
	}
}

// All Pods have one schedule, of which each has its transactions.
func TestOfferedRateOfPods(t *testing.T) {
	for pod, want := range [][]time.Duration{seconds(1, 3, 5), seconds(2, 4)} {
		l := numbers(10, 2, 2, workload.Share{Pod: int64(pod), Pods: 2}, workload.Pacing{RatePerSecond: 2})
		s := &workloadtest.Script{}
		if _, err := l.Insert(t.Context(), workloadtest.Client(0, s)); err != nil || !slices.Equal(dues(s), want) {
			t.Errorf("Pod %d has transactions due at %v, want %v (%v)", pod, dues(s), want, err)
		}
	}
}

// What is due when the time is over is not waited for, and what was due before is not sent after it.
func TestOfferedRateEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		limit, took time.Duration
		sent        int64
		stopped     result.StoppedBy
	}{
		"all are due before":  {6 * time.Second, 0, 5, result.StoppedByRows},
		"some are":            {3500 * time.Millisecond, 0, 3, result.StoppedBySeconds},
		"at the limit":        {4 * time.Second, 0, 3, result.StoppedBySeconds},
		"the server lags":     {3500 * time.Millisecond, 2 * time.Second, 2, result.StoppedBySeconds},
		"none is due by then": {time.Millisecond, 0, 0, result.StoppedBySeconds},
	} {
		l := numbers(5, 1, 1, workload.Share{Pods: 1}, workload.Pacing{RatePerSecond: 1})
		l.Autocommit = true
		s := &workloadtest.Script{Took: tc.took}
		c := workloadtest.Client(0, s)
		c.Limit = tc.limit
		stopped, err := l.Insert(t.Context(), c)
		if err != nil || stopped != tc.stopped || s.Rows != tc.sent || len(s.Slept) != int(tc.sent) {
			t.Errorf("%s: %d rows by %s, waited until %v (%v)", name, s.Rows, stopped, s.Slept, err)
		}
	}
}

// A client thinks after each transaction, and no longer than it may work.
func TestThinkTime(t *testing.T) {
	l := numbers(100, 1, 2, workload.Share{Pods: 1}, workload.Pacing{ThinkTimeMilliseconds: 2000})
	s := &workloadtest.Script{}
	c := workloadtest.Client(0, s)
	c.Limit = 5 * time.Second
	stopped, err := l.Insert(t.Context(), c)
	if err != nil || stopped != result.StoppedBySeconds || s.Rows != 6 || len(s.Transactions) > 0 {
		t.Fatalf("%d rows by %s, transactions %v (%v)", s.Rows, stopped, s.Transactions, err)
	}
	var slept []time.Duration
	for _, at := range s.Slept {
		slept = append(slept, at.Round(time.Second))
	}
	must.Same(t, "thought until", seconds(2, 4, 5), slept)
}

// rowsIn are the rows of a script's INSERT statements, sorted.
func rowsIn(t *testing.T, s *workloadtest.Script) []int64 {
	t.Helper()
	var all []int64
	for _, statement := range s.Statements {
		list, found := strings.CutPrefix(statement, "INSERT ")
		if !found {
			continue
		}
		for text := range strings.SplitSeq(list, ",") {
			n := must.Get(strconv.ParseInt(text, 10, 64))(t)
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// After a warm-up the measured phase has as many rows as were asked for, those that follow, also where the Pods got on unequally.
// What is expected in the table is what was sent.
func TestWarmUpAndThenContinue(t *testing.T) {
	for _, p := range []workload.Pacing{{}, {RatePerSecond: 4}, {ThinkTimeMilliseconds: 500}} {
		var sent, rowsOfPods []int64
		var load *Load
		for pod, limit := range seconds(3, 7) {
			load = numbers(21, 2, 4, workload.Share{Pod: int64(pod), Pods: 2}, p)
			load.BeginWarmUp()
			s := &workloadtest.Script{Took: 100 * time.Millisecond}
			c := workloadtest.Client(0, s)
			c.Limit = limit
			if stopped, err := load.Insert(t.Context(), c); err != nil || stopped != result.StoppedBySeconds {
				t.Fatal(stopped, err)
			}
			before := s.Rows
			load.Continue()
			again := &workloadtest.Script{}
			if stopped, err := load.Insert(t.Context(), workloadtest.Client(0, again)); err != nil || stopped != result.StoppedByRows {
				t.Fatal(stopped, err)
			}
			// Of transactions of 4, 4, 4, 4, 4 and 1 row, the first Pod has three with 12 rows, the second two with 8 and the last one.
			if want := []int64{12, 9}[pod]; again.Rows != want || before == 0 || before%4 != 0 {
				t.Errorf("%+v, Pod %d: %d rows before, then %d, want %d", p, pod, before, again.Rows, want)
			}
			if p.RatePerSecond > 0 && again.Slept[0] != time.Duration(pod+1)*time.Second {
				t.Errorf("the first measured transaction is due at %s", again.Slept[0])
			}
			sent = append(sent, append(rowsIn(t, s), rowsIn(t, again)...)...)
			rowsOfPods = append(rowsOfPods, before+again.Rows)
		}
		slices.Sort(sent)
		want := slices.Sorted(load.Sent(rowsOfPods))
		if !slices.Equal(sent, want) || len(slices.Compact(slices.Clone(sent))) != len(sent) {
			t.Errorf("%+v: sent %v\nexpected %v", p, sent, want)
		}
	}
}

// What is done is of both phases: who queries by the primary key finds all rows.
func TestDoneAfterWarmUp(t *testing.T) {
	l := numbers(6, 2, 2, workload.Share{Pods: 1}, workload.Pacing{})
	l.BeginWarmUp()
	c := workloadtest.Client(0, &workloadtest.Script{Took: time.Second})
	c.Limit = 3 * time.Second
	must.Get(l.Insert(t.Context(), c))(t)
	before := l.Done()
	l.Continue()
	if _, err := l.Insert(t.Context(), workloadtest.Client(0, &workloadtest.Script{})); err != nil || l.Done() != before+6 || before < 2 {
		t.Error(fmt.Sprint(before, l.Done(), err))
	}
}

// However statements are sent, and whatever their sizes: what follows a warm-up are the next rows, and no row is sent twice.
func TestWarmUpByEveryProtocol(t *testing.T) {
	warm := workload.Pacing{WarmupSeconds: 3}
	for _, protocol := range []string{ProtocolText, ProtocolPrepared, ProtocolBulk} {
		for _, size := range []struct{ rows, perStatement, perTransaction int64 }{
			{21, 2, 4}, {1, 1, 1}, {3, 5, 5}, {3, 2, 8}, {20, 5, 5}, {7, 3, 6},
		} {
			l := numbers(size.rows, size.perStatement, size.perTransaction, workload.Share{Pods: 1}, warm)
			if protocol != ProtocolText {
				l.AppendRow = func(dst []byte, n int64) []byte { return append(strconv.AppendInt(dst, n, 10), ',') }
				l.Prepare(protocol == ProtocolBulk, twoInts, 8)
			}
			s := &workloadtest.Script{Took: 300 * time.Millisecond}
			must.Do(t, l.Ready(0, s))
			l.BeginWarmUp()
			c := workloadtest.Client(0, s)
			c.Limit = 3 * time.Second
			must.Get(l.Insert(t.Context(), c))(t)
			before := s.Rows
			l.Continue()
			must.Get(l.Insert(t.Context(), workloadtest.Client(0, s)))(t)
			var sent []int64
			for _, statement := range s.Statements {
				for text := range strings.SplitSeq(statement[strings.LastIndexAny(statement, ": ")+1:], ",") {
					if n, err := strconv.ParseInt(text, 10, 64); err == nil {
						sent = append(sent, n)
					}
				}
			}
			want := slices.Collect(l.Sent([]int64{before + size.rows}))
			if before == 0 || s.Rows != before+size.rows || !slices.Equal(sent, want) {
				t.Errorf("%s, %+v: %d rows before, %d in all; sent %v, want %v", protocol, size, before, s.Rows, sent, want)
			}
			for _, p := range s.Prepared {
				if p.Rows > size.perStatement {
					t.Errorf("%s, %+v: a statement of %d rows is prepared", protocol, size, p.Rows)
				}
			}
		}
	}
}

// A warm-up sends whole transactions, however few rows are asked for after it: they must fit, too.
func TestStatementsOfWarmUpFit(t *testing.T) {
	for p, want := range map[workload.Pacing]int64{{}: 3, {WarmupSeconds: 1}: 5, {RampSeconds: 1}: 5} {
		l := numbers(3, 5, 10, workload.Share{Pods: 1}, p)
		must.Same(t, fmt.Sprintf("%+v: rows of a statement at most", p), want, (l.StatementBytes()-l.headBytes())/l.RowBytes)
	}
}

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
	must.Same(t, "sent", []int64{1, 2, 7, 8, 5, 6}, slices.Collect(d.Sent([]int64{4, 0, 2})))
	must.Same(t, "rows that were sent", 100, len(slices.Collect(d.Sent([]int64{200}))))
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
		"never":                  {nil, []string{"12", "34", "5", "COMMIT", "67", "8", "COMMIT"}},
		"at its first statement": {[]int{5}, []string{"12", "34", "5", "COMMIT", "67", "ROLLBACK", "67", "8", "COMMIT"}},
		"at its last statement":  {[]int{3}, []string{"12", "34", "5", "ROLLBACK", "12", "34", "5", "COMMIT", "67", "8", "COMMIT"}},
		"at its end":             {[]int{7}, []string{"12", "34", "5", "COMMIT", "67", "8", "COMMIT", "ROLLBACK", "67", "8", "COMMIT"}},
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
		must.Same(t, fmt.Sprintf("%+v", tc), tc.want, answered(tc.began, tc.now, tc.ago))
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
	must.Do(t, New(1, 1, 1, workload.Share{Pods: 1}).Ready(0, refusing{}))
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
