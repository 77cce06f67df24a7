// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
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

// Check is what a script's check command says of one condition.
type Check struct {
	Name   string
	Passed bool
	// Detail is what follows the verdict.
	Detail string
}

// checkLine is "Check 1, warehouse: 3 PASSED", or "… FAILED!!!" with whatever follows.
var checkLine = regexp.MustCompile(`(?m)^[ \t]*(Check [^\n]*?)[: ]+(PASSED|FAILED)[!:]*[ \t]*([^\n]*?)[ \t\r]*$`)

// ParseChecks reads the output of a script's check command.
func ParseChecks(output string) []Check {
	var all []Check
	for _, m := range checkLine.FindAllStringSubmatch(output, -1) {
		all = append(all, Check{Name: m[1], Passed: m[2] == "PASSED", Detail: m[3]})
	}
	return all
}

// number is padded to four characters, which nan is not.
const number = ` *(-?[\d.]+|-?nan|-?inf)`

var intervalLine = regexp.MustCompile(`^\[ (\d+)s \] thds: \d+ (?:tps|eps): ` + number + `(?: qps: .+)? lat \(ms,(\d+)%\): ` +
	number + `(?: err/s.+)?$`)

// queueLine follows the line of an interval if events are due at a given rate.
var queueLine = regexp.MustCompile(`^\[ \d+s \] queue length: (\d+),? concurrency: \d+$`)

// parseInterval reads a line of intermediate results; nil if it is none.
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

// summary reads a line of a cumulative report.
func (p *Parser) summary(label, value string) {
	s := p.start()
	switch p.section {
	case sqlSection:
		s.sql(label, value)
	case generalSection:
		s.general(label, value)
	case latencySection:
		s.Latency.read(label, value)
	case noSection, optionsSection, histogramSection, foreignSection:
	}
}

func (s *Summary) sql(label, value string) {
	switch label {
	case "total":
		s.SQL.Queries = integer(value)
	case "transactions":
		s.SQL.Transactions = count(value)
	case "ignored errors":
		s.SQL.IgnoredErrors = count(value)
	case "reconnects":
		s.SQL.Reconnects = count(value)
	case "Number of unfinished transactions on forced shutdown":
		s.Unfinished = integer(value)
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
	switch label {
	case "min":
		l.Min = decimal(value)
	case "avg":
		l.Avg = decimal(value)
	case "max":
		l.Max = decimal(value)
	case "sum":
		l.Sum = decimal(value)
	}
}

// count reads a number without the rate that follows in parentheses.
func count(value string) int64 {
	total, _, _ := strings.Cut(value, "(")
	return integer(total)
}
