// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memory is what the operator remembers of a run from one step to the next, so that nothing is read or tried twice for nothing.
// An operator that has just started finds everything in it again.
type memory struct {
	basics
	// chain of records that were read or written.
	chain chain
	made
	// comparisonRows are the rows that pilots of the run's comparison have decided, or nil until they were read.
	comparisonRows map[string]int64
	// shortage is what the newest Pod lacked that found no room.
	shortage shortage
	// lookedFor is since when the document of a Pod is looked for.
	lookedFor map[types.UID]time.Time
}

// basics are what is remembered of an owner of any kind.
type basics struct {
	retries
	watermark
}

// watermark is the newest version of an owner that was decided about or written. Nothing is decided about an older one, which a
// cache may still have: the operator would not know what it has done itself.
type watermark struct{ version string }

// reach the version of an owner.
func (w *watermark) reach(owner client.Object) {
	if !w.isAbove(owner) {
		w.version = owner.GetResourceVersion()
	}
}

// isAbove says whether an owner is an older version than one that was decided about.
func (w *watermark) isAbove(owner client.Object) bool {
	if w.version == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(owner.GetResourceVersion(), w.version)
	return err == nil && order < 0 // an API server whose versions have no order has no cache that could be behind
}

// memories are those of all owners of a kind. One step of an owner is taken at a time, so that only the map has a lock.
type memories[M any] struct {
	mu  sync.Mutex
	all map[client.ObjectKey]*remembered[M]
}

// remembered is the memory of the owner with that UID.
type remembered[M any] struct {
	uid    types.UID
	memory M
}

// of an owner: an empty one if there is none, or only that of an earlier owner of the same name.
func (m *memories[M]) of(owner client.Object) *M {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	if m.all == nil {
		m.all = map[client.ObjectKey]*remembered[M]{}
	}
	if have := m.all[key]; have == nil || have.uid != owner.GetUID() {
		m.all[key] = &remembered[M]{uid: owner.GetUID()}
	}
	return &m.all[key].memory
}

// forget an owner that is gone, or going.
func (m *memories[M]) forget(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}
