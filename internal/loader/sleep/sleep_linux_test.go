// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sleep

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// No wait is too short, and some of a batch are too long by less than a timer of the Go runtime may be, whichever way they take.
// A busy machine is given many batches: it has a pause some time.
func TestUntil(t *testing.T) {
	const batches = 200
	for _, wait := range []time.Duration{200 * time.Microsecond, 3 * time.Millisecond, 12 * time.Millisecond} {
		var late []time.Duration
		exact := false
		for n := 0; n < batches && !exact; n++ {
			late = batch(t, wait)
			exact = late[2] <= 500*time.Microsecond
		}
		t.Logf("%s: too late by %s", wait, late)
		if !exact {
			t.Errorf("in each of %d batches, most waits of %s are too late; in the last by %s", batches, wait, late)
		}
	}
}

// batch is by how much some waits are too late, the least first.
func batch(t *testing.T, wait time.Duration) []time.Duration {
	t.Helper()
	var late []time.Duration
	for range 15 {
		deadline := time.Now().Add(wait)
		must.Do(t, Until(t.Context(), deadline))
		late = append(late, time.Since(deadline))
	}
	slices.Sort(late)
	if late[0] < 0 {
		t.Fatalf("a wait of %s was too short by %s", wait, -late[0])
	}
	return late
}

// A moment that has passed is no wait, and an end is noticed: at once in a long wait, and by a caller that comes later.
func TestUntilEnds(t *testing.T) {
	began := time.Now()
	if err := Until(t.Context(), began.Add(-time.Hour)); err != nil || time.Since(began) > time.Minute {
		t.Errorf("error %v after %s", err, time.Since(began))
	}
	ended := errors.New("ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(ended) })
	for range 2 {
		must.Is(t, Until(ctx, began.Add(time.Hour)), ended)
	}
	must.Is(t, Until(ctx, began.Add(-time.Hour)), ended)
}
