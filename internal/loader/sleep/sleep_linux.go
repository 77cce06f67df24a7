// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sleep waits for a moment, exactly enough for latencies that count from it.
package sleep

import (
	"context"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// slack is by how many nanoseconds the kernel may let a nap be longer, to wake several threads at once. Its default is 50 µs: as
// long as a fast commit takes.
const slack = 1000

// nap sleeps in the kernel, behind the scheduler's back, as the socket of package conn waits for an answer, and for the same
// reason: a thread that comes back from a wait that the scheduler knows of costs more than what it has waited for. It ends early
// when the runtime wants the thread and sends it a signal; then the scheduler has its turn.
func nap(d time.Duration) {
	// The slack is the thread's, and the next nap may be another one's.
	_, _, _ = syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, slack, 0, 0, 0, 0)
	request := unix.NsecToTimespec(d.Nanoseconds())
	//nolint:gosec // as the syscall package does
	_, _, errno := syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&request)), 0, 0, 0)
	if errno != 0 {
		runtime.Gosched()
	}
}

// exactly is how long before the moment the exact part of a wait begins. It is more than timers of the Go runtime are late,
// whose resolution is a millisecond, and short enough not to matter to a caller that wants to end it.
const exactly = 5 * time.Millisecond

// Until returns at the given moment, which must have a monotonic clock's time, or the cause of ctx when that has ended. A moment
// that has passed is no wait. It does not spin: a longer wait is the scheduler's, and the last milliseconds are the kernel's.
func Until(ctx context.Context, deadline time.Time) error {
	if left := time.Until(deadline); left > 2*exactly {
		select {
		case <-time.After(left - exactly):
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

// For returns after a time, about, or with the cause of ctx when that has ended before.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
