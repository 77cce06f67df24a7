// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import "math/bits"

// Buckets of a distribution: those of 1 µs up to twice bucketsPerOctave, and from then on that many for each doubling, which
// makes them at most 3.2% wide.
const (
	octaveBits       = 5
	bucketsPerOctave = 1 << octaveBits
	// workload.MaxLatencyMicros has 32 bits.
	buckets = (32 - octaveBits + 1) * bucketsPerOctave
)

type distribution struct {
	counts [buckets]uint32
	// Buckets outside of low to high are empty. Without a latency, low is above high.
	low, high int
	maxMicros int64
}

func newDistribution() *distribution { return &distribution{low: buckets, high: -1} }

func bucketOf(micros int64) int {
	//nolint:gosec // it is above 0
	shift := max(bits.Len64(uint64(micros))-octaveBits-1, 0)
	return shift*bucketsPerOctave + int(micros>>shift)
}

func middleOf(bucket int) int64 {
	if bucket < 2*bucketsPerOctave {
		return int64(bucket)
	}
	shift := bucket/bucketsPerOctave - 1
	return int64(bucket-shift*bucketsPerOctave)<<shift + 1<<shift/2
}

func (d *distribution) count(micros int64) {
	b := bucketOf(micros)
	d.counts[b]++
	d.low, d.high, d.maxMicros = min(d.low, b), max(d.high, b), max(d.maxMicros, micros)
}

func (d *distribution) add(other *distribution) {
	for b := other.low; b <= other.high; b++ {
		d.counts[b] += other.counts[b]
	}
	d.low, d.high, d.maxMicros = min(d.low, other.low), max(d.high, other.high), max(d.maxMicros, other.maxMicros)
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

// percentile is the latency in microseconds that so many percent did not exceed. There must be a latency.
func (d *distribution) percentile(percent int64) int64 {
	total, sum := d.total(), int64(0)
	for b := d.low; b <= d.high; b++ {
		if sum += int64(d.counts[b]); 100*sum >= percent*total {
			return min(middleOf(b), d.maxMicros)
		}
	}
	return d.maxMicros
}
