// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
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

// Slices are eight times as long as most transactions take, at least.
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
		if err := c.SleepUntil(ctx, at); !errors.Is(err, ended) {
			t.Errorf("until %s: error %v, want that of the context", at, err)
		}
	}
}
