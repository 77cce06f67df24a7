// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// toldAfter is how often in a row a step must fail before the status tells of it: most errors of an API server are gone at the
// next try.
const toldAfter = 3

// troubles are the steps of runs that failed the last time. They are kept in memory: a new operator finds the same errors again.
type troubles struct {
	mu   sync.Mutex
	runs map[types.UID]*trouble
}

type trouble struct {
	times int
	last  error
}

func (t *troubles) note(uid types.UID, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs == nil {
		t.runs = map[types.UID]*trouble{}
	}
	if t.runs[uid] == nil {
		t.runs[uid] = new(trouble)
	}
	t.runs[uid].times++
	t.runs[uid].last = err
}

// over: a step of the run has succeeded.
func (t *troubles) over(uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, uid)
}

// tell what is observed of a run about a step of it that has failed several times.
func (t *troubles) tell(uid types.UID, seen *lifecycle.Observed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if got := t.runs[uid]; got != nil && got.times >= toldAfter {
		unwritten := new(unwrittenError)
		seen.Trouble, seen.Unwritten = got.last.Error(), errors.As(got.last, &unwritten)
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
