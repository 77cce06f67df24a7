// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import "math"

// warmed is what a Pod has sent before its measured phase: whole transactions, the first of its share. The measured phase counts
// its transactions and their rows from the beginning, and has the rows that many further on.
type warmed struct {
	// up says that something was to be sent, underWay that it is being sent.
	up, underWay bool
	// rows of all Pods, if each has sent as many transactions as this one.
	rows int64
}

// unbounded is a number of rows that no load comes to, and to which those that were sent can be added.
const unbounded = math.MaxInt64 / 2

// bound of the rows of the phase that is under way: a warm-up ends by time only.
func (d *dispenser) bound() int64 {
	if d.warmed.underWay {
		return unbounded
	}
	return d.Rows
}

// row is the number, among all rows that are ever sent, of row n of the phase that is under way.
func (d *dispenser) row(n int64) int64 { return d.warmed.rows + n }

// longestTransaction is how many rows the longest transaction of any phase has. Those of a warm-up are whole, however few rows
// are measured afterwards.
func (l *Load) longestTransaction() int64 {
	if whole, _ := l.Pace.Before(); whole > 0 {
		return l.PerTransaction
	}
	return min(l.PerTransaction, l.Rows)
}

// BeginWarmUp begins a phase without a bound of rows.
func (l *Load) BeginWarmUp() { l.warmed.up, l.warmed.underWay = true, true }

// Continue begins the phase that has as many rows as were asked for, after those that were sent. What was taken and not sent,
// because the time was over, is sent now.
func (l *Load) Continue() {
	l.warmed.underWay, l.warmed.rows = false, l.done.Load()*l.Share.Pods*l.PerTransaction
	l.Taken.Store(0)
}
