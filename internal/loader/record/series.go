// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	firstIntervalLength = time.Second
	// maxIntervals bounds the series: when it is full, neighbours are added up and intervals are twice as long from
	// then on.
	maxIntervals = 3600
)

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

// at is the interval of a time that is no earlier than that of the call before.
func (s *series) at(t time.Duration) *result.Interval {
	if t > s.end || len(s.intervals) == 0 {
		s.extend(t)
	}
	return &s.intervals[len(s.intervals)-1]
}

// extend makes the intervals up to a time, and one at least. Those in which nothing happened are what a stall looks like.
func (s *series) extend(t time.Duration) {
	for t > s.end || len(s.intervals) == 0 {
		if len(s.intervals) == maxIntervals {
			s.double()
		}
		s.end += s.length
		s.intervals = append(s.intervals, result.Interval{EndMicros: s.end.Microseconds()})
	}
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
	to.Errors += other.Errors
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
