// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package output reads what sysbench 1.0 and 1.1 print, as far as anybody uses it. It is pure: text in, values out.
//
// Everything is found by its label and never by its column. A number that sysbench could not compute (nan, inf) and a
// latency of an interval in which nothing finished are nil: there is no datum, which is not zero.
package output

import "math"

// Report is what one execution of sysbench printed.
type Report struct {
	// Version is the banner's; empty if there is none.
	Version string `json:"version,omitempty"`
	// Threads are those of the options that sysbench repeats.
	Threads   int64      `json:"threads,omitempty"`
	Intervals []Interval `json:"intervals,omitempty"`
	// Queue is how many events waited for a thread when the last interval ended; nil if none were due at a given rate.
	Queue *int64 `json:"queue,omitempty"`
	// Final is the cumulative report at the end, or nil if sysbench suppressed it: it does so when an error ends a run.
	Final *Summary `json:"final,omitempty"`
	// Errors are sysbench's own lines about what went wrong, the first 20 of them.
	Errors []string `json:"errors,omitempty"`
	// Counts are the sums of what the script's threads counted: see counted.
	Counts map[string]int64 `json:"counts,omitempty"`
}

// Interval is a line of intermediate results.
type Interval struct {
	// Second is when it ended.
	Second int64 `json:"second"`
	// Events per second, which are transactions of SQL tests.
	Events *float64 `json:"events"`
	// LatencyMillis is a percentile. It is nil if no event finished, or if percentiles were switched off.
	LatencyMillis *float64 `json:"latencyMillis"`
}

// Summary is a cumulative report.
type Summary struct {
	// SQL is nil for tests without it.
	SQL *SQL `json:"sql,omitempty"`
	// Unfinished transactions at a forced shutdown.
	Unfinished int64 `json:"unfinished,omitempty"`
	// Seconds is the total time of 1.0, or the time elapsed of 1.1.
	Seconds *float64 `json:"seconds"`
	Events  int64    `json:"events"`
	Latency Latency  `json:"latency"`
	// Histogram of latencies, in the order of its values; empty if it was not asked for.
	Histogram []Bucket `json:"histogram,omitempty"`

	hasSeconds, hasEvents bool
	// checkpoint says that it was not printed at the end.
	checkpoint bool
}

// SQL statistics.
type SQL struct {
	Queries      int64 `json:"queries"`
	Transactions int64 `json:"transactions"`
	// IgnoredErrors are those after which an event was tried again.
	IgnoredErrors int64 `json:"ignoredErrors"`
	Reconnects    int64 `json:"reconnects"`
}

// Latency of events in milliseconds.
type Latency struct {
	Min *float64 `json:"min"`
	Avg *float64 `json:"avg"`
	Max *float64 `json:"max"`
	Sum *float64 `json:"sum"`
}

// Bucket is a line of the histogram: so many events took about so long. The values are the same in every output, 1.8%
// apart, so that histograms may be added.
type Bucket struct {
	Millis float64 `json:"millis"`
	Count  int64   `json:"count"`
}

// Part is a report of a part of what was measured, which took so many seconds: without times.
func (r *Report) Part(share, seconds float64) *Report {
	of := func(n int64) int64 { return int64(math.Round(share * float64(n))) }
	part, final, sql := *r, *r.Final, *r.Final.SQL
	sql.Queries, sql.Transactions, sql.IgnoredErrors = of(sql.Queries), of(sql.Transactions), of(sql.IgnoredErrors)
	final.Events, final.Seconds, final.SQL, final.Histogram, final.Latency = of(final.Events), &seconds, &sql, nil, Latency{}
	part.Final, part.Intervals, part.Counts = &final, nil, map[string]int64{}
	for name, n := range r.Counts {
		part.Counts[name] = of(n)
	}
	return &part
}

// Percentile is the value below or at which so many percent of the events are, as sysbench itself computes it; false if
// there is no event.
func Percentile(buckets []Bucket, percent float64) (millis float64, known bool) {
	total := int64(0)
	for _, b := range buckets {
		total += b.Count
	}
	if total < 1 {
		return 0, false
	}
	wanted := int64(float64(total)*percent/100 + 0.5)
	seen := int64(0)
	for _, b := range buckets {
		if seen += b.Count; seen >= wanted {
			return b.Millis, true
		}
	}
	return buckets[len(buckets)-1].Millis, true
}

// HistogramEvents is the number of events in a histogram.
func HistogramEvents(buckets []Bucket) int64 {
	total := int64(0)
	for _, b := range buckets {
		total += b.Count
	}
	return total
}
