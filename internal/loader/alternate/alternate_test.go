// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package alternate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/record"
)

// Clients of three sides, with transactions of different lengths, work in their own turns only, and each side has one in every
// block while it is not over.
func TestAlternate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var working atomic.Int32
		var all sync.WaitGroup
		sides := Sides(t.Context(), 3, 7, 100*time.Millisecond)
		for i, s := range sides {
			all.Go(func() {
				if err := s.Wait(t.Context()); err != nil {
					t.Error(err)
				}
				clock, finished := record.NewClock(time.Time{}), make(chan struct{})
				gate := clock.Slice(1, 0)[0]
				go func() {
					for clock.Now() < 2*time.Second {
						gate.Enter()
						if working.Add(1) != 1 {
							t.Error("two sides are loaded at the same time")
						}
						time.Sleep(time.Duration(1+7*i) * time.Millisecond)
						working.Add(-1)
						gate.Leave()
					}
					close(finished)
				}()
				if err := errors.Join(s.Alternate(t.Context(), clock, finished), s.Over(t.Context())); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i, s := range sides {
			if f := s.Facts(); f.Slices < 16 || f.Slices > 22 || f.Micros < 5e6 {
				t.Errorf("side %d: %+v", i, f)
			}
		}
	})
}

// Who fails takes the others along, whether these have a turn, wait for one, or are over.
func TestFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("failed")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		sides := Sides(ctx, 3, 7, time.Second)
		var all sync.WaitGroup
		for i, s := range sides {
			all.Go(func() {
				err := s.Wait(ctx)
				switch {
				case err == nil && i == 0:
					err = s.Over(ctx)
				case err == nil && i == 1:
					err = errors.Join(s.Pass(ctx), s.Wait(ctx), s.Wait(ctx))
				case err == nil:
					if err := errors.Join(s.Pass(ctx), s.Wait(ctx)); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Hour)
					cancel(failed)
					return
				}
				if !errors.Is(err, failed) {
					t.Errorf("side %d: %v", i, err)
				}
			})
		}
		all.Wait()
	})
}

// Lengths of turns differ from pair to pair of blocks and are the same for all sides; orders are all that there are.
func TestDraws(t *testing.T) {
	const mean = time.Second
	first, sum := map[int]int{}, time.Duration(0)
	for block := 1; block <= 1000; block++ {
		l := length(3, block, mean)
		if l < mean/2 || l > 3*mean/2 || l != length(3, block, mean) {
			t.Fatalf("block %d: %s", block, l)
		}
		sum += l
		if block%2 == 1 { // each of the others is drawn with the one before
			first[order(3, block, 2)[0]]++
		}
	}
	if average := sum / 1000; average < 950*time.Millisecond || average > 1050*time.Millisecond {
		t.Errorf("the mean length is %s, want 1s", average)
	}
	if first[0] < 225 || first[0] > 275 {
		t.Errorf("side 0 is first in %d of 500 drawn blocks", first[0])
	}
}

// What becomes steadily slower costs all sides of a pair of blocks the same: the middle of their turns is at the same time.
func TestDriftMeetsAllAlike(t *testing.T) {
	for sides := 2; sides <= 5; sides++ {
		for block := 1; block < 100; block += 2 {
			sum := make([]int, sides)
			for i := range sides {
				sum[order(3, block, sides)[i]] += i
				sum[order(3, block+1, sides)[i]] += sides + i
			}
			if slices.Max(sum) != slices.Min(sum) || length(3, block, time.Second) != length(3, block+1, time.Second) {
				t.Fatalf("blocks %d and %d: the sides have the turns %d, or others in length", block, block+1, sum)
			}
		}
	}
}
