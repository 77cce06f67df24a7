// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memory is what the operator remembers of a run from one step to the next, so that nothing is read or tried twice for nothing.
// An operator that has just started finds everything in it again.
type memory struct {
	uid types.UID
	// chain of records that were read or written.
	chain chain
	// failures is how often in a row a step has failed, and last the error of the last time.
	failures int
	last     error
	// lookedFor is since when the document of a Pod is looked for.
	lookedFor map[types.UID]time.Time
}

// memories are those of all runs. One step of a run is taken at a time, so that only the map has a lock.
type memories struct {
	mu   sync.Mutex
	runs map[client.ObjectKey]*memory
}

// of a run: an empty one if there is none, or only that of an earlier run of the same name.
func (m *memories) of(run client.Object) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(run)
	if m.runs == nil {
		m.runs = map[client.ObjectKey]*memory{}
	}
	if have := m.runs[key]; have == nil || have.uid != run.GetUID() {
		m.runs[key] = &memory{uid: run.GetUID(), lookedFor: map[types.UID]time.Time{}}
	}
	return m.runs[key]
}

// forget a run that is gone, or going.
func (m *memories) forget(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.runs, key)
}
