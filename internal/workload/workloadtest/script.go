// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workloadtest has what tests of workloads need: their configuration, and sessions and recorders without a server.
package workloadtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// ErrDeadlock is an error after which a transaction is to be tried again.
var ErrDeadlock = errors.New("deadlock")

// Client has a script for a session and a recorder.
func Client(index int, s *Script) *workload.Client {
	s.gated = true
	return &workload.Client{
		Index: index, Session: s, Recorder: s, TryAgain: func(err error) bool { return errors.Is(err, ErrDeadlock) },
		SleepUntil: s.sleepUntil, Gate: s,
	}
}

// Transaction is what was recorded of one.
type Transaction struct{ Due, Began, Ended time.Duration }

// Script is a session that writes down what it is sent, and a recorder whose clock ticks once a call.
type Script struct {
	Silence
	Statements []string
	// Prepared are the statements that were prepared. What the n-th one's executions begin with is "n:".
	Prepared []workload.Prepared
	// Refuse is a statement that ends in an error.
	Refuse string
	// Fail, if there is one, is the error of a statement, which counts from 1.
	Fail func(n int, statement string) error
	// Rows that were inserted, Deleted those that were deleted, Commits the rows inserted until each commit.
	Rows, Deleted int64
	Commits       []int64
	// Errors is how many transactions were tried again, Waits how often a client waited for another one.
	Errors, Waits int
	// Transactions are those of an offered rate.
	Transactions []Transaction
	// Slept are the moments until which a client has slept.
	Slept []time.Duration
	// Took is how long a statement takes, beside the clock's ticks.
	Took time.Duration

	now time.Duration
	// gated says that the client has a gate, and inside that it is in a transaction.
	gated, inside bool
}

// Enter implements workload.Gate, as does Leave. All statements must be sent inside, and nobody may sleep there.
func (s *Script) Enter() { s.inside = true }

// Leave implements workload.Gate.
func (s *Script) Leave() { s.inside = false }

// Exec implements workload.Session.
func (s *Script) Exec(statement []byte) error {
	s.Statements = append(s.Statements, string(statement))
	s.now += s.Took
	if s.gated && !s.inside {
		return errors.New("a statement is sent outside of the gate")
	}
	if string(statement) == s.Refuse {
		return errors.New("refused")
	}
	if s.Fail != nil {
		return s.Fail(len(s.Statements), string(statement))
	}
	return nil
}

// ExecWhile implements workload.Inserter.
func (s *Script) ExecWhile(statement []byte, meanwhile func()) (time.Duration, error) {
	err := s.Exec(statement)
	clear(statement) // whoever still needs its bytes is found out
	meanwhile()
	return 0, err
}

// Prepare remembers the statement as if it had been sent, and begins its executions with its number.
func (s *Script) Prepare(p workload.Prepared) (*mysqlwire.Execution, error) {
	s.Prepared = append(s.Prepared, p)
	n := len(s.Prepared)
	return &mysqlwire.Execution{First: fmt.Appendf(nil, "first of %d:", n), Later: fmt.Appendf(nil, "%d:", n)}, nil
}

// ExecuteWhile implements workload.Inserter.
func (s *Script) ExecuteWhile(execution []byte, meanwhile func()) (time.Duration, error) {
	return s.ExecWhile(execution, meanwhile)
}

// ExecAffected finds as many rows as a statement limits itself to, but at most 1,000.
func (s *Script) ExecAffected(statement []byte) (int64, error) {
	_, limit, _ := strings.Cut(string(statement), " LIMIT ")
	n, err := strconv.ParseInt(limit, 10, 64)
	return min(n, 1000), errors.Join(err, s.Exec(statement))
}

// Fetch implements workload.Session.
func (s *Script) Fetch(statement []byte) (int64, error) { return 0, s.Exec(statement) }

// Now implements workload.Recorder.
func (s *Script) Now() time.Duration { s.now += time.Millisecond; return s.now }

// sleepUntil is a Client's: the clock goes on to that moment.
func (s *Script) sleepUntil(ctx context.Context, at time.Duration) error {
	if s.inside {
		return errors.New("a client sleeps inside of the gate")
	}
	s.Slept = append(s.Slept, at)
	s.now = max(s.now, at)
	return context.Cause(ctx)
}

// Transaction implements workload.Recorder.
func (s *Script) Transaction(due, began, ended time.Duration) {
	s.Transactions = append(s.Transactions, Transaction{due, began, ended})
}

// Insert implements workload.Recorder.
func (s *Script) Insert(began, ended time.Duration, rows int64) {
	if ended <= began {
		panic("time runs backwards")
	}
	s.Rows += rows
}

// Delete implements workload.Recorder.
func (s *Script) Delete(_, _ time.Duration, n int64) { s.Deleted += n }

// Commit implements workload.Recorder.
func (s *Script) Commit(_, _ time.Duration) { s.Commits = append(s.Commits, s.Rows) }

// Committed implements workload.Recorder.
func (s *Script) Committed() { s.Commits = append(s.Commits, s.Rows) }

// Wait implements workload.Recorder.
func (s *Script) Wait(_, _ time.Duration) { s.Waits++ }

// RolledBack implements workload.Recorder.
func (s *Script) RolledBack(_, _ time.Duration) { s.Errors++ }

// Silence is a session and a recorder that do nothing: what remains is the loop's own cost.
type Silence struct {
	quietSession
	quietRecorder
}

type quietSession struct{}

func (quietSession) Exec([]byte) error                            { return nil }
func (quietSession) ExecAffected([]byte) (int64, error)           { return 0, nil }
func (quietSession) Do([]byte) (int64, error)                     { return 0, nil }
func (quietSession) Bind(string) (workload.Bound, error)          { return quietBound{}, nil }
func (quietSession) Fetch([]byte) (int64, error)                  { return 0, nil }
func (quietSession) Load(string, io.Reader) (int64, int64, error) { return 0, 0, nil }
func (quietSession) Warning() (string, error)                     { return "", nil }

func (quietSession) Prepare(workload.Prepared) (*mysqlwire.Execution, error) {
	return &mysqlwire.Execution{}, nil
}

func (quietSession) ExecWhile(_ []byte, meanwhile func()) (time.Duration, error) {
	meanwhile()
	return 0, nil
}

func (s quietSession) ExecuteWhile(_ []byte, meanwhile func()) (time.Duration, error) {
	return s.ExecWhile(nil, meanwhile)
}

type quietRecorder struct{}

func (quietRecorder) Now() time.Duration                                      { return 0 }
func (quietRecorder) Insert(time.Duration, time.Duration, int64)              {}
func (quietRecorder) Commit(time.Duration, time.Duration)                     {}
func (quietRecorder) Committed()                                              {}
func (quietRecorder) Delete(time.Duration, time.Duration, int64)              {}
func (quietRecorder) Query(time.Duration, time.Duration)                      {}
func (quietRecorder) Indexed(time.Duration, time.Duration)                    {}
func (quietRecorder) Sent(time.Duration, int64, int64)                        {}
func (quietRecorder) Loaded(time.Duration, time.Duration)                     {}
func (quietRecorder) Wait(time.Duration, time.Duration)                       {}
func (quietRecorder) Transaction(time.Duration, time.Duration, time.Duration) {}
func (quietRecorder) RolledBack(time.Duration, time.Duration)                 {}
func (quietRecorder) Executed(time.Duration, time.Duration)                   {}
func (quietRecorder) Done(int, time.Duration, time.Duration, time.Duration, int64, int64) {
}

type quietBound struct{}

func (quietBound) Execute([]workload.Number) (int64, error) { return 1, nil }

// Load is what a loader is told of a workload with these parameters. It panics if they are not JSON.
func Load(d workload.Definition, parameters any) result.Workload {
	encoded, err := json.Marshal(parameters)
	if err != nil {
		panic(fmt.Sprintf("encoding the parameters of %s: %v", d.Type, err))
	}
	return result.Workload{Type: d.Type, Parameters: encoded}
}
