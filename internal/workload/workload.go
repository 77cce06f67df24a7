// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Workload is one kind of load. Its methods are called once each, in this order.
type Workload interface {
	// Prepare makes the workload's tables in the schema that db is connected to, which is empty, and says what Measure needs.
	// Errors are the server's.
	Prepare(ctx context.Context, db *sql.DB) (Plan, error)
	// Measure is the measured phase of one client, called at the same time for each of Plan.Clients. It returns when the
	// work is done, when the client's limit has passed and everything that was sent is committed, or with the first
	// error of its session. ctx ends only if the attempt does; the session's statements fail then by themselves.
	Measure(ctx context.Context, client *Client) (result.StoppedBy, error)
	// Verify compares what the server has with what was sent according to the totals of all clients of all Pods, and to the
	// rows that each Pod has sent. A check that does not hold is no error.
	Verify(ctx context.Context, db *sql.DB, totals result.Totals, rowsOfPods []int64) ([]result.Check, error)
}

// Continued is a Workload whose load can be made for a time on the tables that are measured afterwards: Measure is then called
// for each client twice.
type Continued interface {
	// Before is for how long, and for how much of that one client after the other begins; 0 is not at all.
	Before() (whole, ramp time.Duration)
	// BeginWarmUp is called after Prepare: until Continue, there is no end of rows.
	BeginWarmUp()
	// Continue is called when all clients have ended their first Measure: in the second, as many rows are sent as were asked for,
	// after those that are there. Verify's totals and rows are of both.
	Continue()
}

// Refused is an error about what was asked for, which this server, or the Pod, cannot do: a new attempt would meet the
// same.
type Refused struct{ Reason string }

func (r Refused) Error() string { return r.Reason }

// Disturbed is an error about what the server has: a third party has changed it.
type Disturbed struct{ Reason string }

func (d Disturbed) Error() string { return d.Reason }

// Planned is a Workload whose plan does not depend on the server, so that it can be measured without one, and that one of
// several Pods can prepare for all.
type Planned interface {
	// Plan is what Prepare returns, but for warnings.
	Plan() Plan
}

// Reporter is a Workload that adds to a result what only it knows.
type Reporter interface {
	// Report changes a document that has everything else, but for its findings: those that it has already are the workload's.
	Report(doc *result.Document)
}

// Plan is what the measured phase needs, and what comes after it.
type Plan struct {
	// Clients is the number of this Pod's sessions, at least 1.
	Clients int
	// Setup are statements that each session executes before the measured phase begins.
	Setup []string
	// Ready makes the session of a Pod's client ready after Setup, before the measured phase begins; nil if there is nothing to
	// do. Errors are those of Measure. It is called for one client after the other, which count from 0.
	Ready func(client int, s Session) error
	// Rows is how many rows all Pods are to insert; 0 if that is not known. A phase that its time limit ends is extrapolated
	// to it.
	Rows int64
	// ByTime says that nothing but the time limit ends the measured phase: it is what was asked for, and no warning.
	ByTime bool
	// Rate is offered, by all Pods together; 0 is none.
	Rate Rate
	// Milestones asks for a point of the series every so many rows, beside the intervals of equal time.
	Milestones Milestones
	// Kinds are the names of kinds of transactions, which are then the load's unit, and not rows; none is one without kinds.
	Kinds []string
	// Seconds ends the measured phase if the run has no limit of its own; 0 is none.
	Seconds int
	// Stage makes what the measured phase reads besides the server, as a phase of its own before the server comes to rest;
	// nil if there is nothing to make.
	Stage func(ctx context.Context) error
	// After are the phases between the measured one and the verification, each timed on its own.
	After []Phase
	// Findings are what a reader must know beside the numbers.
	Findings []finding.Finding
}

// Milestones are points of the measured phase after equal numbers of rows, whichever client inserted them.
type Milestones struct {
	// Every so many rows there is one; 0 is none.
	Every int64
	// Sizes is a query for one row with the bytes of the table and of its secondary indexes. It is asked at each milestone,
	// over a connection of its own, and once more after the phases of After.
	Sizes string
	// Count are statements with which the server counts the bytes anew before it is asked for the last time.
	Count []string
}

// Phase is work of the server's that is timed on its own, for example building indexes.
type Phase struct {
	Name string
	// Statements are executed in this order by one session, which is none of the measured phase's.
	Statements []string
}

// Client is one of the clients of the measured phase. Nothing of it is shared with another one.
type Client struct {
	// Index counts a Pod's clients from 0.
	Index    int
	Session  Session
	Recorder Recorder
	// TryAgain says whether a transaction that ended with this error is to be tried again, as after a deadlock;
	// nil is never.
	TryAgain func(error) bool
	// Limit of the measured phase by the recorder's clock; 0 is no limit.
	Limit time.Duration
	// SleepUntil returns at a moment of the recorder's clock, or with the cause of ctx when that has ended.
	SleepUntil func(ctx context.Context, at time.Duration) error
	// Gate is where the client waits between its transactions while others are measured; nil is nowhere.
	Gate Gate
}

// Gate lets transactions begin, or not. Who waits at it has no lock in its hands, and nobody's time runs.
type Gate interface {
	// Enter is called before a transaction, and before the time is taken at which it begins.
	Enter()
	// Leave is called after it.
	Leave()
}

// Enter the client's gate; inside of a transaction it does nothing.
func (c *Client) Enter() {
	if c.Gate != nil {
		c.Gate.Enter()
	}
}

// Leave the client's gate; outside of a transaction it does nothing.
func (c *Client) Leave() {
	if c.Gate != nil {
		c.Gate.Leave()
	}
}

// Expired says whether the client must stop at the given time of its recorder's clock.
func (c *Client) Expired(now time.Duration) bool { return c.Limit > 0 && now >= c.Limit }

// Session is one connection to the database. The bytes of a statement may be reused once it was sent.
type Session interface {
	// Exec sends a statement and waits for the answer.
	Exec(statement []byte) error
	// ExecAffected is Exec, and returns how many rows the statement changed.
	ExecAffected(statement []byte) (int64, error)
	// Fetch sends a query, reads all of its rows and returns their number.
	Fetch(statement []byte) (int64, error)
	// Do is Exec for a statement that may be a query, and returns how many rows the server sent or changed.
	Do(statement []byte) (int64, error)
	// Bind has the server prepare a statement with placeholders for numbers, which may be a query.
	Bind(sql string) (Bound, error)
}

// Inserter is a Session by MySQL's protocol, for workloads that insert rows as fast as they can be sent, and files of them.
type Inserter interface {
	Session
	// ExecWhile is Exec, and calls meanwhile when the statement was sent, before its answer is waited for: while the server
	// works, the next statement can be made. It returns how long ago the answer came, which is before meanwhile was done if that
	// took longer than the server.
	ExecWhile(statement []byte, meanwhile func()) (ago time.Duration, err error)
	// Prepare has the server prepare a statement. It is Refused by a server that does not take its form of execution.
	Prepare(p Prepared) (*mysqlwire.Execution, error)
	// ExecuteWhile is ExecWhile for an execution of a prepared statement: what Prepare returned, and the values.
	ExecuteWhile(execution []byte, meanwhile func()) (ago time.Duration, err error)
	// Load executes LOAD DATA LOCAL INFILE; the clause is what follows the file's name, data the file. It returns how many
	// rows were written, and how many warnings the server has about them.
	Load(clause string, data io.Reader) (rows, warnings int64, err error)
	// Warning asks for the first warning of the last statement.
	Warning() (string, error)
}

// InserterOf is a session as an Inserter. It is Refused if its server speaks another protocol.
func InserterOf(s Session) (Inserter, error) {
	if i, is := s.(Inserter); is {
		return i, nil
	}
	return nil, Refused{Reason: "rows and files are inserted by MySQL's protocol only: use engine MariaDB or MySQL"}
}

// Bound is a statement with placeholders, as the server has prepared it for a session.
type Bound interface {
	// Execute sends values for the placeholders, reads all of the answer, and returns how many rows the server sent or changed.
	Execute(values []Number) (int64, error)
}

// Number is a value of a placeholder: Decimal if IsDecimal is true, otherwise Integer.
type Number struct {
	Integer   int64
	Decimal   float64
	IsDecimal bool
}

// Recorder takes what one client measures. All times are monotonic and count from the beginning of the measured phase,
// which is the same for all clients.
type Recorder interface {
	// Now is the time.
	Now() time.Duration
	// Insert records a statement that wrote so many rows. Rows that are written again, because their transaction was rolled back,
	// are not counted again.
	Insert(began, ended time.Duration, rows int64)
	// Commit records the statement that ends a transaction.
	Commit(began, ended time.Duration)
	// Committed records that the statement before was a transaction by itself.
	Committed()
	// Delete records a statement that deleted so many rows.
	Delete(began, ended time.Duration, rows int64)
	// Query records a query.
	Query(began, ended time.Duration)
	// Indexed records a statement that built secondary indexes.
	Indexed(began, ended time.Duration)
	// Sent records that rows, with so many bytes of text, are on their way to the server.
	Sent(at time.Duration, rows, bytes int64)
	// Loaded records the statement, which is a transaction, that wrote what was sent.
	Loaded(began, ended time.Duration)
	// Wait records that the client waited for another one.
	Wait(began, ended time.Duration)
	// Transaction records a transaction of an offered rate, whose statements are recorded besides: when it was due, and when it
	// began and was committed. Its latency counts from the first of these.
	Transaction(due, began, ended time.Duration)
	// Executed records a statement of a transaction of Plan.Kinds.
	Executed(began, ended time.Duration)
	// Done records such a transaction, by its kind's index: when it was due, began and ended, how many rows its statements sent or
	// changed, and how often it was tried again. Its latency counts from when it was due.
	Done(kind int, due, began, ended time.Duration, rows, again int64)
	// RolledBack records a transaction that is tried again.
	RolledBack(began, ended time.Duration)
}

// Prepared is a statement with placeholders, which the server parses once for all of its executions.
type Prepared struct {
	SQL string
	// Types of the values of a row, in the order of their placeholders.
	Types []mysqlwire.Type
	// Rows is how many rows' placeholders SQL has, which is how many each execution inserts; 0 is one row's, for executions
	// with any number of rows by MariaDB's COM_STMT_BULK_EXECUTE.
	Rows int64
}

// EachRow scans the rows of a query one after another.
func EachRow(ctx context.Context, db Querier, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Column has the values of a query with one column.
func Column[T any](ctx context.Context, db Querier, query string, args ...any) (values []T, err error) {
	err = EachRow(ctx, db, func(row *sql.Rows) error {
		var value T
		err := row.Scan(&value)
		values = append(values, value)
		return err
	}, query, args...)
	return values, err
}

// Execute executes statements one after another.
func Execute(ctx context.Context, db Querier, statements ...string) error {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("executing %s: %w", statement, err)
		}
	}
	return nil
}

// Querier is a pool of connections, or one of them.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
