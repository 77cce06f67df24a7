// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// toldAfter is how often in a row a step must fail before the status tells of it: most errors of an API server are gone at the
// next try.
const toldAfter = 3

// troubles of an owner: how often in a row a step has failed, and the error of the last time.
type troubles struct {
	failures int
	last     error
}

// fail notes a step that failed.
func (t *troubles) fail(err error) { t.failures, t.last = t.failures+1, err }

// succeed: a step of the owner has succeeded.
func (t *troubles) succeed() { t.failures, t.last = 0, nil }

// told is the error of a step that has failed several times, or empty, and whether it is about results that cannot be written.
func (t *troubles) told() (trouble string, isUnwritten bool) {
	if t.failures < toldAfter {
		return "", false
	}
	unwritten := new(unwrittenError)
	return t.last.Error(), errors.As(t.last, &unwritten)
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
