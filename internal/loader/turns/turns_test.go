// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// asks a referee for the place of a player of so many.
func asks(place, variants int) *result.Turns {
	return &result.Turns{Place: place, Variants: variants, Seed: 7, SliceMilliseconds: 20}
}

func anybody(*http.Request) {}

func referee(t *testing.T) string {
	t.Helper()
	return serve(t, new(Referee))
}

func serve(t *testing.T, r *Referee) string {
	t.Helper()
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return s.URL
}

// missing says whether the place of a session that has not begun is free.
func (r *Referee) missing(session, place int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting[session].players[place] == nil
}

// joined are all players of a session that has begun. The one at the returned place has the first turn; the others get theirs by
// Join's return, one by one.
func play(t *testing.T, base string, variants int, each func(ctx context.Context, p *Player, place int) error) []error {
	t.Helper()
	errs := make([]error, variants)
	var all sync.WaitGroup
	for place := range variants {
		all.Go(func() {
			p, err := Join(t.Context(), base, anybody, 1, asks(place, variants))
			if err != nil {
				errs[place] = err
				return
			}
			defer p.Close()
			errs[place] = each(t.Context(), p, place)
		})
	}
	all.Wait()
	return errs
}

// At most one of three players has a turn at any time, and each has one in every block while it is not over.
func TestOneTurnAtATime(t *testing.T) {
	var having atomic.Int32
	turns := make([]int, 3)
	errs := play(t, referee(t), 3, func(ctx context.Context, p *Player, place int) error {
		for n := 1; ; n++ {
			if having.Add(1) != 1 {
				t.Error("two players have a turn at the same time")
			}
			if p.block != n {
				t.Errorf("turn %d of player %d is in block %d", n, place, p.block)
			}
			turns[place]++
			if having.Add(-1); n == 5+place {
				return p.Over(ctx)
			}
			if err := errors.Join(p.Pass(ctx), p.Wait(ctx)); err != nil {
				return err
			}
		}
	})
	for place, err := range errs {
		if err != nil || turns[place] != 5+place {
			t.Errorf("player %d: %d turns, error %v", place, turns[place], err)
		}
	}
}

// counting is a clock that counts its slices.
type counting struct {
	*record.Clock
	slices atomic.Int32
}

func (c *counting) Go(length time.Duration) time.Duration {
	c.slices.Add(1)
	return c.Clock.Go(length)
}

// The clocks of two players run in their turns only; a client that works all the time does so in half of the time.
func TestAlternate(t *testing.T) {
	const enough = 400 * time.Millisecond
	var working atomic.Int32
	facts := make([]result.TurnFacts, 2)
	began := time.Now() // a player may have begun to measure before the other one did
	errs := play(t, referee(t), 2, func(ctx context.Context, p *Player, place int) error {
		clock, finished, done := &counting{Clock: record.NewClock(time.Time{})}, make(chan struct{}), make(chan error)
		gate := clock.Slice(1, 0)[0]
		go func() { done <- p.Alternate(ctx, clock, finished) }()
		for clock.Now() < enough || clock.slices.Load() < 5 { // a machine that is busy makes few slices of the time
			gate.Enter()
			if working.Add(1) != 1 {
				t.Error("two clients work at the same time")
			}
			time.Sleep(time.Millisecond)
			working.Add(-1)
			gate.Leave()
		}
		close(finished)
		if err := <-done; err != nil {
			return err
		}
		err := p.Over(ctx)
		facts[place] = p.Facts()
		return err
	})
	for place, err := range errs {
		f := facts[place]
		if err != nil || f.Slices < 5 || f.Micros < enough.Microseconds() {
			t.Errorf("player %d: %+v, error %v", place, f, err)
		}
	}
	if whole := time.Since(began); whole < 2*enough {
		t.Errorf("both together took %v, which is less than one after the other", whole)
	}
}

// Who is lost takes the others along, whether it has a turn, waits for one, or is over.
func TestLost(t *testing.T) {
	for name, leave := range map[string]func(ctx context.Context, p *Player) error{
		"in its turn": func(context.Context, *Player) error { return nil },
		"waiting":     func(ctx context.Context, p *Player) error { return p.Pass(ctx) },
		"over":        func(_ context.Context, p *Player) error { return p.say(lineOver) },
		"nonsense":    func(_ context.Context, p *Player) error { return p.say("hello") },
	} {
		errs := play(t, referee(t), 3, func(ctx context.Context, p *Player, place int) error {
			if place == 1 {
				return leave(ctx, p) // and its connection is closed
			}
			for {
				if err := errors.Join(p.Pass(ctx), p.Wait(ctx)); err != nil {
					return err
				}
			}
		})
		for place, err := range errs {
			if place != 1 && !errors.Is(err, ErrLost) {
				t.Errorf("%s: player %d: error %v, want that the session is lost", name, place, err)
			}
		}
	}
}

// Who is not there in the end, is waited for; the attempt's end ends that. A place can be taken again, and sessions do not mix.
func TestWaiting(t *testing.T) {
	r := new(Referee)
	base := serve(t, r)
	ended := errors.New("ended")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, ended)
	defer cancel()
	if _, err := Join(ctx, base, anybody, 1, asks(0, 2)); !errors.Is(err, ended) {
		t.Errorf("alone: error %v, want that of the context", err)
	}
	for !r.missing(1, 0) {
		runtime.Gosched() // until the referee knows of it
	}
	other, cancelOther := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := Join(other, base, anybody, 2, asks(0, 2)); err == nil {
			t.Error("a session began without its second player")
		}
	})
	for place, err := range play(t, base, 2, func(ctx context.Context, p *Player, _ int) error { return p.Over(ctx) }) {
		if err != nil {
			t.Errorf("player %d after one that had left: %v", place, err)
		}
	}
	cancelOther()
	waiting.Wait()
}

// A place that is taken again is the new one's, whenever the referee learns that the one before has gone.
func TestTakenPlace(t *testing.T) {
	r := new(Referee)
	player := func() *player {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close(); theirs.Close() })
		return &player{conn: ours}
	}
	first, second := asked{session: 1, players: 2}, asked{session: 1, players: 2, place: 1}
	before, after, other := player(), player(), player()
	s := r.join(first, before)
	r.join(first, after)
	if r.join(second, other) != s || r.waiting[1] != nil {
		t.Fatal("the session has not begun")
	}
	if !r.left(first, s, before) {
		t.Error("the session ends for one whose place was taken")
	}
	if r.left(first, s, after) || r.left(second, s, other) {
		t.Error("the session goes on without one of its players")
	}
}

// What is not understood is refused.
func TestRefused(t *testing.T) {
	base := referee(t)
	for name, change := range map[string]func(r *http.Request){
		"another protocol": func(r *http.Request) { r.Header.Set("Upgrade", "benchrun-turns-v0") },
		"no such place":    func(r *http.Request) { r.URL.RawQuery = "session=1&players=2&place=2" },
		"too many players": func(r *http.Request) { r.URL.RawQuery = "session=1&players=65&place=0" },
		"no number":        func(r *http.Request) { r.URL.RawQuery = "session=x&players=2&place=0" },
	} {
		if _, err := Join(t.Context(), base, change, 1, asks(0, 2)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A player that keeps its turn holds the others up for so long, and no longer.
func TestTurnIsBounded(t *testing.T) {
	base := serve(t, &Referee{TurnAtMost: 50 * time.Millisecond})
	errs := play(t, base, 2, func(ctx context.Context, p *Player, _ int) error {
		return p.Wait(ctx) // it never passes its turn on
	})
	for place, err := range errs {
		if !errors.Is(err, ErrLost) {
			t.Errorf("player %d: %v", place, err)
		}
	}
}
