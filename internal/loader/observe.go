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

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/loader/usage"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// watch asks the observer beside the server what the server cannot say of itself. Without an observer it does nothing, and
// an observer that does not answer changes nothing but that something is unknown.
type watch struct {
	client *observer.Client
	// silent is set when the observer has not answered once. It is not asked again: each time could take the whole time-out.
	silent bool
	seen   result.Observed
}

func newWatch(server result.Server) watch {
	if server.ObserverPort == 0 {
		return watch{}
	}
	return watch{client: observer.NewClient(server)}
}

func (w *watch) observed() *result.Observed {
	if w.seen == (result.Observed{}) {
		return nil
	}
	return &w.seen
}

// ask does something with the observer, if there is one that answers.
func (o *owner) ask(do func(*watch) error) {
	if o.watch.client == nil || o.watch.silent {
		return
	}
	if err := do(&o.watch); err != nil {
		o.watch.silent = true
		o.findings = append(o.findings, finding.Unobserved())
		o.progress.Say(err.Error())
	}
}

// probe asks what the server's node is like, while nothing else is going on. The attempt does not depend on the answer, or on any
// other of the observer.
func (o *owner) probe(ctx context.Context) error {
	o.ask(func(w *watch) (err error) {
		w.seen.Probe, err = w.client.Probe(ctx)
		return err
	})
	return nil
}

// observe reads the server's process, before what is measured or after it.
func (o *owner) observe(ctx context.Context, into **result.ProcessFacts) {
	o.ask(func(w *watch) (err error) {
		*into, err = w.client.Read(ctx)
		return err
	})
}

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
	err   error
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
