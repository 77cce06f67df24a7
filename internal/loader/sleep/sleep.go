// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sleep waits for a moment, exactly enough for latencies that count from it.
package sleep

import (
	"context"
	"time"
)

// exactly is how long before the moment the exact part of a wait begins. It is more than timers of the Go runtime are late,
// whose resolution is a millisecond, and short enough not to matter to a caller that wants to end it.
const exactly = 5 * time.Millisecond

// Until returns at the given moment, which must have a monotonic clock's time, or the cause of ctx when that has ended. A moment
// that has passed is no wait. It does not spin: a longer wait is the scheduler's, and the last milliseconds are the kernel's.
func Until(ctx context.Context, deadline time.Time) error {
	if left := time.Until(deadline); left > 2*exactly {
		timer := time.NewTimer(left - exactly)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return nil
		}
		nap(left)
	}
}
