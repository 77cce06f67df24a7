// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Failure is an error that is neither the server's answer nor a broken connection, with its reason.
type Failure struct {
	Reason result.FailureReason
	Err    error
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap makes the cause known to package errors.
func (f *Failure) Unwrap() error { return f.Err }

func failuref(reason result.FailureReason, format string, args ...any) error {
	return &Failure{Reason: reason, Err: fmt.Errorf(format, args...)}
}
