// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Pacing says when the transactions of a load begin, where that is not as soon as the server has answered: at a rate, which
// does not depend on the answers, or after a pause. Its fields are those of the API's Pacing at one point.
type Pacing struct {
	// RatePerSecond is how many rows per second all connections of all Pods together are to insert; 0 is as many as they can.
	RatePerSecond Rate `json:"ratePerSecond,omitempty"`
	// ThinkTimeMilliseconds is for how long a connection pauses after each transaction.
	ThinkTimeMilliseconds int64 `json:"thinkTimeMilliseconds,omitempty"`
	// WarmupSeconds is for how long the load is made, on the tables that are measured, before it is. RampSeconds come before that:
	// one connection after the other begins.
	WarmupSeconds int64 `json:"warmupSeconds,omitempty"`
	RampSeconds   int64 `json:"rampSeconds,omitempty"`
}

// Check finds parameters that are out of bounds or exclude each other. Names in errors are the API's.
func (p Pacing) Check() error {
	err := cmp.Or(
		Within("ratePerSecond", p.RatePerSecond, 0, 100_000_000),
		Within("thinkTimeMilliseconds", p.ThinkTimeMilliseconds, 0, 3_600_000),
		Within("warmupSeconds", p.WarmupSeconds, 0, 3600),
		Within("rampSeconds", p.RampSeconds, 0, 3600),
	)
	if err == nil && p.RatePerSecond > 0 && p.ThinkTimeMilliseconds > 0 {
		return errors.New("set ratePerSecond or thinkTimeMilliseconds, not both: a rate does not depend on when the server answers")
	}
	return err
}

// AtLeast is the error that a parameter, by its name in the API, is too small; nil if it is not.
func AtLeast[N ~int | ~int32 | ~int64](name string, value, least N) error {
	if value >= least {
		return nil
	}
	return fmt.Errorf("%s is %d but must be at least %d", name, value, least)
}

// Within is the error that a parameter is out of its bounds, both of which are allowed.
func Within[N ~int | ~int32 | ~int64](name string, value, low, high N) error {
	if value >= low && value <= high {
		return nil
	}
	return fmt.Errorf("%s is %d but must be %d to %d", name, value, low, high)
}

// OneOf is the error that a parameter has none of these values. With an empty one, it may be left out.
func OneOf(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	allowed = slices.DeleteFunc(allowed, func(one string) bool { return one == "" })
	last := len(allowed) - 1
	return fmt.Errorf("%s is %q but must be %s or %s", name, value, strings.Join(allowed[:last], ", "), allowed[last])
}

// Before is for how long the load is made before it is measured, and how much of that is the ramp.
func (p Pacing) Before() (whole, ramp time.Duration) {
	return time.Duration(p.WarmupSeconds+p.RampSeconds) * time.Second, time.Duration(p.RampSeconds) * time.Second
}

// Rate is a number of rows per second; 0 offers none.
type Rate int64

// Due is when the transaction is due that ends with the given row, counted from 1: at the moment by which so many rows are to
// have been offered. Transactions of equal size are therefore due at equal distances, the first one after one distance, and
// rounding does not add up. The rate must be above 0.
func (r Rate) Due(row int64) time.Duration {
	rate := int64(r)
	// In two parts: rows of many hours times a second are more than an int64 holds.
	return time.Duration(row/rate)*time.Second + time.Duration(row%rate)*time.Second/time.Duration(rate)
}

// DueBy is how many rows are due by the given time: Due of that row is no later, Due of the next one is. The rate must be above
// 0.
func (r Rate) DueBy(at time.Duration) int64 {
	rate := int64(r)
	whole, rest := at/time.Second, at%time.Second
	row := int64(whole)*rate + int64(rest)*rate/int64(time.Second)
	// Due rounds down: a row more may be due.
	for r.Due(row+1) <= at {
		row++
	}
	return row
}

// MissedRate says that an offered rate was not reached: that too few were done of the transactions that were due. Those are the
// ones that were done or still waited at the end, and no fewer than the rate says: a program may not have kept up with making
// them. A rate of 0 offers none.
//
// A latency counts from when its transaction was due, so that it has the wait of one that had to. It is not known of those
// that never began: without a finding, the worst latencies would be missing without a word.
func MissedRate(rate, done, waiting int64, seconds float64) []finding.Finding {
	if rate == 0 {
		return nil
	}
	expected := float64(rate) * seconds
	// Three standard deviations fewer may have been due: their moments are random, and so is their number, as Poisson's
	// distribution has it.
	due := max(float64(done+waiting), expected-3*math.Sqrt(expected))
	reached := float64(done) / due
	const enough = 0.99 // of the transactions that were due
	if reached >= enough {
		return nil
	}
	return []finding.Finding{finding.Missed{
		Rate: rate, Reached: float64(done) / seconds, Share: 100 * reached, Waiting: waiting, Unit: "transactions/s",
	}.Finding()}
}

// Share is what one of several loader Pods has to do. What there is to do does not depend on how many share it: only who
// does which part of it.
type Share struct {
	// Pod counts from 0 to Pods-1.
	Pod, Pods int64
}

// ShareOf is the share of the Pod whose configuration it is.
func ShareOf(cfg *result.Config) Share {
	return Share{Pod: int64(cfg.Pod), Pods: int64(max(cfg.Pods, 1))}
}

// Number is that of this Pod's i-th thing, from 0, if all Pods take theirs in turns.
func (s Share) Number(i int64) int64 { return i*s.Pods + s.Pod }

// Of is this Pod's part of so many things.
func (s Share) Of(n int64) int64 {
	part := n / s.Pods
	if s.Pod < n%s.Pods {
		part++
	}
	return part
}

// Enough is an error if there are fewer than one for each Pod. The name is the API's.
func (s Share) Enough(name string, n int64) error {
	if n >= s.Pods {
		return nil
	}
	return fmt.Errorf("%s is %d but must be at least loader.pods, %d: all loader Pods share them", name, n, s.Pods)
}

// CheckShare finds a configuration for several Pods whose workload cannot be shared.
func CheckShare(cfg *result.Config, shared bool) error {
	switch {
	case cfg.Pods > 1 && !shared:
		return fmt.Errorf("this load is made from one Pod: loader.pods is %d but must be 1", cfg.Pods)
	case cfg.Pod < 0 || cfg.Pod >= max(cfg.Pods, 1):
		return fmt.Errorf("this is Pod %d, but the loader Pods (%d) are numbered from 0", cfg.Pod, max(cfg.Pods, 1))
	}
	return nil
}
