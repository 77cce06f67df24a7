// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// A redo log is written as here: small blocks one after the other, over what was written before.
	blockBytes = 4 << 10
	fileBytes  = 4 << 20
	maxCalls   = 300
	maxTime    = 3 * time.Second
)

// fdatasync measures how long it takes until 4 KiB are on the disk of a directory. If that cannot be measured, the
// number of calls is 0 and the latencies are -1.
func fdatasync(ctx context.Context, dir string) result.FsyncLatency {
	took, err := measureFdatasync(ctx, dir)
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

func measureFdatasync(ctx context.Context, dir string) (took []time.Duration, err error) {
	began := time.Now()
	file, err := scratch(dir)
	if err != nil {
		return nil, fmt.Errorf("making a file in the data directory: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	// Written, not only allocated: overwriting must not change the file system's own tables.
	if _, err := file.Write(make([]byte, fileBytes)); err != nil {
		return nil, fmt.Errorf("writing to the data directory: %w", err)
	}
	if err := file.Sync(); err != nil {
		return nil, fmt.Errorf("syncing in the data directory: %w", err)
	}
	block := make([]byte, blockBytes)
	for i := range maxCalls {
		if ctx.Err() != nil || time.Since(began) > maxTime {
			break
		}
		block[0] = byte(i)
		start := time.Now()
		if _, err := file.WriteAt(block, int64(i)*blockBytes%fileBytes); err != nil {
			return took, fmt.Errorf("writing to the data directory: %w", err)
		}
		if err := unix.Fdatasync(int(file.Fd())); err != nil {
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
