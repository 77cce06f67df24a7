// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
)

// Clock is the time for which a load is made, which all clients of a Pod share. In slices it runs while transactions may begin:
// not while those that were under way at a slice's end are waited for, and not while others are measured.
type Clock struct {
	start time.Time
	// state is for how many nanoseconds the clock has not counted so far or, below zero, where it stands: the complement of its
	// time. One number, so that Now never sees half of a change.
	state atomic.Int64
	// closed is closed when transactions may begin again; nil while they may.
	closed atomic.Pointer[chan struct{}]
	// left has room for the news that a client has ended its transaction, which Stop waits for.
	left  chan struct{}
	gates []*Gate
	// window of the slice that is, or was last; nil if there are no slices: everything counts.
	window atomic.Pointer[window]
	// slices is how many there were, limit the latest end of a window, and done says that none begins any more.
	slices int
	limit  time.Duration
	done   atomic.Bool
	// drained is the time in which transactions under way at the ends of slices were waited for.
	drained, longestDrain time.Duration
	// parted says that not all of a slice counted.
	parted bool
	// lastP95 is the 95th percentile of the transactions' times that was known last; 0 is none.
	lastP95 time.Duration
	limited
}

// limited is a server that its CPU quota holds back. While others are measured it saves that of a period, which it spends first
// in its slice; and what it does comes in bursts, one in each period.
type limited struct{ period time.Duration }

// Quota sets the period of the quota, from the next slice on; 0 is none.
func (l *limited) Quota(period time.Duration) { l.period = period }

// periods are the length of a slice whose window begins when what was saved is spent and lasts whole periods, and when it begins.
func (l *limited) periods(length, ramp time.Duration) (whole, later time.Duration) {
	if l.period == 0 {
		return length, ramp
	}
	later = max(ramp, l.period)
	return later + max((length-later).Round(l.period), 2*l.period), later
}

// window is the part of a slice that counts: from its steady state until its end is asked for. What is answered before and after
// is in no rate, because in both some clients have nothing under way. Of a single client all counts until its last answer: a
// slice is so many whole transactions then.
type window struct {
	from time.Duration
	// to is where its end was asked for, or the latest end while it was not.
	to atomic.Int64
	// before is how much time the windows before it had.
	before time.Duration
}

// Slices are the times of a load in slices.
type Slices struct {
	// Counted is the time of the windows, Outside that in which the load was made besides.
	Counted, Outside time.Duration
	// LongestDrain is the longest time between a slice's end, as it was asked for, and the end of the last transaction.
	LongestDrain time.Duration
}

// NewClock runs from start on; its zero is now.
func NewClock(start time.Time) *Clock {
	if start.IsZero() {
		start = time.Now()
	}
	return &Clock{start: start, left: make(chan struct{}, 1)}
}

// Slice makes the clock that of a load in slices, which ends at the given time of it; 0 is without a limit. It stands still until
// the first slice. The gates are those of n clients.
func (c *Clock) Slice(n int, limit time.Duration) []*Gate {
	if c.limit = limit; limit == 0 || n == 1 {
		c.limit = math.MaxInt64
	}
	for range n {
		c.gates = append(c.gates, &Gate{clock: c, times: newDistribution()})
	}
	c.close()
	c.state.Store(^int64(0))
	return c.gates
}

// Now is the time since the start for which the clock has run.
func (c *Clock) Now() time.Duration {
	state := c.state.Load()
	if state < 0 {
		return time.Duration(^state)
	}
	return time.Since(c.start) - time.Duration(state)
}

// Go begins a slice of the given length, or of a longer one if its transactions are long, and returns that.
func (c *Clock) Go(length time.Duration) time.Duration {
	length, ramp := c.steady(length)
	stood := c.Now()
	w := &window{from: stood + ramp, before: c.Counted()}
	w.to.Store(int64(c.limit))
	if c.done.Load() {
		w.to.Store(0)
	}
	c.window.Store(w)
	c.state.Store(int64(time.Since(c.start) - stood))
	if closed := c.closed.Swap(nil); closed != nil {
		close(*closed)
	}
	return length
}

const (
	// leastP95s is how many times the 95th percentile of the transactions' times a slice is at least, unless a load with a limit
	// would have fewer slices than leastSlices.
	leastP95s, leastSlices = 8, 8
	// golden is a number whose multiples have fractions that are spread evenly.
	golden = 0.6180339887
)

// steady is the length of the next slice, and when its steady state begins: after one to two 95th percentiles, which is a quarter
// at most. All clients begin at the same time: if their transactions took equally long, they would end at the same times, too,
// and what counts would always begin at the same place among these.
func (c *Clock) steady(length time.Duration) (whole, ramp time.Duration) {
	if c.slices++; c.alone() {
		return length, 0
	}
	p95 := c.p95()
	length = max(length, min(leastP95s*p95, c.limit/leastSlices))
	if p95 == 0 {
		return c.periods(length, length/4)
	}
	_, spread := math.Modf(float64(c.slices) * golden)
	return c.periods(length, min(p95+time.Duration(spread*float64(p95)), length/4))
}

// alone says whether a slice is so many whole transactions: the first, or all if none waits for the next period of a quota.
func (c *Clock) alone() bool { return len(c.gates) == 1 && (c.period == 0 || c.slices == 1) }

// Stop ends a slice: no transaction begins, those under way end, and only then it returns.
func (c *Clock) Stop() {
	asked := time.Now()
	if !c.alone() {
		c.endWindow()
	}
	to := c.Now()
	c.close()
	for slices.ContainsFunc(c.gates, func(g *Gate) bool { return g.inside.Load() }) {
		<-c.left
	}
	if c.alone() {
		c.endWindow()
		to = c.Now()
	}
	c.state.Store(^int64(to))
	drain := time.Since(asked)
	c.longestDrain = max(c.longestDrain, drain)
	if !c.alone() {
		c.drained, c.parted = c.drained+drain, true
	}
}

// Finish says that a client has nothing left to do: from now on not all of them make the load, and nothing counts any more.
func (c *Clock) Finish() {
	c.done.Store(true)
	c.endWindow()
}

// endWindow has the window end now, if it has not ended.
func (c *Clock) endWindow() {
	w := c.window.Load()
	if w == nil {
		return
	}
	for now := int64(c.Now()); ; {
		if to := w.to.Load(); to <= now || w.to.CompareAndSwap(to, now) {
			return
		}
	}
}

func (c *Clock) close() {
	closed := make(chan struct{})
	c.closed.Store(&closed)
}

// p95 is the 95th percentile of the transactions' times, of which the recent ones count more; 0 if there was none. No client may
// be in a transaction.
func (c *Clock) p95() time.Duration {
	all := newDistribution()
	for _, g := range c.gates {
		all.add(g.times)
		g.times.halve()
	}
	if all.total() > 0 {
		c.lastP95 = time.Duration(all.percentile(95)) * time.Microsecond
	}
	return c.lastP95
}

// Counted is the time of all windows until now.
func (c *Clock) Counted() time.Duration {
	w := c.window.Load()
	if w == nil {
		return 0
	}
	return w.before + max(min(c.Now(), time.Duration(w.to.Load()))-w.from, 0)
}

// Slices is what there is to know of a load in slices when all clients have ended; the zero value of one that was not.
func (c *Clock) Slices() Slices {
	if c.window.Load() == nil {
		return Slices{}
	}
	s := Slices{Counted: c.Counted(), LongestDrain: c.longestDrain}
	if c.parted || !c.alone() {
		s.Outside = c.Now() - s.Counted + c.drained
	}
	return s
}

// counted is the time of the windows at a moment, and whether that is inside of one.
func (c *Clock) counted(at time.Duration) (time.Duration, bool) {
	w := c.window.Load()
	if w == nil {
		return at, true
	}
	to := time.Duration(w.to.Load())
	return w.before + min(max(at, w.from), max(to, w.from)) - w.from, w.from <= at && at < to
}

// SleepUntil returns at a time of the clock, or with the cause of ctx when that has ended.
func (c *Clock) SleepUntil(ctx context.Context, at time.Duration) error {
	for {
		if closed := c.closed.Load(); closed != nil {
			select {
			case <-*closed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		left := at - c.Now()
		if left <= 0 && ctx.Err() == nil {
			return nil
		}
		if err := sleep.Until(ctx, time.Now().Add(left)); err != nil {
			return err
		}
	}
}

// Gate is where a client of a load in slices waits between its transactions: one that waited inside of a transaction would stop
// the others by its locks. Only the client's goroutine may use it.
type Gate struct {
	clock  *Clock
	inside atomic.Bool
	began  time.Duration
	// times of the transactions.
	times *distribution
}

// Enter waits until a transaction may begin; inside of one it does nothing.
func (g *Gate) Enter() {
	if g.inside.Load() {
		return
	}
	for {
		// Said first and asked then: Stop does the opposite, and one of the two sees the other.
		g.inside.Store(true)
		closed := g.clock.closed.Load()
		if closed == nil {
			break
		}
		g.leave()
		<-*closed
	}
	g.began = g.clock.Now()
}

// Leave is called when a transaction has ended; outside of one it does nothing.
func (g *Gate) Leave() {
	if !g.inside.Load() {
		return
	}
	g.times.count(latencyMicros(g.clock.Now() - g.began))
	g.leave()
}

func (g *Gate) leave() {
	g.inside.Store(false)
	if g.clock.closed.Load() != nil {
		select {
		case g.clock.left <- struct{}{}:
		default: // there is news already
		}
	}
}
