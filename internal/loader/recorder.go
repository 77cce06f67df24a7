// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// Histograms hold 1 µs to 3,600 s to three significant digits; what lies outside counts as the nearest of these.
	minLatencyMicros    = 1
	maxLatencyMicros    = 3600 * 1000 * 1000
	significantDigits   = 3
	firstIntervalLength = time.Second
	// maxIntervals bounds the series: when it is full, neighbours are added up and intervals are twice as long from
	// then on.
	maxIntervals = 3600
)

// recorder is what one client measures. It belongs to that client's goroutine, but for rowsSoFar.
type recorder struct {
	start          time.Time
	insert, commit *hdrhistogram.Histogram
	// remove, query and load are made when they are needed: few workloads do.
	remove, query, load *hdrhistogram.Histogram
	totals              result.Totals
	// ended is when the last statement was answered.
	ended  time.Duration
	series series
	// milestones of all clients, or nil.
	milestones *milestones
	// rowsSoFar is for progress lines.
	rowsSoFar atomic.Int64
}

// newRecorders are those of clients that begin at start; its zero is now.
func newRecorders(n int, m *milestones, start time.Time) []*recorder {
	all := make([]*recorder, n)
	for i := range all {
		all[i] = newRecorder(time.Time{})
		all[i].milestones = m
	}
	if start.IsZero() {
		start = time.Now()
	}
	for _, r := range all {
		r.start = start
	}
	return all
}

func newRecorder(start time.Time) *recorder {
	return &recorder{start: start, insert: newHistogram(), commit: newHistogram(), series: newSeries()}
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(minLatencyMicros, maxLatencyMicros, significantDigits)
}

// Now implements workload.Recorder.
func (r *recorder) Now() time.Duration { return time.Since(r.start) }

// Insert implements workload.Recorder.
func (r *recorder) Insert(began, ended time.Duration, rows int64) {
	observe(r.insert, ended-began)
	r.totals.Statements++
	r.totals.Rows += rows
	r.ended = ended
	r.series.at(ended).Rows += rows
	r.rowsSoFar.Store(r.totals.Rows)
	if r.milestones != nil {
		r.milestones.pass(ended, rows)
	}
}

// Commit implements workload.Recorder.
func (r *recorder) Commit(began, ended time.Duration) {
	took := observe(r.commit, ended-began)
	r.totals.Statements++
	r.totals.Transactions++
	r.ended = ended
	interval := r.series.at(ended)
	interval.Transactions++
	interval.MaxMicros = max(interval.MaxMicros, took)
}

// Delete implements workload.Recorder.
func (r *recorder) Delete(began, ended time.Duration, rows int64) {
	if r.remove == nil {
		r.remove = newHistogram()
	}
	observe(r.remove, ended-began)
	r.totals.Statements++
	r.totals.RowsDeleted += rows
	r.ended = ended
	r.series.at(ended).RowsDeleted += rows
}

// Query implements workload.Recorder.
func (r *recorder) Query(began, ended time.Duration) {
	if r.query == nil {
		r.query = newHistogram()
	}
	observe(r.query, ended-began)
	r.totals.Statements++
	r.totals.Queries++
	r.ended = ended
	r.series.at(ended).Queries++
}

// observe records a latency and returns it in microseconds.
func observe(h *hdrhistogram.Histogram, took time.Duration) int64 {
	micros := min(max(took.Microseconds(), minLatencyMicros), maxLatencyMicros)
	// The value lies within the histogram's bounds, which is the only thing that it objects to.
	_ = h.RecordValue(micros)
	return micros
}

// merge adds what another client measured at the same time.
func (r *recorder) merge(other *recorder) {
	r.insert = merged(r.insert, other.insert)
	r.commit = merged(r.commit, other.commit)
	r.remove = merged(r.remove, other.remove)
	r.query = merged(r.query, other.query)
	r.load = merged(r.load, other.load)
	r.totals.Rows += other.totals.Rows
	r.totals.Transactions += other.totals.Transactions
	r.totals.Statements += other.totals.Statements
	r.totals.RowsDeleted += other.totals.RowsDeleted
	r.totals.Queries += other.totals.Queries
	r.totals.Bytes += other.totals.Bytes
	r.ended = max(r.ended, other.ended)
	r.series.merge(&other.series)
}

// merged adds two histograms, either of which may be nil. Both are used up.
func merged(a, b *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	if a == nil {
		return b
	}
	if b != nil {
		// Both were made by newHistogram: nothing is dropped.
		_ = a.Merge(b)
	}
	return a
}

// operations are what latencies are measured of, by their names in a result.
var operations = []string{"commit", "insert", "delete", "query", "load"}

// histogram is where the latencies of an operation are; nil if it is none.
func (r *recorder) histogram(operation string) **hdrhistogram.Histogram {
	return map[string]**hdrhistogram.Histogram{
		"commit": &r.commit, "insert": &r.insert, "delete": &r.remove, "query": &r.query, "load": &r.load,
	}[operation]
}

// latencies are the distributions of what happened at all.
func (r *recorder) latencies() ([]result.Latency, error) {
	var all []result.Latency
	for _, operation := range operations {
		h := *r.histogram(operation)
		if h == nil || h.TotalCount() == 0 {
			continue
		}
		encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			return nil, err
		}
		all = append(all, result.Latency{
			Operation: operation, Count: h.TotalCount(),
			MinMicros: h.Min(), MeanMicros: int64(h.Mean() + 0.5),
			P50Micros: h.ValueAtQuantile(50), P95Micros: h.ValueAtQuantile(95),
			P99Micros: h.ValueAtQuantile(99), P999Micros: h.ValueAtQuantile(99.9),
			MaxMicros: h.Max(), Histogram: string(encoded),
		})
	}
	return all, nil
}

// series are equally long intervals from the beginning of the measured phase, each without its beginning and with its
// end.
type series struct {
	length    time.Duration
	intervals []result.Interval
	// end of the last interval.
	end time.Duration
}

func newSeries() series {
	// Room for five minutes: growing would cost time while measuring.
	return series{length: firstIntervalLength, intervals: make([]result.Interval, 0, 300)}
}

// at is the interval of a time that is no earlier than that of the call before. Intervals in which nothing happened are
// made on the way: they are what a stall looks like.
func (s *series) at(t time.Duration) *result.Interval {
	for t > s.end || len(s.intervals) == 0 {
		if len(s.intervals) == maxIntervals {
			s.double()
		}
		s.end += s.length
		s.intervals = append(s.intervals, result.Interval{EndMicros: s.end.Microseconds()})
	}
	return &s.intervals[len(s.intervals)-1]
}

// double makes intervals twice as long.
func (s *series) double() {
	s.length *= 2
	merged := s.intervals[:0]
	for pair := range slices.Chunk(s.intervals, 2) {
		sum := pair[0]
		sum.EndMicros = int64(len(merged)+1) * s.length.Microseconds()
		for _, other := range pair[1:] {
			add(&sum, other)
		}
		merged = append(merged, sum)
	}
	s.intervals = merged
	s.end = time.Duration(len(merged)) * s.length
}

// add adds what happened in another interval.
func add(to *result.Interval, other result.Interval) {
	to.Rows += other.Rows
	to.Transactions += other.Transactions
	to.RowsDeleted += other.RowsDeleted
	to.Queries += other.Queries
	to.Bytes += other.Bytes
	to.MaxMicros = max(to.MaxMicros, other.MaxMicros)
}

// merge adds a series that began at the same time. The other one is used up.
func (s *series) merge(other *series) {
	for s.length < other.length {
		s.double()
	}
	for other.length < s.length {
		other.double()
	}
	for i, interval := range other.intervals {
		if i == len(s.intervals) {
			s.intervals = append(s.intervals, interval)
			s.end += s.length
			continue
		}
		add(&s.intervals[i], interval)
	}
}

// cut returns the intervals of a measured phase that ended at the given time: the last one ends then.
func (s *series) cut(ended time.Duration) []result.Interval {
	if n := len(s.intervals); n > 0 {
		s.intervals[n-1].EndMicros = min(s.intervals[n-1].EndMicros, ended.Microseconds())
	}
	return s.intervals
}
