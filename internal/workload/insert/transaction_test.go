// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	if !slices.Equal(slept, seconds(2, 4, 5)) {
		t.Errorf("thought until %v", s.Slept)
	}
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
		if got := (l.StatementBytes() - l.headBytes()) / l.RowBytes; got != want {
			t.Errorf("%+v: a statement has up to %d rows, want %d", p, got, want)
		}
	}
}
