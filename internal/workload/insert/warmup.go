// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import "math"

// warmed is what a Pod has sent before its measured phase: whole transactions, the first of its share. The measured phase counts
// its transactions and their rows from the beginning, and has the rows that many further on.
type warmed struct {
	// up says that something was to be sent.
	up bool
	// rows of all Pods, if each has sent as many transactions as this one.
	rows int64
	// requested is how many rows the measured phase has.
	requested int64
}

// BeginWarmUp makes the load one without an end.
func (l *Load) BeginWarmUp() {
	l.warmed.up, l.warmed.requested = true, l.Rows
	l.Rows = math.MaxInt64 / 2
}

// Continue makes it a load of as many rows as were asked for, after those that were sent. What was taken and not sent, because
// the time was over, is sent now.
func (l *Load) Continue() {
	l.Rows, l.warmed.rows = l.warmed.requested, l.done.Load()*l.Share.Pods*l.PerTransaction
	l.Taken.Store(0)
}
