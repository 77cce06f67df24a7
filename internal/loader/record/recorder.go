// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package record keeps what clients measure: latencies, totals, a series, and milestones; and carries it from one of several
// Pods to the first.
package record

import (
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

type operation int

const (
	commit operation = iota
	insert
	remove
	query
	load
	wait
	rolledBack
	transaction
	queued
	index
	statement
)

// operations by their names in a result.
var operations = [...]string{
	commit: "commit", insert: "insert", remove: "delete", query: "query", load: "load", wait: "wait", rolledBack: "rolledBack",
	transaction: "transaction", queued: "queued", index: "index", statement: "statement",
}

// Recorder is what one client measures. Only that client's goroutine may use it, except for RowsSoFar.
type Recorder struct {
	clock *Clock
	// histograms are made when they are needed: no workload does everything.
	histograms [len(operations)]*hdrhistogram.Histogram
	totals     result.Totals
	// kinds are those of transactions, if there are several.
	kinds []Kind
	// outside is what was answered outside of the windows of slices, and ignored the interval of that.
	outside result.Totals
	ignored result.Interval
	// ended is when the last statement was answered, by the time that counts, and counts whether that was within a window.
	ended  time.Duration
	counts bool
	// began is when the last transaction of an offered rate began.
	began      time.Duration
	series     series
	milestones *Milestones
	// rowsSoFar is for progress lines.
	rowsSoFar atomic.Int64
}

// Kind is what was measured of a kind of transactions: how many there were that count, with how many rows, and how often one
// was tried again.
type Kind struct {
	Name                      string
	Transactions, Rows, Again int64
	histogram                 *hdrhistogram.Histogram
}

// NewRecorders are those of n clients that begin at start; its zero is now. m may be nil. They have one clock.
func NewRecorders(n int, m *Milestones, start time.Time) ([]*Recorder, *Clock) {
	all, clock := make([]*Recorder, n), NewClock(start)
	for i := range all {
		all[i] = newRecorder(clock)
		all[i].milestones = m
	}
	return all, clock
}

func newRecorder(clock *Clock) *Recorder { return &Recorder{clock: clock, series: newSeries()} }

// Now implements workload.Recorder.
func (r *Recorder) Now() time.Duration { return r.clock.Now() }

// Insert implements workload.Recorder.
func (r *Recorder) Insert(began, ended time.Duration, rows int64) {
	totals, interval := r.statement(insert, began, ended)
	interval.Rows += rows
	totals.Rows += rows
	r.rowsSoFar.Add(rows)
	if r.milestones != nil && r.counts {
		r.milestones.pass(r.ended, rows)
	}
}

// Commit implements workload.Recorder.
func (r *Recorder) Commit(began, ended time.Duration) {
	countTransaction(r.statement(commit, began, ended))
}

// Committed implements workload.Recorder.
func (r *Recorder) Committed() { countTransaction(r.place(r.ended, r.counts)) }

// Delete implements workload.Recorder.
func (r *Recorder) Delete(began, ended time.Duration, rows int64) {
	totals, interval := r.statement(remove, began, ended)
	interval.RowsDeleted += rows
	totals.RowsDeleted += rows
}

// Query implements workload.Recorder.
func (r *Recorder) Query(began, ended time.Duration) {
	totals, interval := r.statement(query, began, ended)
	interval.Queries++
	totals.Queries++
}

// Indexed implements workload.Recorder.
func (r *Recorder) Indexed(began, ended time.Duration) { r.statement(index, began, ended) }

// Sent implements workload.Recorder.
func (r *Recorder) Sent(at time.Duration, rows, bytes int64) {
	totals, interval := r.place(r.clock.counted(at))
	totals.Rows += rows
	totals.Bytes += bytes
	interval.Rows += rows
	interval.Bytes += bytes
	r.rowsSoFar.Add(rows)
}

// Loaded implements workload.Recorder.
func (r *Recorder) Loaded(began, ended time.Duration) {
	countTransaction(r.statement(load, began, ended))
}

func countTransaction(totals *result.Totals, interval *result.Interval) {
	totals.Transactions++
	interval.Transactions++
}

// Wait implements workload.Recorder.
func (r *Recorder) Wait(began, ended time.Duration) { r.span(wait, began, began, ended) }

// Transaction implements workload.Recorder.
func (r *Recorder) Transaction(due, began, ended time.Duration) {
	r.span(queued, began, due, began)
	r.span(transaction, began, due, ended)
	r.began = max(r.began, began)
}

// HasKinds names kinds of transactions.
func (r *Recorder) HasKinds(names []string) {
	for _, name := range names {
		r.kinds = append(r.kinds, Kind{Name: name, histogram: workload.NewHistogram()})
	}
}

// Kinds are those of transactions.
func (r *Recorder) Kinds() []Kind { return r.kinds }

// Executed implements workload.Recorder.
func (r *Recorder) Executed(began, ended time.Duration) { r.statement(statement, began, ended) }

// Done implements workload.Recorder.
func (r *Recorder) Done(kind int, due, began, ended time.Duration, rows, again int64) {
	if due < began {
		r.Transaction(due, began, ended)
	} else {
		r.span(transaction, began, began, ended)
		r.began = max(r.began, began)
	}
	countTransaction(r.place(r.ended, r.counts))
	k := &r.kinds[kind]
	if _, within := r.clock.counted(began); within {
		_ = k.histogram.RecordValue(latencyMicros(ended - due)) // it is within the bounds
	}
	if r.counts {
		k.Transactions, k.Rows, k.Again = k.Transactions+1, k.Rows+rows, k.Again+again
	}
}

// RolledBack implements workload.Recorder.
func (r *Recorder) RolledBack(began, ended time.Duration) {
	r.span(rolledBack, began, began, ended)
	totals, interval := r.place(r.ended, r.counts)
	interval.Errors++
	totals.Errors++
}

// statement is a span that the server has answered. It returns where that is counted.
func (r *Recorder) statement(op operation, began, ended time.Duration) (*result.Totals, *result.Interval) {
	r.span(op, began, began, ended)
	totals, interval := r.place(r.ended, r.counts)
	totals.Statements++
	return totals, interval
}

// span records a latency. In slices, a rate is what was answered within the windows; but a latency is of what began in one,
// because what takes long is rarely answered before the slice's end.
func (r *Recorder) span(op operation, began, from, ended time.Duration) {
	_, within := r.clock.counted(began)
	micros := latencyMicros(ended - from)
	r.ended, r.counts = r.clock.counted(ended)
	if within {
		h := r.histograms[op]
		if h == nil {
			h = workload.NewHistogram()
			r.histograms[op] = h
		}
		// The value lies within the histogram's bounds, which is the only thing that it objects to.
		_ = h.RecordValue(micros)
	}
	if r.counts {
		interval := r.series.at(r.ended)
		interval.MaxMicros = max(interval.MaxMicros, micros)
	}
}

// place is where something is added up: the sums and the interval of a time that counts, or what is outside.
func (r *Recorder) place(at time.Duration, counts bool) (*result.Totals, *result.Interval) {
	if counts {
		return &r.totals, r.series.at(at)
	}
	return &r.outside, &r.ignored
}

// latencyMicros is a time as the histograms take it.
func latencyMicros(d time.Duration) int64 {
	return workload.WithinHistogram(d.Microseconds())
}

// RowsSoFar may be called by any goroutine.
func (r *Recorder) RowsSoFar() int64 { return r.rowsSoFar.Load() }

// Totals are sums of what counts, without a time.
func (r *Recorder) Totals() result.Totals { return r.totals }

// All are the sums of everything, without a time.
func (r *Recorder) All() result.Totals {
	all := r.totals
	all.Add(&r.outside)
	return all
}

// Outside are the sums of what was answered outside of the windows of slices, without a time.
func (r *Recorder) Outside() result.Totals { return r.outside }

// Ended is when the last statement was answered.
func (r *Recorder) Ended() time.Duration { return r.ended }

// Began is when the last transaction of an offered rate began.
func (r *Recorder) Began() time.Duration { return r.began }

// Series are the intervals until then.
func (r *Recorder) Series() []result.Interval { return r.series.cut(r.ended) }

// Shorten makes intervals longer until there are no more than so many in the series.
func (r *Recorder) Shorten(intervals int) {
	for len(r.series.intervals) > max(intervals, 1) {
		r.series.double()
	}
}

// Merge adds what another client measured at the same time, which is used up.
func (r *Recorder) Merge(other *Recorder) {
	for op, h := range other.histograms {
		if own := r.histograms[op]; own == nil {
			r.histograms[op] = h
		} else if h != nil {
			_ = own.Merge(h) // both have the same bounds: nothing is dropped
		}
	}
	for i := range other.kinds {
		k, more := &r.kinds[i], &other.kinds[i]
		k.Transactions, k.Rows, k.Again = k.Transactions+more.Transactions, k.Rows+more.Rows, k.Again+more.Again
		_ = k.histogram.Merge(more.histogram) // as above
	}
	r.totals.Add(&other.totals)
	r.outside.Add(&other.outside)
	r.ended = max(r.ended, other.ended)
	r.began = max(r.began, other.began)
	r.series.merge(&other.series)
}

// Latencies are the distributions of what happened at all.
func (r *Recorder) Latencies() ([]result.Latency, error) {
	var all []result.Latency
	add := func(name string, h *hdrhistogram.Histogram) error {
		if h == nil || h.TotalCount() == 0 {
			return nil
		}
		latency, err := workload.LatencyOf(name, h)
		all = append(all, latency)
		return err
	}
	for op, h := range r.histograms {
		if err := add(operations[op], h); err != nil {
			return nil, err
		}
	}
	for _, k := range r.kinds {
		if err := add(k.Name, k.histogram); err != nil {
			return nil, err
		}
	}
	return all, nil
}
