// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package insert is what the workloads have in common that insert many rows with each statement: the loop of their clients,
// and the tables.
package insert

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/userdata"
)

// dispenser hands out the transactions of a load in order, each once, to clients that ask. One Pod's dispenser has every n-th
// of them, n being the number of Pods.
type dispenser struct {
	// Rows of all Pods' transactions together, in the measured phase; PerTransaction of them are in each, and in the last one what
	// is left.
	Rows, PerTransaction int64
	Share                workload.Share
	// Taken and done are how many transactions this Pod has begun and ended.
	Taken, done atomic.Int64
	// warmed is what was sent before the measured phase, if anything was to be.
	warmed warmed
}

// take returns the rows of the next transaction; first is above last if there is none.
func (d *dispenser) take() (first, last int64) { return d.transaction(d.Share, d.Taken.Add(1)-1) }

func (d *dispenser) transaction(s workload.Share, k int64) (first, last int64) {
	before := s.Number(k) * d.PerTransaction
	return before + 1, min(before+d.PerTransaction, d.bound())
}

func (d *dispenser) left() bool {
	first, last := d.transaction(d.Share, d.Taken.Load())
	return first <= last
}

// Done is about how many rows all Pods have committed.
func (d *dispenser) Done() int64 {
	return min(d.done.Load()*d.Share.Pods*d.PerTransaction, d.warmed.rows+d.bound())
}

// Sent are the rows that were sent, each once, if each Pod has sent so many: the first ones of its share.
func (d *dispenser) Sent(rowsOfPods []int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for pod, left := range rowsOfPods {
			s := workload.Share{Pod: int64(pod), Pods: int64(len(rowsOfPods))}
			for k := int64(0); left > 0; k++ {
				first, last := d.transaction(s, k)
				if d.warmed.up {
					last = first + d.PerTransaction - 1 // the measured phase ends somewhere after its rows
				}
				if first > last {
					break // more than there is: that shows in the number of rows
				}
				for n := first; n <= last && left > 0; n++ {
					if left--; !yield(n) {
						return
					}
				}
			}
		}
	}
}

// Load is the loop of the clients that insert many rows at a time: transactions of statements of rows. All clients of a
// Pod share one load. A client that is free takes the next transaction's rows, and sends what it has taken: however many
// clients there are and whatever stops them, what is in the table is the Pod's transactions from its first on without a gap.
type Load struct {
	dispenser
	perStatement int64
	// prepared are the statements that are prepared; nil if they are text.
	prepared *prepared
	// Autocommit says that sessions commit each statement, which must be a whole transaction.
	Autocommit bool
	// Heads of statements, up to the rows: one for each table. Client c, from 0, writes to table c modulo their number.
	Heads []string
	// AppendRow appends a row in parentheses, which takes at most RowBytes with its comma.
	AppendRow func(dst []byte, n int64) []byte
	RowBytes  int64
	// Open, if there is one, gives a client what its rows come from in place of AppendRow. The longest statement's rows then
	// take StatementRows bytes.
	Open          func() (*userdata.RowReader, error)
	StatementRows int64
	// Pace says when transactions begin; the zero value is as soon as a client is free.
	Pace workload.Pacing
	// Committed, if there is one, is told of each transaction how many rows it had.
	Committed func(ctx context.Context, c *workload.Client, rows int64) error
}

type rowsError struct {
	first, last int64
	text        string
	err         error
}

func (e *rowsError) Error() string {
	if e.text != "" {
		return e.text
	}
	return fmt.Sprintf("inserting rows %d to %d: %v", e.first, e.last, e.err)
}

func (e *rowsError) Unwrap() error { return e.err }

// sendRows sends a statement with those rows of the phase that is under way.
func (w *inserter) sendRows(statement []byte, meanwhile func(), first, last int64) (time.Duration, error) {
	ago, err := w.send(statement, meanwhile)
	if err != nil {
		err = &rowsError{first: w.row(first), last: w.row(last), err: err}
	}
	return ago, err
}

// explained says where the rows of an error stand, if the source knows. It may read a whole file: nothing is tried again then.
func (w *inserter) explained(err error) error {
	if e, ok := errors.AsType[*rowsError](err); ok && w.source != nil {
		e.text = w.source.Explain(e.first, e.last, e.err)
	}
	return err
}

// CheckSizes checks the sizes of a load. Names in errors are the API's.
func CheckSizes(rows, perStatement, perTransaction int64) error {
	return cmp.Or(
		workload.AtLeast("rows", rows, 1), workload.AtLeast("rowsPerStatement", perStatement, 1),
		workload.AtLeast("the number of rows of a transaction", perTransaction, 1),
	)
}

// New is a load of these sizes, which CheckSizes has checked.
func New(rows, perStatement, perTransaction int64, share workload.Share) *Load {
	return &Load{
		dispenser: dispenser{Rows: rows, PerTransaction: perTransaction, Share: share}, perStatement: perStatement,
	}
}

// inserter is one client's part of a load.
type inserter struct {
	*Load
	client      *workload.Client
	head        string
	source      *userdata.RowReader
	executions  *executions
	send        func(statement []byte, meanwhile func()) (ago time.Duration, err error)
	statement   []byte
	first, last int64
	// end is the last row of the transaction that statement belongs to.
	end     int64
	expired bool
	// due and began are of the transaction that is being sent, if there is a rate.
	due, began time.Duration
	// again is repeat, and repeated what it makes statements in.
	again    func() error
	part     part
	repeated []byte
}

// Insert is the measured phase of a client that inserts. The next statement is made while the server works on the one
// before, also across the end of a transaction: a limit may be exceeded by the transaction that is being sent and the one
// that was taken meanwhile.
func (l *Load) Insert(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	session, err := workload.InserterOf(c.Session)
	if err != nil {
		return "", err
	}
	w := &inserter{
		Load: l, client: c, head: l.head(c.Index), executions: l.executions(c.Index), send: l.send(session),
		statement: make([]byte, 0, l.StatementBytes()+generate.NumberRoom),
	}
	if l.Open != nil {
		if w.source, err = l.Open(); err != nil {
			return "", err
		}
		defer w.source.Close()
	}
	w.again = w.repeat
	w.next()
	next := w.meanwhile()
	for len(w.statement) > 0 {
		first, last, end := w.first, w.last, w.end
		if err := w.await(ctx); err != nil {
			return "", err
		}
		c.Enter()
		began := c.Recorder.Now()
		ago, err := w.sendRows(w.statement, next, first, last)
		if err == nil {
			c.Recorder.Insert(began, answered(began, c.Recorder.Now(), ago), last-first+1)
		} else {
			w.part = part{first, last, end}
			if err := c.Retry(began, err, w.again); err != nil {
				return "", w.explained(err)
			}
		}
		if last < end {
			continue
		}
		if err := w.commit(ctx, end); err != nil {
			return "", w.explained(err)
		}
		if err := w.goOn(ctx); err != nil {
			return "", err
		}
	}
	if w.source != nil && w.source.Failed() != nil {
		return "", w.source.Failed()
	}
	if w.expired {
		return result.StoppedBySeconds, nil
	}
	return result.StoppedByRows, nil
}

// answered is when the answer came to a statement that was sent no earlier than began. An answer from before that is one of a
// clock that was set meanwhile; it came by now.
func answered(began, now, ago time.Duration) time.Duration {
	if now-ago < began {
		return now
	}
	return now - ago
}

// StatementBytes bounds the length of a statement.
func (l *Load) StatementBytes() int64 {
	return l.headBytes() + cmp.Or(l.StatementRows, min(l.perStatement, l.longestTransaction())*l.RowBytes)
}

func (l *Load) head(client int) string {
	return l.Heads[l.Share.Number(int64(client))%int64(len(l.Heads))]
}

func (l *Load) headBytes() int64 {
	if l.prepared != nil {
		const fixed = 16
		return fixed + int64(2*len(l.prepared.types))
	}
	return int64(len(slices.MaxFunc(l.Heads, func(a, b string) int { return cmp.Compare(len(a), len(b)) })))
}

// rowsOfTransaction is the number of rows of the transaction that ends with the given one.
func (l *Load) rowsOfTransaction(end int64) int64 { return (end-1)%l.PerTransaction + 1 }

// next makes the next statement, or none if there is no row left or the time is over.
func (w *inserter) next() {
	w.statement = w.statement[:0]
	w.first = w.last + 1
	if w.last == w.end && !w.take() {
		return
	}
	w.last = min(w.first+w.perStatement-1, w.end)
	if w.executions != nil {
		w.statement = w.executions.next(w.statement, w.first, w.last)
		return
	}
	w.statement = w.appendStatement(w.statement, w.first, w.last)
}

// appendStatement appends the statement that inserts those rows; none if they cannot be read.
func (w *inserter) appendStatement(dst []byte, first, last int64) []byte {
	dst = append(dst, w.head...)
	appendRow := w.AppendRow
	if w.source != nil {
		appendRow = w.source.AppendRow
	}
	for n := first; n <= last; n++ {
		dst = appendRow(dst, w.row(n))
		dst = append(dst, ',')
	}
	if w.source != nil && w.source.Failed() != nil {
		return dst[:0]
	}
	return dst[:len(dst)-1]
}

// Fits checks that no statement is longer than what the server takes.
func (l *Load) Fits(ctx context.Context, db *sql.DB) error {
	var packet int64
	if err := db.QueryRowContext(ctx, "SELECT @@GLOBAL.max_allowed_packet").Scan(&packet); err != nil {
		return fmt.Errorf("reading max_allowed_packet: %w", err)
	}
	// One byte of a packet is the command.
	need := 1 + l.StatementBytes()
	if need <= packet {
		return nil
	}
	return workload.Refused{Reason: fmt.Sprintf("a statement of %d rows takes up to %d bytes, "+
		"but the server's max_allowed_packet is %d: set rowsPerStatement to at most %d, or max_allowed_packet to at least %d",
		min(l.perStatement, l.longestTransaction()), need, packet, max(0, (packet-1-l.headBytes())/l.RowBytes), need)}
}
