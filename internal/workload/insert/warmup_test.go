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
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/pace"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

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
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// After a warm-up the measured phase has as many rows as were asked for, those that follow, also where the Pods got on unequally.
// What is expected in the table is what was sent.
func TestWarmUpAndThenContinue(t *testing.T) {
	for _, p := range []pace.Parameters{{}, {RatePerSecond: 4}, {ThinkTimeMilliseconds: 500}} {
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
	l := numbers(6, 2, 2, workload.Share{Pods: 1}, pace.Parameters{})
	l.BeginWarmUp()
	c := workloadtest.Client(0, &workloadtest.Script{Took: time.Second})
	c.Limit = 3 * time.Second
	if _, err := l.Insert(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	before := l.Done()
	l.Continue()
	if _, err := l.Insert(t.Context(), workloadtest.Client(0, &workloadtest.Script{})); err != nil || l.Done() != before+6 || before < 2 {
		t.Error(fmt.Sprint(before, l.Done(), err))
	}
}

// However statements are sent, and whatever their sizes: what follows a warm-up are the next rows, and no row is sent twice.
func TestWarmUpByEveryProtocol(t *testing.T) {
	warm := pace.Parameters{WarmupSeconds: 3}
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
			if err := l.Ready(0, s); err != nil {
				t.Fatal(err)
			}
			l.BeginWarmUp()
			c := workloadtest.Client(0, s)
			c.Limit = 3 * time.Second
			if _, err := l.Insert(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			before := s.Rows
			l.Continue()
			if _, err := l.Insert(t.Context(), workloadtest.Client(0, s)); err != nil {
				t.Fatal(err)
			}
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
	for p, want := range map[pace.Parameters]int64{{}: 3, {WarmupSeconds: 1}: 5, {RampSeconds: 1}: 5} {
		l := numbers(3, 5, 10, workload.Share{Pods: 1}, p)
		if got := (l.StatementBytes() - l.headBytes()) / l.RowBytes; got != want {
			t.Errorf("%+v: a statement has up to %d rows, want %d", p, got, want)
		}
	}
}
