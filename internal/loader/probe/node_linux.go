// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// nodeCalls are spread over nodeTime at least: a disk that others use is not the same from one millisecond to the next,
	// and the observer has little CPU.
	nodeCalls = 75
	nodeTime  = 150 * time.Millisecond
	// nodeFileBytes is the size of the file that is written over: small, because making it is no part of what is measured.
	nodeFileBytes = 64 * blockBytes
	// workTimes is how often the work is done, and workSteps its size: below a millisecond, so that few are interrupted.
	workTimes, workSteps = 11, 1 << 18
)

// Node says in about a fifth of a second what a node is like now: the latency of an fdatasync in a directory, and the CPU
// time of a fixed piece of work. What cannot be measured is -1. The directory is left as it was.
func Node(ctx context.Context, dir string) result.NodeProbe {
	took, err := spreadFdatasync(ctx, dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return result.NodeProbe{Fdatasync: summarize(took), CPU: work(ctx)}
}

// spreadFdatasync measures calls at regular moments, and fewer if they take longer than that.
func spreadFdatasync(ctx context.Context, dir string) (took []time.Duration, err error) {
	file, err := scratch(dir)
	if err != nil {
		return nil, fmt.Errorf("making a file in the data directory: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(make([]byte, nodeFileBytes)); err != nil {
		return nil, fmt.Errorf("writing to the data directory: %w", err)
	}
	if err := file.Sync(); err != nil {
		return nil, fmt.Errorf("syncing in the data directory: %w", err)
	}
	// A thread of its own that sleeps by itself takes less CPU than the scheduler's timers.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	block, fd, began := make([]byte, blockBytes), int(file.Fd()), time.Now()
	for i := range nodeCalls {
		if ctx.Err() != nil || time.Since(began) > nodeTime {
			break
		}
		if early := time.Until(began.Add(time.Duration(i) * nodeTime / nodeCalls)); early > 0 {
			pause := unix.NsecToTimespec(int64(early))
			_ = unix.Nanosleep(&pause, nil) // woken up before, it only begins earlier
		}
		block[0] = byte(i)
		start := time.Now()
		if _, err := file.WriteAt(block, int64(i)*blockBytes%nodeFileBytes); err != nil {
			return took, fmt.Errorf("writing to the data directory: %w", err)
		}
		if err := unix.Fdatasync(fd); err != nil {
			return took, fmt.Errorf("syncing in the data directory: %w", err)
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// work measures the CPU time of a fixed piece of work several times. The first time warms the CPU up, and does not count.
func work(ctx context.Context) result.WorkTime {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []int64
	sum := uint64(0)
	for i := range workTimes + 1 {
		before, err := threadTime()
		if err != nil || ctx.Err() != nil {
			break
		}
		sum += steps(workSteps)
		after, err := threadTime()
		if err != nil {
			break
		}
		if i > 0 {
			took = append(took, after-before)
		}
	}
	n := len(took)
	if n == 0 || sum == 0 {
		return result.WorkTime{Median: -1, P95: -1}
	}
	slices.Sort(took)
	return result.WorkTime{Times: n, Median: took[n/2], P95: took[min(n*95/100, n-1)]}
}

// steps is work for a CPU and for nothing else: each step needs the one before.
func steps(n int) uint64 {
	x := uint64(88172645463325252)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// threadTime is the CPU time of this thread, in nanoseconds.
func threadTime() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the thread's CPU time: %w", err)
	}
	return t.Nano(), nil
}
