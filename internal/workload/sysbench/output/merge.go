// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	"cmp"
	"maps"
	"slices"
)

// Merge adds up the reports of executions that ran at the same time and took so many seconds together. Each must have its
// cumulative report, with SQL statistics.
func Merge(reports []*Report, seconds float64) *Report {
	if len(reports) == 1 {
		return reports[0]
	}
	all := &Report{Version: reports[0].Version, Counts: map[string]int64{}}
	f := &Summary{SQL: &SQL{}, Seconds: &seconds}
	for _, r := range reports {
		all.Threads += r.Threads
		all.Queue = combine(all.Queue, r.Queue, plus)
		all.Errors = append(all.Errors, r.Errors...)
		for name, n := range r.Counts {
			all.Counts[name] += n
		}
		f.add(r.Final)
	}
	if f.Latency.Sum != nil && f.Events > 0 {
		average := *f.Latency.Sum / float64(f.Events)
		f.Latency.Avg = &average
	}
	all.Final, all.Intervals = f, mergeIntervals(reports)
	return all
}

func (s *Summary) add(other *Summary) {
	s.Events += other.Events
	s.Unfinished += other.Unfinished
	s.SQL.Queries += other.SQL.Queries
	s.SQL.Transactions += other.SQL.Transactions
	s.SQL.IgnoredErrors += other.SQL.IgnoredErrors
	s.SQL.Reconnects += other.SQL.Reconnects
	s.Latency.Min = combine(s.Latency.Min, other.Latency.Min, func(a, b float64) float64 { return min(a, b) })
	s.Latency.Max = combine(s.Latency.Max, other.Latency.Max, func(a, b float64) float64 { return max(a, b) })
	s.Latency.Sum = combine(s.Latency.Sum, other.Latency.Sum, plus)
	s.Histogram = addBuckets(s.Histogram, other.Histogram)
}

func plus[N int64 | float64](a, b N) N { return a + b }

// combine two numbers, either of which may be unknown.
func combine[N int64 | float64](a, b *N, how func(a, b N) N) *N {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	c := how(*a, *b)
	return &c
}

// addBuckets adds histograms: their values are the same everywhere.
func addBuckets(a, b []Bucket) []Bucket {
	counts := map[float64]int64{}
	for _, bucket := range slices.Concat(a, b) {
		counts[bucket.Millis] += bucket.Count
	}
	sum := make([]Bucket, 0, len(counts))
	for _, millis := range slices.Sorted(maps.Keys(counts)) {
		sum = append(sum, Bucket{Millis: millis, Count: counts[millis]})
	}
	return sum
}

// mergeIntervals adds up those that ended in the same second. The latency is the largest one.
func mergeIntervals(reports []*Report) []Interval {
	sums := map[int64]*Interval{}
	for _, r := range reports {
		for _, i := range r.Intervals {
			sum := sums[i.Second]
			if sum == nil {
				sums[i.Second] = &i
				continue
			}
			sum.Events = combine(sum.Events, i.Events, plus)
			sum.LatencyMillis = combine(sum.LatencyMillis, i.LatencyMillis, func(a, b float64) float64 { return max(a, b) })
		}
	}
	var all []Interval
	for _, i := range sums {
		all = append(all, *i)
	}
	slices.SortFunc(all, func(a, b Interval) int { return cmp.Compare(a.Second, b.Second) })
	return all
}
