// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package output reads what sysbench 1.0 and 1.1 print, as far as anybody uses it. It is pure: text in, values out.
//
// Everything is found by its label and never by its column. A number that sysbench could not compute (nan, inf) and a
// latency of an interval in which nothing finished are nil: there is no datum, which is not zero.
package output

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
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
	s.SQL.Other += other.SQL.Other
	s.SQL.Transactions += other.SQL.Transactions
	s.SQL.IgnoredErrors += other.SQL.IgnoredErrors
	s.SQL.Reconnects += other.SQL.Reconnects
	s.Latency.Min = combine(s.Latency.Min, other.Latency.Min, math.Min)
	s.Latency.Max = combine(s.Latency.Max, other.Latency.Max, math.Max)
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
	sums := map[int64]Interval{}
	for _, r := range reports {
		for _, i := range r.Intervals {
			sum := sums[i.Second] // without a datum, if it is the first one
			i.Events = combine(sum.Events, i.Events, plus)
			i.LatencyMillis = combine(sum.LatencyMillis, i.LatencyMillis, math.Max)
			sums[i.Second] = i
		}
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b Interval) int { return cmp.Compare(a.Second, b.Second) })
}

// checkLine is "Check 1, warehouse: 3 PASSED", or "… FAILED!!!" with whatever follows.
var checkLine = regexp.MustCompile(`(?m)^[ \t]*(Check [^\n]*?)[: ]+(PASSED|FAILED)[!:]*[ \t]*([^\n]*?)[ \t\r]*$`)

// ParseChecks reads the output of a script's check command.
func ParseChecks(output string) []result.Check {
	var all []result.Check
	for _, m := range checkLine.FindAllStringSubmatch(output, -1) {
		all = append(all, result.Check{Name: m[1], Passed: m[2] == "PASSED", Detail: m[3]})
	}
	return all
}

// number is padded to four characters, which nan is not.
const number = ` *(-?[\d.]+|-?nan|-?inf)`

var intervalLine = regexp.MustCompile(`^\[ (\d+)s \] thds: \d+ (?:tps|eps): ` + number + `(?: qps: .+)? lat \(ms,(\d+)%\): ` +
	number + `(?: err/s.+)?$`)

// queueLine follows the line of an interval if events are due at a given rate.
var queueLine = regexp.MustCompile(`^\[ \d+s \] queue length: (\d+),? concurrency: \d+$`)

func parseInterval(line string) *Interval {
	m := intervalLine.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	i := &Interval{Second: integer(m[1]), Events: decimal(m[2]), LatencyMillis: decimal(m[4])}
	// Where no event finished, and where percentiles are switched off, sysbench prints 0.00.
	if i.Events == nil || *i.Events == 0 || integer(m[3]) == 0 {
		i.LatencyMillis = nil
	}
	return i
}

func (s *Summary) sql(label, value string) {
	field := map[string]*int64{
		"total": &s.SQL.Queries, "other": &s.SQL.Other, "transactions": &s.SQL.Transactions, "ignored errors": &s.SQL.IgnoredErrors,
		"reconnects": &s.SQL.Reconnects, "Number of unfinished transactions on forced shutdown": &s.Unfinished,
	}[label]
	if field != nil {
		n, _, _ := strings.Cut(value, "(") // a rate may follow
		*field = integer(n)
	}
}

func (s *Summary) general(label, value string) {
	switch label {
	case "total time", "time elapsed":
		s.Seconds, s.hasSeconds = decimal(strings.TrimSuffix(value, "s")), true
	case "total number of events":
		s.Events, s.hasEvents = integer(value), true
	}
}

func (l *Latency) read(label, value string) {
	field := map[string]**float64{"min": &l.Min, "avg": &l.Avg, "max": &l.Max, "sum": &l.Sum}[label]
	if field != nil {
		*field = decimal(value)
	}
}

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
	Queries int64 `json:"queries"`
	// Other are those of the queries that neither read nor write: the commands of transactions.
	Other        int64 `json:"-"`
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
	sql.Other = of(sql.Other)
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
	total := HistogramEvents(buckets)
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
