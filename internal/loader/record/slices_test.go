// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

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

// side is a server with its clients.
type side struct {
	serve     server
	clock     *Clock
	recorders []*Recorder
	ended     sync.WaitGroup
	// answered is how many transactions were.
	answered atomic.Int64
}

// simulate lets clients load a server until stop, by virtual time.
func simulate(serve server, clients int, sliced bool, stop *atomic.Bool, seed uint64) *side {
	s := &side{serve: serve}
	s.recorders, s.clock = NewRecorders(clients, nil, time.Time{})
	gates := make([]*Gate, clients)
	if sliced {
		gates = s.clock.Slice(clients, 0)
	}
	var one sync.Mutex
	start := time.Now()
	for i, r := range s.recorders {
		chance := rand.New(rand.NewPCG(seed, uint64(i)))
		s.ended.Go(func() {
			for !stop.Load() {
				if sliced {
					gates[i].Enter()
				}
				began := s.clock.Now()
				one.Lock()
				took := s.serve(time.Since(start), chance)
				one.Unlock()
				time.Sleep(took)
				r.Commit(began, s.clock.Now())
				s.answered.Add(1)
				if sliced {
					gates[i].Leave()
				}
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
						s := simulate(servers[i](), clients, false, &stop, 7)
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
					sides := [2]*side{simulate(servers[0](), clients, true, &stop, 8), simulate(servers[1](), clients, true, &stop, 9)}
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
