// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// PatternTime is for how long each pattern of the volume benchmark is measured.
	PatternTime = 5 * time.Second
	// benchmarkBytes is the size of the file, and layoutTime for how long it is written at most: a slow disk gets a smaller one.
	benchmarkBytes = 256 << 20
	layoutTime     = 10 * time.Second
	// chunkBytes is an operation of the sequential patterns, and pageBytes, a page of InnoDB, one of the random patterns.
	chunkBytes = 1 << 20
	pageBytes  = 16 << 10
)

type pattern struct {
	name   string
	bytes  int64
	random bool
	// direct operations bypass the page cache.
	direct bool
	one    func(file *os.File, block []byte, at int64) error
}

// patterns in the order in which they are measured.
var patterns = []pattern{
	{"sequentialWrite1MiB", chunkBytes, false, true, write},
	{"sequentialRead1MiB", chunkBytes, false, true, readAt},
	{"randomWrite16KiB", pageBytes, true, true, write},
	{"randomRead16KiB", pageBytes, true, true, readAt},
	{"write4KiBFdatasync", blockBytes, false, false, writeSync},
}

// VolumeBenchmark measures what the volume of a directory can do, with one operation at a time: each pattern for so long. If the
// file system has no direct I/O, or something fails, it is nil. The directory is left as it was.
func VolumeBenchmark(ctx context.Context, dir string, each time.Duration) []result.IOPattern {
	list, err := measureVolume(ctx, dir, each)
	if err != nil {
		fmt.Fprintln(os.Stderr, "measuring the volume:", err)
		return nil
	}
	return list
}

func measureVolume(ctx context.Context, dir string, each time.Duration) (list []result.IOPattern, err error) {
	file, err := scratch(dir)
	if err != nil {
		return nil, fmt.Errorf("making a file in the data directory: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	// Direct I/O needs memory that begins with a page.
	block, err := unix.Mmap(-1, 0, chunkBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("allocating memory: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Munmap(block)) }()
	source := rand.NewChaCha8([32]byte{}) // the same bytes each time, and none that a disk could compress
	_, _ = source.Read(block)
	size, err := layOut(ctx, file, dir, block)
	if err != nil {
		return nil, fmt.Errorf("writing to the data directory: %w", err)
	}
	random := rand.New(source)
	for _, p := range patterns {
		measured, err := p.measure(ctx, file, block[:p.bytes], size, each, random)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		list = append(list, measured)
	}
	return list, nil
}

// layOut writes the file, so that no pattern finds holes, and says how large it has become: a quarter of what is free at most.
func layOut(ctx context.Context, file *os.File, dir string, block []byte) (size int64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	most := min(benchmarkBytes, int64(fs.Bavail)*fs.Bsize/4) //nolint:gosec // no disk has so many blocks
	if err := direct(file, true); err != nil {
		return 0, fmt.Errorf("switching to direct I/O: %w", err)
	}
	for began := time.Now(); size+chunkBytes <= most && time.Since(began) < layoutTime && ctx.Err() == nil; size += chunkBytes {
		if err := write(file, block, size); err != nil {
			return 0, err
		}
	}
	if size == 0 {
		return 0, errors.New("there is no room")
	}
	return size, file.Sync()
}

// measure repeats the pattern's operation.
func (p *pattern) measure(
	ctx context.Context, file *os.File, block []byte, size int64, each time.Duration, random *rand.Rand,
) (result.IOPattern, error) {
	if err := direct(file, p.direct); err != nil {
		return result.IOPattern{}, err
	}
	var took []time.Duration
	places := size / p.bytes
	began := time.Now()
	for i := int64(0); ctx.Err() == nil && (i == 0 || time.Since(began) < each); i++ {
		place := i % places
		if p.random {
			place = random.Int64N(places)
		}
		start := time.Now()
		if err := p.one(file, block, place*p.bytes); err != nil {
			return result.IOPattern{}, err
		}
		took = append(took, time.Since(start))
	}
	return p.summarize(took, time.Since(began))
}

// summarize the operations of a pattern, which took so long together.
func (p *pattern) summarize(took []time.Duration, all time.Duration) (result.IOPattern, error) {
	n := len(took)
	if n == 0 {
		return result.IOPattern{}, context.Canceled
	}
	slices.Sort(took)
	at := func(percent int) int64 { return took[min(n*percent/100, n-1)].Microseconds() }
	perSecond := float64(n) / all.Seconds()
	return result.IOPattern{
		Name: p.name, PerSecond: int64(perSecond + 0.5), BytesPerSecond: int64(perSecond * float64(p.bytes)),
		Median: at(50), P95: at(95), P99: at(99), Max: took[n-1].Microseconds(),
	}, nil
}

func direct(file *os.File, on bool) error {
	flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	flags &^= unix.O_DIRECT
	if on {
		flags |= unix.O_DIRECT
	}
	_, err = unix.FcntlInt(file.Fd(), unix.F_SETFL, flags)
	return err
}

func write(file *os.File, block []byte, at int64) error {
	_, err := file.WriteAt(block, at)
	return err
}

func readAt(file *os.File, block []byte, at int64) error {
	_, err := file.ReadAt(block, at)
	return err
}

// writeSync is what the other direct patterns are not: durable.
func writeSync(file *os.File, block []byte, at int64) error {
	if err := write(file, block, at); err != nil {
		return err
	}
	return unix.Fdatasync(int(file.Fd()))
}
