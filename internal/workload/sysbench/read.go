// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
)

const (
	millisecond = 1000 // microseconds
	second      = 1_000_000
	maxSeries   = 3600
)

func (t *sysbenchTool) Read(executions []*workload.Execution) (*workload.Reading, error) {
	var reports []*output.Report
	for _, e := range executions {
		report, err := wholeReport(e)
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	report := output.Merge(reports, together(executions, reports))
	whole, err := t.read(report)
	if s := executions[0].Slices; s != nil && err == nil {
		return t.inSlices(report, whole, s)
	}
	return whole, err
}

func (t *sysbenchTool) Sliced() (clients int, limit time.Duration, err error) {
	switch {
	case t.params.RatePerSecond > 0:
		err = errors.New("a rate cannot be kept in slices: sysbench's schedule goes on while it is halted")
	case t.params.Events > 0:
		err = errors.New("slices are bounded by seconds, and events is set")
	}
	return int(t.params.Clients), time.Duration(t.params.Seconds) * time.Second, err
}

// inSlices is what counts of a reading in slices: as large a part of everything as the server counted of all statements. What the
// program says of times has the pauses in it.
func (t *sysbenchTool) inSlices(report *output.Report, whole *workload.Reading, s *workload.Slices) (*workload.Reading, error) {
	if s.Counted == 0 {
		return nil, errors.New("no slice was measured from its steady state to its end: set more seconds")
	}
	r, err := t.read(report.Part(float64(s.Counted)/float64(s.Statements), s.Windows.Seconds()))
	if err != nil {
		return nil, err
	}
	all, counts := &whole.Totals, &r.Totals
	r.Series, r.LongestDrain, r.Uncounted = nil, s.LongestDrain, whole.Uncounted
	r.Outside = result.Totals{
		Rows: all.Rows - counts.Rows, Transactions: all.Transactions - counts.Transactions,
		Statements: all.Statements - counts.Statements, Errors: all.Errors - counts.Errors,
		Micros: (s.Active - s.Windows).Microseconds(),
	}
	r.Checks = append(slices.Clone(whole.Checks), s.Agree(whole.Totals.Statements-whole.Uncounted, t.params.Clients))
	return r, nil
}

func wholeReport(e *workload.Execution) (*output.Report, error) {
	report := output.Parse(e.Output)
	f := report.Final
	switch {
	case f == nil:
		return nil, errors.New("sysbench ended with exit code 0 but printed no report")
	case f.SQL == nil:
		return nil, errors.New("the script has no SQL statistics: it did not use the database")
	case f.Seconds == nil || *f.Seconds <= 0:
		return nil, errors.New("sysbench's report has no total time")
	}
	return report, nil
}

// together are the seconds from the first beginning to the last end of what was measured. Each execution has measured just
// before it ended.
func together(executions []*workload.Execution, reports []*output.Report) float64 {
	first, last := math.Inf(1), math.Inf(-1)
	for i, e := range executions {
		ended := (e.Began + e.Took).Seconds()
		first, last = min(first, ended-*reports[i].Final.Seconds), max(last, ended)
	}
	return last - first
}

func (t *sysbenchTool) read(report *output.Report) (*workload.Reading, error) {
	f := report.Final
	latencies, err := sysbenchLatencies(f)
	if err != nil {
		return nil, err
	}
	r := &workload.Reading{
		Totals: result.Totals{
			Transactions: f.SQL.Transactions, Statements: f.SQL.Queries, Errors: f.SQL.IgnoredErrors,
			Micros: int64(math.Round(*f.Seconds * second)), StoppedBy: result.StoppedBySeconds,
		},
		Metrics: sysbenchMetrics(f), Latencies: latencies, Series: sysbenchSeries(report),
		Version: report.Version, Clients: int(report.Threads),
	}
	if t.params.Events > 0 && f.Events >= t.params.Events {
		r.Totals.StoppedBy = result.StoppedByRows
	}
	if t.params.Script == scriptBulkInsert {
		// An event is a row.
		r.Totals.Rows, r.Totals.Transactions = f.Events, 0
		for i := range r.Series {
			r.Series[i].Rows, r.Series[i].Transactions = r.Series[i].Transactions, 0
		}
		r.Metrics[0].Name, r.Metrics[0].Unit = "rowsPerSecond", "rows/s"
	}
	if !driverOf(t.cfg).countsOthers {
		r.Uncounted = f.SQL.Other
	}
	r.Metrics = append(r.Metrics, r.Totals.ErrorRate())
	r.Checks = []result.Check{consistent(f)}
	if t.params.Script == scriptTPCC {
		r.Metrics = append(r.Metrics, result.Metric{
			Name: "newOrdersPerMinute", Value: float64(report.Counts["new_order"]) * 60 / *f.Seconds, Unit: "NOPM", Better: "higher",
			Shown: true,
		})
		r.Checks = append(r.Checks, mixAddsUp(report))
	}
	if n := f.SQL.Reconnects; n > 0 {
		r.Findings = append(r.Findings, finding.Anew("sysbench", n))
	}
	rate, waiting := int64(t.params.RatePerSecond), given(report.Queue, 0)
	r.Findings = append(r.Findings, workload.MissedRate(rate, f.Events, waiting, *f.Seconds)...)
	return r, nil
}

func sysbenchMetrics(f *output.Summary) []result.Metric {
	seconds, s := *f.Seconds, f.SQL
	return []result.Metric{
		{Name: "transactionsPerSecond", Value: float64(s.Transactions) / seconds, Unit: "transactions/s", Better: "higher"},
		{Name: "queriesPerSecond", Value: float64(s.Queries) / seconds, Unit: "queries/s", Better: "higher"},
		{Name: "reconnects", Value: float64(s.Reconnects), Unit: "reconnects", Better: "lower"},
	}
}

func mixAddsUp(r *output.Report) result.Check {
	sum := int64(0)
	for _, n := range r.Counts {
		sum += n
	}
	return result.Check{
		Name: "mix", Passed: sum == r.Final.Events,
		Detail: fmt.Sprintf("%d transactions by type: %v; %d in all", sum, r.Counts, r.Final.Events),
	}
}

func consistent(f *output.Summary) result.Check {
	histogram := output.HistogramEvents(f.Histogram)
	return result.Check{
		Name:   "report",
		Passed: f.Events == f.SQL.Transactions && histogram == f.Events && f.Unfinished == 0,
		Detail: fmt.Sprintf("%d transactions, %d events, %d in the histogram, %d unfinished",
			f.SQL.Transactions, f.Events, histogram, f.Unfinished),
	}
}

func sysbenchLatencies(f *output.Summary) ([]result.Latency, error) {
	count := output.HistogramEvents(f.Histogram)
	if count == 0 {
		return nil, nil
	}
	h := workload.NewHistogram()
	for _, b := range f.Histogram {
		// sysbench caps values at 100 s, and the smallest one is 1 µs.
		if err := h.RecordValues(workload.WithinHistogram(micros(b.Millis)), b.Count); err != nil {
			return nil, fmt.Errorf("reading sysbench's histogram: %w", err)
		}
	}
	l, err := workload.LatencyOf("transaction", h)
	at := func(percent float64) int64 {
		v, _ := output.Percentile(f.Histogram, percent) // there is an event
		return micros(v)
	}
	known := func(millis *float64) int64 { return micros(given(millis, 0)) }
	// As sysbench has them, whose own are not of its histogram, or between the middles of what it tells apart.
	l.MinMicros, l.MeanMicros, l.MaxMicros = known(f.Latency.Min), known(f.Latency.Avg), known(f.Latency.Max)
	l.P50Micros, l.P90Micros, l.P95Micros, l.P99Micros, l.P999Micros = at(50), at(90), at(95), at(99), at(99.9)
	return []result.Latency{l}, err
}

func micros(millis float64) int64 { return int64(math.Round(millis * millisecond)) }

// sysbenchSeries are the intervals as transactions, which add up to the total: sysbench prints rates, and leaves out what
// comes after the last whole interval.
func sysbenchSeries(r *output.Report) []result.Interval {
	total := r.Final.SQL.Transactions
	var all []result.Interval
	sum, counted, last := 0.0, int64(0), int64(0)
	for _, i := range r.Intervals {
		if i.Second <= last {
			continue
		}
		sum += given(i.Events, 0) * float64(i.Second-last)
		upTo := min(int64(math.Round(sum)), total)
		all = append(all, result.Interval{
			EndMicros: i.Second * second, Transactions: upTo - counted, PercentileMicros: micros(given(i.LatencyMillis, 0)),
		})
		counted, last = upTo, i.Second
	}
	end := int64(math.Round(*r.Final.Seconds * second))
	if counted < total || end > last*second {
		all = append(all, result.Interval{EndMicros: max(end, last*second+1), Transactions: total - counted})
	}
	for len(all) > maxSeries {
		all = halved(all)
	}
	return all
}

func halved(all []result.Interval) []result.Interval {
	var sums []result.Interval
	for pair := range slices.Chunk(all, 2) {
		sum := pair[0]
		for _, other := range pair[1:] {
			sum.EndMicros = other.EndMicros
			sum.Transactions += other.Transactions
			sum.PercentileMicros = max(sum.PercentileMicros, other.PercentileMicros)
		}
		sums = append(sums, sum)
	}
	return sums
}
