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

// The clock's time is that for which it ran, no matter who sleeps by it.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(time.Time{})
		time.Sleep(3 * time.Second)
		c.Stop()
		time.Sleep(time.Hour)
		if got := c.Now(); got != 3*time.Second {
			t.Errorf("it stands at %s, want 3s", got)
		}
		c.Go()
		time.Sleep(2 * time.Second)
		c.Stop()
		c.Go()
		if got := c.Now(); got != 5*time.Second {
			t.Errorf("after 5 s that it ran, it is at %s", got)
		}
	})
}

// It stops when the last statement was answered, and the next one is not sent before it runs.
func TestClockWaitsForAnswers(t *testing.T) {
	const moment = 20 * time.Millisecond
	c := NewClock(time.Time{})
	c.Enter()
	stopped, sent := make(chan struct{}), make(chan struct{})
	go func() {
		c.Stop()
		close(stopped)
	}()
	select {
	case <-stopped:
		t.Fatal("it stands still, and a statement has no answer")
	case <-time.After(moment):
	}
	if got := c.Now(); got < moment {
		t.Errorf("while somebody waits for an answer, it stands at %s", got)
	}
	c.Leave()
	<-stopped
	go func() {
		c.Enter()
		defer c.Leave()
		close(sent)
	}()
	select {
	case <-sent:
		t.Error("a statement is sent, and the clock stands still")
	case <-time.After(moment):
	}
	c.Go()
	<-sent
}

// A pause in the middle of a sleep makes it longer, and not shorter.
func TestClockSleeps(t *testing.T) {
	c := NewClock(time.Time{})
	slept := make(chan time.Duration)
	go func() {
		if err := c.SleepUntil(t.Context(), 200*time.Millisecond); err != nil {
			t.Error(err)
		}
		slept <- c.Now()
	}()
	c.Stop()
	select {
	case <-slept:
		t.Error("the sleep ended, and the clock stands still")
	case <-time.After(400 * time.Millisecond):
	}
	c.Go()
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
