// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/pace"
)

// offered is a rate at which rows were due, and what became of it.
type offered struct {
	rate pace.Rate
	// rows is how many were to be inserted; 0 is as many as there was time for.
	rows int64
	// began is when the last transaction began.
	began time.Duration
}

// reachedShare is the part of the rows that were due of which fewer were not the offered rate; it is that of Sysbench, too.
const reachedShare = 0.99

// reached is the part of the rows that were due when the last transaction began that were not late by then: 1 if that began
// when it was due.
func (o offered) reached(inserted int64) float64 {
	due := o.rate.Due(inserted)
	return min(float64(due)/float64(max(o.began, due, 1)), 1)
}

// waiting is how many rows were due when the time limit ended the load, and had not been sent.
func (o offered) waiting(doc *result.Document) int64 {
	if doc.Totals.StoppedBy != result.StoppedBySeconds {
		return 0
	}
	due := o.rate.DueBy(time.Duration(doc.Config.LimitSeconds)*time.Second - 1)
	if o.rows > 0 {
		due = min(due, o.rows)
	}
	return max(due-doc.Totals.Rows, 0)
}

// metrics are what was asked for, how much of it there was, and the latencies of transactions, which count from when they
// were due.
func (o offered) metrics(doc *result.Document) []result.Metric {
	all := []result.Metric{
		{Name: "offeredRowsPerSecond", Value: float64(o.rate), Unit: "rows/s", Better: "higher"},
		{Name: "rateReachedPercent", Value: 100 * o.reached(doc.Totals.Rows), Unit: "%", Better: "higher"},
	}
	i := slices.IndexFunc(doc.Latencies, func(l result.Latency) bool { return l.Operation == "transaction" })
	if i < 0 {
		return all
	}
	l := doc.Latencies[i]
	return append(all,
		result.Metric{Name: "transactionP50Micros", Value: float64(l.P50Micros), Unit: "µs", Better: "lower"},
		result.Metric{Name: "transactionP95Micros", Value: float64(l.P95Micros), Unit: "µs", Better: "lower"},
		result.Metric{Name: "transactionP99Micros", Value: float64(l.P99Micros), Unit: "µs", Better: "lower", Shown: true},
	)
}

// findings say that the rate was not reached. Rows that never were sent are in no latency: without a finding, the worst ones
// would be missing without a word.
func (o offered) findings(doc *result.Document) []finding.Finding {
	t, reached := doc.Totals, o.reached(doc.Totals.Rows)
	if reached >= reachedShare {
		return nil
	}
	return []finding.Finding{finding.Missed{
		Rate: int64(o.rate), Reached: 1e6 * float64(t.Rows) / float64(max(t.Micros, 1)), Share: 100 * reached, Waiting: o.waiting(doc),
		Unit: "rows/s",
	}.Finding()}
}
