// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package failure gives the errors that end an attempt their place in the closed set of reasons, and turns them into what the
// summary says.
package failure

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
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

// Recover is deferred, and makes an error of a panic.
func Recover(err *error) {
	if p := recover(); p != nil {
		*err = Newf(result.CauseInternal, "panic: %v\n%s", p, debug.Stack())
	}
}

// Of gives an error its reason, unless it has one, and says it in words that not only programmers understand.
func Of(d *client.Dialect, err error) *Failure {
	known, ok := errors.AsType[*Failure](err)
	if !ok {
		known = &Failure{Reason: reasonOf(d, err), Err: err}
	}
	known.Err = d.Errors.InWords(known.Err)
	return known
}

// reasonOf tells what the server refused from a connection that is gone, and both from a defect of the loader.
func reasonOf(d *client.Dialect, err error) result.Cause {
	if _, ok := errors.AsType[workload.Refused](err); ok {
		return result.CauseConfiguration
	}
	if _, ok := errors.AsType[workload.Disturbed](err); ok {
		return result.CauseCheckFailed
	}
	if _, ok := errors.AsType[workload.GaveUp](err); ok {
		return result.CauseTooManyErrors
	}
	switch {
	case errors.Is(err, workload.ErrTooManyConnections), d.Errors.TooManySessions(err):
		return result.CauseTooManyConnections
	case d.Errors.ConnectionEnded(err):
		return result.CauseConnectionLost
	case d.Errors.Answered(err):
		return result.CauseSQL
	case d.Errors.Broken(err), errors.Is(err, workload.ErrConnectionLost):
		// A new attempt may do better; with any other error it would end as well.
		return result.CauseConnectionLost
	}
	return result.CauseInternal
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

// Sentence is an error's text on one line.
func Sentence(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
