// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"math"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
)

const (
	// reachedShare is the part of the transactions that were due of which fewer were not the offered rate.
	reachedShare = 0.99
	// chance is how many standard deviations fewer transactions than the rate asks for may have been due: their moments are
	// random, and so is their number, as Poisson's distribution has it.
	chance = 3
)

// rateFindings say that an offered rate was not reached: that too few were done of the transactions that were due. Those
// are the ones that were done or still waited at the end, and no fewer than the rate says: the program may not have kept up
// with making them. A rate of 0 offers none.
//
// A latency counts from when its transaction was due, so that it has the wait of one that had to. It is not known of those
// that never began: without a finding, the worst latencies would be missing without a word.
func rateFindings(rate int64, report *output.Report) []finding.Finding {
	if rate == 0 {
		return nil
	}
	f := report.Final
	waiting := int64(0)
	if report.Queue != nil {
		waiting = *report.Queue
	}
	expected := float64(rate) * *f.Seconds
	due := max(float64(f.Events+waiting), expected-chance*math.Sqrt(expected))
	reached := float64(f.Events) / due
	if reached >= reachedShare {
		return nil
	}
	return []finding.Finding{finding.Missed{
		Rate: rate, Reached: float64(f.Events) / *f.Seconds, Share: 100 * reached, Waiting: waiting, Unit: "transactions/s",
	}.Finding()}
}
