// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

// Add adds what was done by somebody else or at another time. For how long, and why it ended, is for the caller to say.
func (t *Totals) Add(other *Totals) {
	t.Rows += other.Rows
	t.Transactions += other.Transactions
	t.Statements += other.Statements
	t.Bytes += other.Bytes
	t.RowsDeleted += other.RowsDeleted
	t.Queries += other.Queries
	t.Errors += other.Errors
}

// Totals are the sums of an interval alone.
func (i *Interval) Totals() Totals {
	return Totals{
		Rows: i.Rows, Transactions: i.Transactions, RowsDeleted: i.RowsDeleted, Queries: i.Queries, Bytes: i.Bytes, Errors: i.Errors,
	}
}

// Consumed adds what another Pod consumed, or the same one at another time; the resident memory is the larger one.
// CPUs and limits are of a Pod, and stay.
func (c *ClientFacts) Consumed(other *ClientFacts) {
	c.UserMicros += other.UserMicros
	c.SystemMicros += other.SystemMicros
	c.LateAnswers += other.LateAnswers
	c.MaxRSSBytes = max(c.MaxRSSBytes, other.MaxRSSBytes)
	if c.ThrottledMicros < 0 || other.ThrottledMicros < 0 {
		c.ThrottledMicros = -1 // unknown of one is unknown of all
	} else {
		c.ThrottledMicros += other.ThrottledMicros
	}
}
