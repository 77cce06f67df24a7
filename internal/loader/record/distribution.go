// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"math/bits"
	"slices"
)

// Buckets of a distribution: those of 1 µs up to twice bucketsPerOctave, and from then on that many for each doubling, which
// makes them at most 3.2% wide. That is enough for a curve over time, and small enough for each second and operation to have its
// own.
const (
	octaveBits       = 5
	bucketsPerOctave = 1 << octaveBits
	// maxLatencyMicros has 32 bits.
	buckets = (32 - octaveBits + 1) * bucketsPerOctave
)

// distribution of the latencies of an operation in an interval.
type distribution struct {
	counts [buckets]uint32
	// Buckets outside of low to high are empty. Without a latency, low is above high.
	low, high int
	maxMicros int64
}

func newDistribution() *distribution { return &distribution{low: buckets, high: -1} }

// bucketOf a latency of 1 µs to maxLatencyMicros.
func bucketOf(micros int64) int {
	//nolint:gosec // it is above 0
	shift := max(bits.Len64(uint64(micros))-octaveBits-1, 0)
	return shift*bucketsPerOctave + int(micros>>shift)
}

// middleOf a bucket, in microseconds.
func middleOf(bucket int) int64 {
	if bucket < 2*bucketsPerOctave {
		return int64(bucket)
	}
	shift := bucket/bucketsPerOctave - 1
	return int64(bucket-shift*bucketsPerOctave)<<shift + 1<<shift/2
}

// count a latency within the bounds of latencies.
func (d *distribution) count(micros int64) {
	b := bucketOf(micros)
	d.counts[b]++
	d.low, d.high, d.maxMicros = min(d.low, b), max(d.high, b), max(d.maxMicros, micros)
}

// add what is in another one.
func (d *distribution) add(other *distribution) {
	for b := other.low; b <= other.high; b++ {
		d.counts[b] += other.counts[b]
	}
	d.low, d.high, d.maxMicros = min(d.low, other.low), max(d.high, other.high), max(d.maxMicros, other.maxMicros)
}

// reset empties it.
func (d *distribution) reset() {
	if d.low <= d.high {
		clear(d.counts[d.low : d.high+1])
	}
	d.low, d.high, d.maxMicros = buckets, -1, 0
}

// halve makes all counts half of what they were, so that what comes counts more.
func (d *distribution) halve() {
	for b := d.low; b <= d.high; b++ {
		d.counts[b] /= 2
	}
}

func (d *distribution) total() int64 {
	sum := int64(0)
	for b := d.low; b <= d.high; b++ {
		sum += int64(d.counts[b])
	}
	return sum
}

// percentiles are latencies in microseconds that so many percent did not exceed, which must ascend. There must be a latency.
func (d *distribution) percentiles(percent ...int64) []int64 {
	all := make([]int64, 0, len(percent))
	total, sum := d.total(), int64(0)
	for b := d.low; b <= d.high; b++ {
		sum += int64(d.counts[b])
		for len(all) < len(percent) && 100*sum >= percent[len(all)]*total {
			all = append(all, min(middleOf(b), d.maxMicros))
		}
	}
	return all
}

// packed is a distribution on its way to another Pod: the maximum, and then each bucket that is not empty with its count.
type packed []int64

func (d *distribution) pack() packed {
	p := packed{d.maxMicros}
	for b := d.low; b <= d.high; b++ {
		if n := d.counts[b]; n > 0 {
			p = append(p, int64(b), int64(n))
		}
	}
	return p
}

// distribution that was packed; false if it was not.
func (p packed) distribution() (*distribution, bool) {
	if len(p)%2 == 0 {
		return nil, false
	}
	d := newDistribution()
	d.maxMicros = p[0]
	for pair := range slices.Chunk(p[1:], 2) {
		b, n := pair[0], pair[1]
		if b < 0 || b >= buckets || n < 1 || n > 1<<32-1 {
			return nil, false
		}
		d.counts[b] = uint32(n)
		d.low, d.high = min(d.low, int(b)), max(d.high, int(b))
	}
	return d, true
}
