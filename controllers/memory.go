// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// memory is what the operator remembers of a run from one step to the next, so that nothing is read or tried twice for nothing.
// An operator that has just started finds everything in it again.
type memory struct {
	// uid of the run: another one of its name has another memory.
	uid types.UID
	retries
	watermark
	chain chain
	made
	// checked: the API server has accepted the runs of all variants. compared is what was made of the records of these, and
	// variables are those of their servers.
	checked   bool
	compared  *judge.Compared
	variables map[string]map[string]string
	// lookedFor is since when the document of a Pod is looked for.
	lookedFor map[types.UID]time.Time
}

// watermark is the newest version of a run that was decided about or written. Nothing is decided about an older one, which a
// cache may still have: the operator would not know what it has done itself.
type watermark struct{ version string }

func (w *watermark) reach(owner client.Object) {
	if !w.isAbove(owner) {
		w.version = owner.GetResourceVersion()
	}
}

// isAbove says whether a run is an older version than one that was decided about.
func (w *watermark) isAbove(owner client.Object) bool {
	if w.version == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(owner.GetResourceVersion(), w.version)
	return err == nil && order < 0 // an API server whose versions have no order has no cache that could be behind
}

// memories are those of all runs. One step of a run is taken at a time, so that only the map has a lock.
type memories struct {
	mu  sync.Mutex
	all map[client.ObjectKey]*memory
}

func (m *memories) of(run client.Object) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(run)
	if m.all == nil {
		m.all = map[client.ObjectKey]*memory{}
	}
	if have := m.all[key]; have == nil || have.uid != run.GetUID() {
		m.all[key] = &memory{
			uid: run.GetUID(), made: made{parts: sets.New[types.UID]()}, variables: map[string]map[string]string{},
			lookedFor: map[types.UID]time.Time{},
		}
	}
	return m.all[key]
}

func (m *memories) forget(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}

// reportAfter is how often in a row a step must fail before the status reports it: most errors of an API server are gone at the
// next try.
const reportAfter = 3

// retries of a run: how often in a row a step has failed, the error of the last time, and what the cluster refuses.
type retries struct {
	failures int
	last     error
	// refusal is the last one, of an action of the type refused, which is to be tried again at that time.
	refusal *lifecycle.Refusal
	refused reflect.Type
	again   time.Time
}

// refusedLately is the refusal of such an action if it is too early to try again, or nil. Whatever wakes a run meanwhile, its
// own status among it, does not ask the cluster again.
func (t *retries) refusedLately(action lifecycle.Action, now time.Time) *lifecycle.Refusal {
	if t.refused != reflect.TypeOf(action) || !now.Before(t.again) {
		return nil
	}
	return t.refusal
}

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

// isStale says whether an error only means that another writer was faster.
func isStale(err error) bool { return errors.Is(err, errStale) || apierrors.IsConflict(err) }

// unwrittenError is the error of a ConfigMap with results or a record that cannot be written now. Another try may succeed: what
// it would hold is kept until then.
type unwrittenError struct {
	what string
	err  error
}

func (e *unwrittenError) Error() string { return e.what + " cannot be written: " + e.err.Error() }

func (e *unwrittenError) Unwrap() error { return e.err }
