// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"cmp"
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/usage"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// garbagePercent lets the heap grow to nine times what is in use before it is collected. In use is next to nothing but the
// statements, which are made in place, and a client leaves nothing: only who deletes and queries does.
const garbagePercent = 800

// tuner has the Go runtime serve all clients of the process that are measured, of whatever side.
type tuner struct {
	mu      sync.Mutex
	clients int
	// processors and percent are what the runtime had before.
	processors, percent int
}

// tuning is of the process.
var tuning tuner

// add so many clients, or take them away. A client that waits for its answer keeps its thread, see socket: with one more of them
// than there are clients, none waits for another.
func (t *tuner) add(clients int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clients == 0 {
		t.processors, t.percent = runtime.GOMAXPROCS(0), debug.SetGCPercent(garbagePercent)
	}
	t.clients += clients
	runtime.GOMAXPROCS(max(t.clients+1, t.processors))
	if t.clients == 0 {
		runtime.GOMAXPROCS(t.processors)
		debug.SetGCPercent(t.percent)
	}
}

// timed lets so many clients run, from the moment that begin returns, and reads what that cost.
func timed(
	ctx context.Context, clients int, begin func(context.Context) (time.Time, error), run func(start time.Time) error,
) (result.ClientFacts, error) {
	tuning.add(clients)
	defer tuning.add(-clients)
	runtime.GC()
	start, err := begin(ctx)
	if err != nil {
		return result.ClientFacts{}, err
	}
	m := meter{}
	m.begin()
	err = run(start)
	m.end()
	return m.facts, cmp.Or(err, m.err)
}

// meter adds up what the process consumes between begin and end, more than once.
type meter struct {
	began usage.Usage
	facts result.ClientFacts
	// err is the first one.
	err error
}

func (m *meter) read() usage.Usage {
	u, err := usage.Read(usage.Root())
	m.err = cmp.Or(m.err, err)
	return u
}

func (m *meter) begin() { m.began = m.read() }

func (m *meter) end() {
	used := m.read().Facts(m.began)
	m.facts.Consumed(&used)
}
