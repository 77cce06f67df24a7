// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// laneQueues are the runs and comparisons that want a lane, as the watches of one controller tell of them. To list all of them
// for each one that waits would cost the square of their number. Whoever is woken because somebody has left finds that in it: it
// is told first. A nil one keeps nothing.
type laneQueues struct {
	mutex sync.Mutex
	lanes map[string]map[laneName]lifecycle.Contender
}

// laneName is what a contender is called.
type laneName struct {
	kind string
	client.ObjectKey
}

func nameIn(one *lifecycle.Contender) laneName {
	return laneName{one.Kind, client.ObjectKey{Namespace: one.Namespace, Name: one.Name}}
}

// tell of a contender as it is now. The lane of a run or a comparison never changes while its name is the same.
func (q *laneQueues) tell(one lifecycle.Contender) {
	if q == nil {
		return
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if !one.Wants {
		q.forget(&one)
		return
	}
	if q.lanes == nil {
		q.lanes = map[string]map[laneName]lifecycle.Contender{}
	}
	if q.lanes[one.Lane] == nil {
		q.lanes[one.Lane] = map[laneName]lifecycle.Contender{}
	}
	q.lanes[one.Lane][nameIn(&one)] = one
}

// gone tells of a contender that is deleted.
func (q *laneQueues) gone(one lifecycle.Contender) {
	if q == nil {
		return
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.forget(&one)
}

func (q *laneQueues) forget(one *lifecycle.Contender) {
	queue := q.lanes[one.Lane]
	delete(queue, nameIn(one))
	if len(queue) == 0 {
		delete(q.lanes, one.Lane)
	}
}

// of a lane: all that want it, in no order.
func (q *laneQueues) of(lane string) []lifecycle.Contender {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	all := make([]lifecycle.Contender, 0, len(q.lanes[lane]))
	for _, one := range q.lanes[lane] {
		all = append(all, one)
	}
	return all
}
