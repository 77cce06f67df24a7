// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sysbench reads what sysbench 1.0 and 1.1 print. It is pure: text in, values out.
//
// Everything is found by its label and never by its column. A number that sysbench could not compute (nan, inf) and a
// latency of an interval in which nothing finished are nil: there is no datum, which is not zero.
package sysbench

// Report is what one execution of sysbench printed.
type Report struct {
	// Version and LuaJIT are the banner's; empty if there is none.
	Version string `json:"version,omitempty"`
	LuaJIT  string `json:"luaJIT,omitempty"`
	// Options are those that sysbench repeats.
	Options   Options    `json:"options"`
	Intervals []Interval `json:"intervals,omitempty"`
	// Checkpoints are cumulative reports before the end. Each covers the time since the one before it.
	Checkpoints []Summary `json:"checkpoints,omitempty"`
	// Final is the cumulative report at the end: of the whole run, or since the last checkpoint. It is nil if sysbench
	// suppressed it, which is what it does when an error ends a run.
	Final *Summary `json:"final,omitempty"`
	// Errors are sysbench's own lines about what went wrong, the first 20 of them.
	Errors []string `json:"errors,omitempty"`
	// Counts are the sums of what the script's threads counted: see counted.
	Counts map[string]int64 `json:"counts,omitempty"`
}

// Options are what the head of the output says.
type Options struct {
	Threads int64 `json:"threads,omitempty"`
	// WarmupSeconds is from 1.1 on.
	WarmupSeconds int64 `json:"warmupSeconds,omitempty"`
	// Rate is the target in transactions per second; 0 is none.
	Rate int64 `json:"rate,omitempty"`
	// ReportSeconds is the length of an interval.
	ReportSeconds     int64   `json:"reportSeconds,omitempty"`
	CheckpointSeconds []int64 `json:"checkpointSeconds,omitempty"`
	Debug             bool    `json:"debug,omitempty"`
	Validation        bool    `json:"validation,omitempty"`
	// Seed is nil if sysbench took the time for it, or said nothing.
	Seed *int64 `json:"seed,omitempty"`
	// ForcedShutdownSeconds is nil without one.
	ForcedShutdownSeconds *int64 `json:"forcedShutdownSeconds,omitempty"`
}

// Interval is a line of intermediate results. Rates are of the interval and per second.
type Interval struct {
	// Second is when it ended.
	Second  int64 `json:"second"`
	Threads int64 `json:"threads"`
	// Events are transactions of SQL tests.
	Events *float64 `json:"events"`
	// Queries and what they are made of are nil for tests without SQL.
	Queries *float64 `json:"queries,omitempty"`
	Reads   *float64 `json:"reads,omitempty"`
	Writes  *float64 `json:"writes,omitempty"`
	Others  *float64 `json:"others,omitempty"`
	// Percentile of LatencyMillis; 0 if the line does not name it.
	Percentile int64 `json:"percentile,omitempty"`
	// LatencyMillis is nil if no event finished.
	LatencyMillis *float64 `json:"latencyMillis"`
	// Errors are ignored ones, after which an event was tried again.
	Errors     *float64 `json:"errors,omitempty"`
	Reconnects *float64 `json:"reconnects,omitempty"`
	// QueueLength and Concurrency are known with a target rate.
	QueueLength *int64 `json:"queueLength,omitempty"`
	Concurrency *int64 `json:"concurrency,omitempty"`
}

// Summary is a cumulative report.
type Summary struct {
	// Second of a checkpoint; 0 at the end.
	Second int64 `json:"second,omitempty"`
	// SQL is nil for tests without it.
	SQL *SQL `json:"sql,omitempty"`
	// Unfinished transactions at a forced shutdown.
	Unfinished int64 `json:"unfinished,omitempty"`
	// Seconds is the total time of 1.0, or the time elapsed of 1.1.
	Seconds *float64 `json:"seconds"`
	Events  int64    `json:"events"`
	// EventsPerSecond is from 1.1 on.
	EventsPerSecond *float64 `json:"eventsPerSecond,omitempty"`
	Latency         Latency  `json:"latency"`
	Fairness        Fairness `json:"fairness"`
	// Histogram of latencies, in the order of its values; empty if it was not asked for.
	Histogram []Bucket `json:"histogram,omitempty"`

	hasSeconds, hasEvents bool
}

// SQL statistics.
type SQL struct {
	Reads        int64 `json:"reads"`
	Writes       int64 `json:"writes"`
	Others       int64 `json:"others"`
	Queries      int64 `json:"queries"`
	Transactions Count `json:"transactions"`
	QueryRate    Count `json:"queryRate"`
	// IgnoredErrors are those after which an event was tried again.
	IgnoredErrors Count `json:"ignoredErrors"`
	Reconnects    Count `json:"reconnects"`
}

// Count is a number and its rate.
type Count struct {
	Total     int64    `json:"total"`
	PerSecond *float64 `json:"perSecond"`
}

// Latency of events in milliseconds.
type Latency struct {
	Min *float64 `json:"min"`
	Avg *float64 `json:"avg"`
	Max *float64 `json:"max"`
	// Percentile is which one Value is; 0 if percentiles were switched off.
	Percentile int64    `json:"percentile,omitempty"`
	Value      *float64 `json:"value,omitempty"`
	Sum        *float64 `json:"sum"`
}

// Fairness says how equally the threads fared.
type Fairness struct {
	EventsAvg     *float64 `json:"eventsAvg"`
	EventsStddev  *float64 `json:"eventsStddev"`
	SecondsAvg    *float64 `json:"secondsAvg"`
	SecondsStddev *float64 `json:"secondsStddev"`
}

// Bucket is a line of the histogram: so many events took about so long. The values are the same in every output, 1.8 %
// apart, so that histograms may be added.
type Bucket struct {
	Millis float64 `json:"millis"`
	Count  int64   `json:"count"`
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
