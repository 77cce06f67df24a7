// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package failure gives the errors that end an attempt their place in the closed set of reasons, and turns them into what the
// summary says.
package failure

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Failure is an error that ends the attempt, with its reason.
type Failure struct {
	Reason result.Cause
	Err    error
	// Where the attempt was: its phase and how far that was; empty before the first one.
	Where string
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.Err }

// New gives err a reason; nil stays nil.
func New(reason result.Cause, err error) error {
	if err == nil {
		return nil
	}
	return &Failure{Reason: reason, Err: err}
}

// Newf is New with a message.
func Newf(reason result.Cause, format string, args ...any) error {
	return &Failure{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// Panic is the failure of a panic that was recovered from; it is called by the deferred function.
func Panic(value any) error {
	return Newf(result.CauseInternal, "panic: %v\n%s", value, debug.Stack())
}

// Of gives an error its reason, unless it has one.
func Of(e *engine.Engine, err error) *Failure {
	if known, ok := errors.AsType[*Failure](err); ok {
		return known
	}
	return &Failure{Reason: reasonOf(e, err), Err: err}
}

// reasonOf tells what the server refused from a connection that is gone, and both from a defect of the loader.
func reasonOf(e *engine.Engine, err error) result.Cause {
	if _, ok := errors.AsType[workload.Refused](err); ok {
		return result.CauseConfiguration
	}
	if _, ok := errors.AsType[workload.Disturbed](err); ok {
		return result.CauseCheckFailed
	}
	if _, ok := errors.AsType[workload.GaveUp](err); ok {
		return result.CauseTooManyErrors
	}
	if errors.Is(err, workload.ErrTooManyConnections) {
		return result.CauseTooManyConnections
	}
	if server, answered := errors.AsType[*mysql.MySQLError](err); answered {
		switch {
		case conn.TooMany(err):
			return result.CauseTooManyConnections
		case slices.Contains(e.ConnectionEnded, server.Number):
			return result.CauseConnectionLost
		}
		return result.CauseSQL
	}
	if isConnectionLost(err) {
		return result.CauseConnectionLost
	}
	return result.CauseInternal
}

// TryAgain says whether a transaction that ended with this error is to be tried again.
func TryAgain(e *engine.Engine, err error) bool {
	server, answered := errors.AsType[*mysql.MySQLError](err)
	return answered && slices.Contains(e.TryAgain, server.Number)
}

// connectionLost are errors of the driver and of the loader's own sockets, besides those of system calls.
var connectionLost = []error{
	mysql.ErrInvalidConn, driver.ErrBadConn, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF, workload.ErrConnectionLost,
}

// isConnectionLost says whether an error is that of a connection which broke, or could not be made again. A new attempt may do
// better; with any other error it would end as well.
func isConnectionLost(err error) bool {
	_, dialing := errors.AsType[*net.OpError](err)
	_, talking := errors.AsType[*os.SyscallError](err)
	return dialing || talking || slices.ContainsFunc(connectionLost, func(lost error) bool { return errors.Is(err, lost) })
}

// Describe turns an error into what is put into the summary. An end that was asked for explains every other error.
func Describe(ctx context.Context, err error) *result.Failure {
	if ctx.Err() != nil {
		message := "the loader was told to stop"
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			message = "the loader was told to stop: " + cause.Error()
		}
		if f, ok := errors.AsType[*Failure](err); ok && f.Where != "" {
			message += ", in phase " + f.Where
		}
		return &result.Failure{Reason: result.CauseInterrupted, Message: message}
	}
	f := &result.Failure{Reason: result.CauseInternal, Message: Sentence(err)}
	if known, ok := errors.AsType[*Failure](err); ok {
		f.Reason = known.Reason
	}
	return f
}

// Sentence is an error's text on one line, and in words for those errors of the driver that only programmers
// understand.
func Sentence(err error) string {
	text := err.Error()
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		text = strings.ReplaceAll(text, mysql.ErrInvalidConn.Error(), "the server closed the connection")
	}
	return strings.Join(strings.Fields(text), " ")
}
