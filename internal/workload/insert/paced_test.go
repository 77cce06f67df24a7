// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/pace"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// numbers is a load of rows that are their numbers.
func numbers(rows, perStatement, perTransaction int64, share workload.Share, p pace.Parameters) *Load {
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
	l := numbers(8, 2, 3, workload.Share{Pods: 1}, pace.Parameters{RatePerSecond: 2})
	s := &workloadtest.Script{}
	stopped, err := l.Insert(t.Context(), workloadtest.Client(0, s))
	if err != nil || stopped != result.StoppedByRows {
		t.Fatalf("%s, %v", stopped, err)
	}
	want := []string{"INSERT 1,2", "INSERT 3", "COMMIT", "INSERT 4,5", "INSERT 6", "COMMIT", "INSERT 7,8", "COMMIT"}
	if diff := cmp.Diff(want, s.Statements); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
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
	l := numbers(4, 1, 1, workload.Share{Pods: 1}, pace.Parameters{RatePerSecond: 1})
	l.Autocommit = true
	s := &workloadtest.Script{Took: 3 * time.Second}
	if _, err := l.Insert(t.Context(), workloadtest.Client(0, s)); err != nil {
		t.Fatal(err)
	}
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
		l := numbers(10, 2, 2, workload.Share{Pod: int64(pod), Pods: 2}, pace.Parameters{RatePerSecond: 2})
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
		l := numbers(5, 1, 1, workload.Share{Pods: 1}, pace.Parameters{RatePerSecond: 1})
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
	l := numbers(100, 1, 2, workload.Share{Pods: 1}, pace.Parameters{ThinkTimeMilliseconds: 2000})
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
