// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// reportAfter is how often in a row a step must fail before the status reports it: most errors of an API server are gone at the
// next try.
const reportAfter = 3

// retries of an owner: how often in a row a step has failed, the error of the last time, and what the cluster refuses.
type retries struct {
	failures int
	last     error
	// refusal is the last one, of an action of the type refused, which is to be tried again at that time.
	refusal *lifecycle.Refusal
	refused reflect.Type
	again   time.Time
}

// refuse notes that the cluster has refused what an action creates, and when that is to be tried again.
func (t *retries) refuse(action lifecycle.Action, refused *lifecycle.Refusal, again time.Time) {
	t.refusal, t.refused, t.again = refused, reflect.TypeOf(action), again
}

// refusedLately is the refusal of such an action if it is too early to try again, or nil. Whatever wakes an owner meanwhile, its
// own status among it, does not ask the cluster again.
func (t *retries) refusedLately(action lifecycle.Action, now time.Time) *lifecycle.Refusal {
	if t.refused != reflect.TypeOf(action) || !now.Before(t.again) {
		return nil
	}
	return t.refusal
}

// fail notes a step that failed.
func (t *retries) fail(err error) { t.failures, t.last = t.failures+1, err }

// succeed: a step of the owner has succeeded.
func (t *retries) succeed() { t.failures, t.last = 0, nil }

// reported is the error of a step that has failed several times, or empty, and whether it is about results that cannot be
// written.
func (t *retries) reported() (message string, isUnwritten bool) {
	if t.failures < reportAfter {
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
