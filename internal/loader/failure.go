// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// failure is an error that ends the attempt, with its place in the closed set of reasons.
type failure struct {
	reason result.FailureReason
	err    error
	// where the attempt was: its phase and how far that was; empty before the first one.
	where string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// failed gives err a reason; nil stays nil.
func failed(reason result.FailureReason, err error) error {
	if err == nil {
		return nil
	}
	return &failure{reason: reason, err: err}
}

// failedf is failed with a message.
func failedf(reason result.FailureReason, format string, args ...any) error {
	return &failure{reason: reason, err: fmt.Errorf(format, args...)}
}

// sqlFailure gives an error its reason, unless it has one.
func sqlFailure(e *engine.Engine, err error) *failure {
	if known, ok := errors.AsType[*failure](err); ok {
		return known
	}
	return &failure{reason: reasonOf(e, err), err: err}
}

// reasonOf tells a statement that the server refused from a connection that is gone.
func reasonOf(e *engine.Engine, err error) result.FailureReason {
	if _, ok := errors.AsType[workload.Refused](err); ok {
		return result.FailureConfiguration
	}
	server, answered := errors.AsType[*mysql.MySQLError](err)
	if !answered {
		return result.FailureConnectionLost
	}
	if slices.Contains(e.ConnectionEnded, server.Number) {
		return result.FailureConnectionLost
	}
	return result.FailureSQL
}

// describe turns an error into what is put into the summary. An end that was asked for explains every other error.
func describe(ctx context.Context, err error) *result.Failure {
	if ctx.Err() != nil {
		message := "the loader was told to stop"
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			message = "the loader was told to stop: " + cause.Error()
		}
		if f, ok := errors.AsType[*failure](err); ok && f.where != "" {
			message += ", in phase " + f.where
		}
		return &result.Failure{Reason: result.FailureInterrupted, Message: message}
	}
	f := &result.Failure{Reason: result.FailureInternal, Message: sentence(err)}
	if known, ok := errors.AsType[*failure](err); ok {
		f.Reason = known.reason
	}
	return f
}

// sentence is an error's text on one line, and in words for those errors of the driver that only programmers
// understand.
func sentence(err error) string {
	text := err.Error()
	if errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		text = strings.ReplaceAll(text, mysql.ErrInvalidConn.Error(), "the server closed the connection")
	}
	return strings.Join(strings.Fields(text), " ")
}
