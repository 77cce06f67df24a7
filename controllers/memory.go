// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// memory is what the operator remembers of a run from one step to the next, so that nothing is read or tried twice for nothing.
// An operator that has just started finds everything in it again.
type memory struct {
	troubles
	// chain of records that were read or written.
	chain chain
	// earlier is the last run that asked for the same, or nil until it was looked for.
	earlier *lifecycle.Earlier
	// lookedFor is since when the document of a Pod is looked for.
	lookedFor map[types.UID]time.Time
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
