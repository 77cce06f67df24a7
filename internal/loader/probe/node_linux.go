// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// workTimes is how often the work is done, and workSteps its size: below a millisecond, so that few are interrupted.
const workTimes, workSteps = 11, 1 << 18

// Node says in about a fifth of a second what a node is like now: the latency of an fdatasync in a directory, and the CPU
// time of a fixed piece of work. What cannot be measured is -1. The directory is left as it was.
func Node(ctx context.Context, dir string) result.NodeProbe {
	return result.NodeProbe{Fdatasync: briefly.fdatasync(ctx, dir), CPU: work(ctx)}
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

// blockBytes are written at once. A redo log is written as here: small blocks one after the other, over what was written before.
const blockBytes = 4 << 10

// calls of fdatasync are so many, within a time, over a file of a size. With a distance they are made at regular moments, and
// fewer if they take longer than that.
type calls struct {
	most          int
	within, every time.Duration
	over          int64
}

var (
	fully = calls{most: 300, within: 3 * time.Second, over: 4 << 20}
	// briefly spreads them: a disk that others use is not the same from one millisecond to the next, and the observer has
	// little CPU. The file is small, because making it is no part of what is measured.
	briefly = calls{most: 75, within: 150 * time.Millisecond, every: 2 * time.Millisecond, over: 64 * blockBytes}
)

// fdatasync measures how long it takes until 4 KiB are on the disk of a directory. If that cannot be measured, the
// number of calls is 0 and the latencies are -1.
func (c *calls) fdatasync(ctx context.Context, dir string) result.FsyncLatency {
	took, err := c.measure(ctx, dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return summarize(took)
}

func summarize(took []time.Duration) result.FsyncLatency {
	n := len(took)
	if n == 0 {
		return result.FsyncLatency{Median: -1, P95: -1, Max: -1}
	}
	slices.Sort(took)
	sum := time.Duration(0)
	for _, t := range took {
		sum += t
	}
	return result.FsyncLatency{
		Calls:  n,
		Median: took[n/2].Microseconds(),
		Mean:   (sum / time.Duration(n)).Microseconds(),
		P95:    took[min(n*95/100, n-1)].Microseconds(),
		Max:    took[n-1].Microseconds(),
	}
}

func (c *calls) measure(ctx context.Context, dir string) (took []time.Duration, err error) {
	began := time.Now()
	file, err := scratch(dir)
	if err != nil {
		return nil, fmt.Errorf("making a file in the data directory: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	// Written, not only allocated: overwriting must not change the file system's own tables.
	if _, err := file.Write(make([]byte, c.over)); err != nil {
		return nil, fmt.Errorf("writing to the data directory: %w", err)
	}
	if err := file.Sync(); err != nil {
		return nil, fmt.Errorf("syncing in the data directory: %w", err)
	}
	if c.every > 0 {
		began = time.Now()
		// A thread of its own that sleeps by itself takes less CPU than the scheduler's timers.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	block, fd := make([]byte, blockBytes), int(file.Fd())
	for i := range c.most {
		if ctx.Err() != nil || time.Since(began) > c.within {
			break
		}
		if early := time.Until(began.Add(time.Duration(i) * c.every)); early > 0 {
			pause := unix.NsecToTimespec(int64(early))
			_ = unix.Nanosleep(&pause, nil) // woken up before, it only begins earlier
		}
		block[0] = byte(i)
		start := time.Now()
		if _, err := file.WriteAt(block, int64(i)*blockBytes%c.over); err != nil {
			return took, fmt.Errorf("writing to the data directory: %w", err)
		}
		if err := unix.Fdatasync(fd); err != nil {
			return took, fmt.Errorf("syncing in the data directory: %w", err)
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// scratch opens a file that has no name in dir, so that nothing is left behind however the process ends: a server
// initialises only an empty directory. Where the file system cannot do that, the name is there for a moment.
func scratch(dir string) (*os.File, error) {
	const mode = 0o600
	if fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, mode); err == nil {
		return os.NewFile(uintptr(fd), filepath.Join(dir, "(no name)")), nil
	}
	file, err := os.CreateTemp(dir, ".benchrun-probe-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
