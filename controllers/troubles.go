// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// toldAfter is how often in a row a step must fail before the status tells of it: most errors of an API server are gone at the
// next try.
const toldAfter = 3

// fail notes a step that failed.
func (m *memory) fail(err error) { m.failures, m.last = m.failures+1, err }

// succeed: a step of the run has succeeded.
func (m *memory) succeed() { m.failures, m.last = 0, nil }

// tell what is observed of a run about a step of it that has failed several times.
func (m *memory) tell(seen *lifecycle.Observed) {
	if m.failures >= toldAfter {
		unwritten := new(unwrittenError)
		seen.Trouble, seen.Unwritten = m.last.Error(), errors.As(m.last, &unwritten)
	}
}

// errStale: the cache is behind the API server. The step is tried again soon.
var errStale = errors.New("the cache is behind the API server")

// isStale says whether an error only means that somebody else was faster.
func isStale(err error) bool { return errors.Is(err, errStale) || apierrors.IsConflict(err) }

// unwrittenError is the error of a ConfigMap with results or a record that cannot be written now. Another try may succeed: what
// it would hold is kept until then.
type unwrittenError struct {
	what string
	err  error
}

func (e *unwrittenError) Error() string { return e.what + " cannot be written: " + e.err.Error() }

func (e *unwrittenError) Unwrap() error { return e.err }
