// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// The clock's time is that for which transactions could begin, and what counts is that without the beginnings of slices.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(time.Time{})
		c.Slice(0, 0)
		time.Sleep(time.Hour)
		c.Go(4 * time.Second)
		time.Sleep(4 * time.Second)
		c.Stop()
		time.Sleep(time.Hour)
		if now, counted := c.Now(), c.Counted(); now != 4*time.Second || counted != 3*time.Second {
			t.Errorf("after a slice of 4 s it stands at %s, of which %s count; want 3 s without its steady state", now, counted)
		}
		c.Go(4 * time.Second)
		time.Sleep(2 * time.Second)
		c.Finish()
		time.Sleep(2 * time.Second)
		c.Stop()
		c.Go(4 * time.Second)
		time.Sleep(4 * time.Second)
		if now, counted := c.Now(), c.Counted(); now != 12*time.Second || counted != 4*time.Second {
			t.Errorf("at %s, %s count; want 4 s: nothing after a client had nothing left to do", now, counted)
		}
	})
}

// Of a single client all counts, also where its server may have a quota: its load may be over before that is spent. Where the server
// was held back, what counts begins when it is spent, and lasts whole periods.
func TestClockOfAQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(time.Time{})
		c.Slice(1, 0)
		c.Quota(quotaPeriod)
		for i, want := range []time.Duration{430 * time.Millisecond, 730 * time.Millisecond} {
			time.Sleep(c.Go(430 * time.Millisecond))
			if c.Stop(); c.Counted() != want {
				t.Errorf("after %d slices of 430 ms, %s count, want %s", i+1, c.Counted(), want)
			}
		}
		c.Quota(0) // and of the last slice all counts again
		time.Sleep(c.Go(430 * time.Millisecond))
		if c.Stop(); c.Slices() != (Slices{Counted: 1160 * time.Millisecond, Outside: 107500 * time.Microsecond}) {
			t.Errorf("%+v", c.Slices())
		}
	})
}

// A slice ends when the last transaction has ended, which takes no time that counts, and the next one does not begin before the
// next slice.
func TestClockWaitsForTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(time.Time{})
		gate := c.Slice(2, 0)[0]
		var began []time.Duration
		start := time.Now()
		go func() {
			for range 3 {
				gate.Enter()
				gate.Enter() // inside of a transaction it does nothing
				began = append(began, time.Since(start))
				time.Sleep(3 * time.Second)
				gate.Leave()
				gate.Leave()
			}
		}()
		for range 2 {
			if length := c.Go(4 * time.Second); length < 4*time.Second {
				t.Errorf("a slice of %s", length)
			}
			time.Sleep(4 * time.Second)
			c.Stop()
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		if len(began) != 3 || began[1] != 3*time.Second || began[2] != 66*time.Second {
			t.Errorf("transactions began at %v", began)
		}
		if s := c.Slices(); s.LongestDrain != 2*time.Second || c.Now() != 8*time.Second || s.Counted+s.Outside != 10*time.Second {
			t.Errorf("%+v at %s", s, c.Now())
		}
	})
}

// Slices are eight times as long as most transactions take, at least, unless the limit would be over in a few of them.
func TestLongTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(time.Time{})
		gate := c.Slice(2, 0)[0]
		c.Go(time.Second)
		gate.Enter()
		time.Sleep(2 * time.Second)
		gate.Leave()
		c.Stop()
		for range 3 { // and they do not become shorter by having none
			if length := c.Go(time.Second); length < 15*time.Second || length > 17*time.Second {
				t.Errorf("a slice of %s after a transaction of 2 s", length)
			}
			c.Stop()
		}
		if c.limit = 16 * time.Second; c.Go(time.Second) != 2*time.Second {
			t.Error("of a load of 16 s, a slice is not 2 s")
		}
	})
}

// A pause in the middle of a sleep makes it longer, and not shorter.
func TestClockSleeps(t *testing.T) {
	c := NewClock(time.Time{})
	c.Slice(0, 0)
	slept := make(chan time.Duration)
	go func() {
		if err := c.SleepUntil(t.Context(), 200*time.Millisecond); err != nil {
			t.Error(err)
		}
		slept <- c.Now()
	}()
	select {
	case <-slept:
		t.Error("the sleep ended, and the clock stands still")
	case <-time.After(400 * time.Millisecond):
	}
	c.Go(time.Second)
	if at := <-slept; at < 200*time.Millisecond {
		t.Errorf("the sleep ended at %s", at)
	}
	ended := errors.New("ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ended)
	for _, at := range []time.Duration{0, time.Hour} {
		must.Is(t, c.SleepUntil(ctx, at), ended)
	}
}

// transactions of each side of a simulation. make bench-slices has so many that chance is small: only then it is looked at closely.
var transactions = flag.Int("transactions", 10_000, "of each side")

// server is how long one takes for a transaction that begins now, whose client has the source of chance.
type server func(now time.Duration, chance *rand.Rand) time.Duration

func exponential(chance *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(chance.ExpFloat64() * float64(mean))
}

// independent delays: no client waits for another.
func independent(mean time.Duration) server {
	return func(_ time.Duration, chance *rand.Rand) time.Duration { return exponential(chance, mean) }
}

// steady takes always as long.
func steady(took time.Duration) server {
	return func(time.Duration, *rand.Rand) time.Duration { return took }
}

// stalling is independent, and one in so many transactions takes longer.
func stalling(mean, stall time.Duration, one int) server {
	return func(_ time.Duration, chance *rand.Rand) time.Duration {
		if chance.IntN(one) == 0 {
			return stall
		}
		return exponential(chance, mean)
	}
}

// saturated does one transaction after the other.
func saturated(mean time.Duration) server {
	free := time.Duration(0)
	return func(now time.Duration, chance *rand.Rand) time.Duration {
		free = max(free, now) + exponential(chance, mean)
		return free - now
	}
}

// grouping commits all that wait at the same time.
func grouping(flush time.Duration) server {
	ends, next := time.Duration(0), time.Duration(0)
	return func(now time.Duration, chance *rand.Rand) time.Duration {
		if now >= ends && next > 0 {
			ends, next = next, 0
		}
		took := flush*7/8 + exponential(chance, flush/8)
		switch {
		case now >= ends:
			ends = now + took
			return ends - now
		case next == 0:
			next = ends + took
		}
		return next - now
	}
}

// locking has independent work and then, for one in ten, work for which a lock is held.
func locking(work, held time.Duration) server {
	free := time.Duration(0)
	return func(now time.Duration, chance *rand.Rand) time.Duration {
		took := exponential(chance, work)
		if chance.IntN(10) == 0 {
			free = max(free, now+took) + exponential(chance, held)
			took = free - now
		}
		return took
	}
}

// quotaPeriod is that of limitedTo.
const quotaPeriod = 100 * time.Millisecond

// limitedTo one CPU, by a quota of two: they work until it is used up, and stand still until the next period.
func limitedTo(work time.Duration) server {
	free, spent, period := time.Duration(0), time.Duration(0), time.Duration(0)
	return func(now time.Duration, chance *rand.Rand) time.Duration {
		free = max(free, now)
		for left := exponential(chance, work); left > 1; {
			if now := free.Truncate(quotaPeriod); now != period {
				period, spent = now, 0
			}
			ends := period + quotaPeriod
			if part := min(left, quotaPeriod-spent, 2*(ends-free)); part > 1 {
				free, spent, left = free+part/2, spent+part, left-part
			} else {
				free = ends
			}
		}
		return free - now
	}
}

// side is a server with its clients.
type side struct {
	serve     server
	clock     *Clock
	recorders []*Recorder
	ended     sync.WaitGroup
	// begun and answered are how many transactions were.
	begun, answered atomic.Int64
}

// gate is where a client waits between its transactions, or for the first.
type gate interface {
	Enter()
	Leave()
}

// open is no gate.
type open struct{}

func (open) Enter() {}
func (open) Leave() {}

// halted is a program whose clients all wait where they are, once they have their answers.
type halted struct{ closed atomic.Pointer[chan struct{}] }

func (h *halted) Enter() {
	for closed := h.closed.Load(); closed != nil; closed = h.closed.Load() {
		<-*closed
	}
}

func (*halted) Leave() {}

func (h *halted) Halt() error {
	closed := make(chan struct{})
	h.closed.Store(&closed)
	return nil
}

func (h *halted) Continue() error {
	if closed := h.closed.Swap(nil); closed != nil {
		close(*closed)
	}
	return nil
}

// simulate lets clients load a server until stop, by virtual time. A program that can be halted is at first.
func simulate(serve server, clients int, sliced bool, program *halted, stop *atomic.Bool, seed uint64) *side {
	s := &side{serve: serve}
	s.recorders, s.clock = NewRecorders(clients, nil, time.Time{})
	gates := make([]gate, clients)
	for i := range gates {
		if gates[i] = open(struct{}{}); program != nil {
			gates[i] = program
		}
	}
	if sliced {
		for i, g := range s.clock.Slice(clients, 0) {
			gates[i] = g
		}
	}
	var one sync.Mutex
	start := time.Now()
	for i, r := range s.recorders {
		chance := rand.New(rand.NewPCG(seed, uint64(i)))
		s.ended.Go(func() {
			for !stop.Load() {
				gates[i].Enter()
				s.begun.Add(1)
				began := s.clock.Now()
				one.Lock()
				took := s.serve(time.Since(start), chance)
				one.Unlock()
				time.Sleep(took)
				r.Commit(began, s.clock.Now())
				s.answered.Add(1)
				gates[i].Leave()
			}
		})
	}
	return s
}

// result is what a side has measured, when all clients have ended.
func (s *side) result() (rate float64, p99 time.Duration) {
	s.ended.Wait()
	all := s.recorders[0]
	for _, r := range s.recorders[1:] {
		all.Merge(r)
	}
	return float64(all.totals.Transactions) / s.clock.Counted().Seconds(),
		time.Duration(all.histograms[commit].ValueAtQuantile(99)) * time.Microsecond
}

// What is measured in slices is what would have been measured without the other side, however many clients there are and whatever
// they wait for: the ratio of rates within 1%, and the 99th percentiles within 3%, in many transactions.
func TestSlicesTellTheTruth(t *testing.T) {
	const ms = time.Millisecond
	for name, servers := range map[string][2]func() server{
		"independent":  {func() server { return independent(20 * ms) }, func() server { return independent(40 * ms) }},
		"steady":       {func() server { return steady(5 * ms) }, func() server { return steady(40 * ms) }},
		"saturated":    {func() server { return saturated(ms) }, func() server { return saturated(2 * ms) }},
		"group commit": {func() server { return grouping(4 * ms) }, func() server { return grouping(8 * ms) }},
		"row locks":    {func() server { return locking(10*ms, ms) }, func() server { return locking(20*ms, 2*ms) }},
		"CPU limit":    {func() server { return independent(20 * ms) }, func() server { return limitedTo(ms / 2) }},
		"stalls":       {func() server { return independent(6 * ms) }, func() server { return stalling(6*ms, 300*ms, 5000) }},
	} {
		list, offAtMost, closely := []int{1, 64}, 0.1, *transactions >= 1_000_000
		if closely {
			list, offAtMost = []int{1, 16, 64, 128}, 0.01
		}
		for _, clients := range list {
			t.Run(fmt.Sprintf("%s/%d", name, clients), func(t *testing.T) {
				t.Parallel()
				alone, sliced := [2]float64{}, [2]float64{}
				aloneP99, slicedP99 := [2]time.Duration{}, [2]time.Duration{}
				for i := range 2 {
					synctest.Test(t, func(*testing.T) {
						var stop atomic.Bool
						s := simulate(servers[i](), clients, false, nil, &stop, 7)
						for s.answered.Load() < int64(*transactions) {
							time.Sleep(time.Second)
						}
						// Before the last ones end, which are fewer and fewer.
						alone[i] = float64(s.answered.Load()) / s.clock.Now().Seconds()
						stop.Store(true)
						_, aloneP99[i] = s.result()
					})
				}
				synctest.Test(t, func(*testing.T) {
					var stop atomic.Bool
					sides := [2]*side{
						simulate(servers[0](), clients, true, nil, &stop, 8), simulate(servers[1](), clients, true, nil, &stop, 9),
					}
					if name == "CPU limit" {
						sides[1].clock.Quota(quotaPeriod)
					}
					chance := rand.New(rand.NewPCG(1, 1))
					for least := int64(0); least < int64(*transactions); {
						least = math.MaxInt64
						for _, s := range sides {
							time.Sleep(s.clock.Go(250*ms + time.Duration(chance.Int64N(int64(500*ms)))))
							s.clock.Stop()
							least = min(least, s.answered.Load())
						}
					}
					stop.Store(true)
					for i, s := range sides {
						s.clock.Finish()
						s.clock.Go(ms)
						sliced[i], slicedP99[i] = s.result()
					}
				})
				programs := [2]float64{}
				synctest.Test(t, func(t *testing.T) { programs = inHalts(t, servers, clients, name == "CPU limit") })
				if ratio := programs[1] / programs[0] / (alone[1] / alone[0]); math.Abs(ratio-1) > offAtMost {
					t.Errorf("the ratio of programs is %.4f of what it is without slices", ratio)
				} else {
					t.Logf("programs: ratio %.3f, rates %.3f %.3f", ratio, programs[0]/alone[0], programs[1]/alone[1])
				}
				ratio := sliced[1] / sliced[0] / (alone[1] / alone[0])
				t.Logf("ratio %.3f, rates %.3f %.3f, p99 %.3f %.3f of what they are", ratio, sliced[0]/alone[0], sliced[1]/alone[1],
					float64(slicedP99[0])/float64(aloneP99[0]), float64(slicedP99[1])/float64(aloneP99[1]))
				if math.Abs(ratio-1) > offAtMost {
					t.Errorf("the ratio is %.4f of what it is without slices", ratio)
				}
				for i := range 2 {
					if p := float64(slicedP99[i]) / float64(aloneP99[i]); closely && math.Abs(p-1) > 0.03 {
						t.Errorf("side %d: p99 is %.3f of what it is without slices", i, p)
					}
				}
			})
		}
	}
}

// inHalts are the rates of two programs that are halted in turns. The second server may have a quota.
func inHalts(t *testing.T, servers [2]func() server, clients int, quota bool) (rates [2]float64) {
	var stop atomic.Bool
	var sides [2]*side
	var clocks [2]*Halting
	for i := range sides {
		program := &halted{}
		_ = program.Halt()
		s := simulate(servers[i](), clients, false, program, &stop, uint64(10+i))
		sides[i], clocks[i] = s, &Halting{
			Program: program, Ended: make(chan struct{}), Failed: func(err error) { t.Error(err) }, Clients: clients, Limit: time.Hour,
			Statements: func() (int64, error) { return s.begun.Load(), nil },
			Idle:       func() (bool, error) { return s.begun.Load() == s.answered.Load(), nil },
		}
	}
	if quota {
		clocks[1].Quota(quotaPeriod)
	}
	chance := rand.New(rand.NewPCG(1, 1))
	for i, c := range clocks {
		c.Begin()
		// It is on its way before its first slice begins: that counts nowhere, and is forgotten nowhere.
		_ = c.Program.Continue()
		time.Sleep(100 * time.Millisecond)
		if sides[i].begun.Load() == 0 {
			t.Error("the program has sent nothing")
		}
		_ = c.Program.Halt()
		time.Sleep(time.Minute)
	}
	for least := int64(0); least < int64(*transactions); {
		least = math.MaxInt64
		for i, s := range sides {
			time.Sleep(clocks[i].Go(250*time.Millisecond + time.Duration(chance.Int64N(int64(500*time.Millisecond)))))
			clocks[i].Stop()
			least = min(least, s.answered.Load())
		}
	}
	stop.Store(true)
	for i, s := range sides {
		clocks[i].Go(time.Millisecond)
		s.ended.Wait()
		slices := clocks[i].Slices()
		must.Same(t, "statements in slices", s.begun.Load(), slices.Statements)
		rates[i] = float64(slices.Counted) / slices.Windows.Seconds()
	}
	return rates
}
