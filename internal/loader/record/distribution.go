// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
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

// maxDistributions bounds how many intervals have distributions. It is smaller than the series' maxIntervals: each of these takes
// as much room as a hundred of those.
const maxDistributions = 600

// overTime are the distributions of latencies over time, of all clients of a Pod: percentiles of several clients cannot be put
// together, only their counts can. A client counts by itself, and adds its counts once an interval.
type overTime struct {
	mu     sync.Mutex
	length time.Duration
	// intervals from the beginning of the measured phase on. A distribution is nil if there was no such operation.
	intervals []*[len(operations)]*distribution
}

func newOverTime() *overTime { return &overTime{length: firstIntervalLength} }

// shown are the operations whose latencies over time are of interest: what the server does, not what a client waits for.
var shown = [len(operations)]bool{commit: true, insert: true, remove: true, query: true, load: true, transaction: true}

// add counts that ended in an interval of a client's, which ends at the given time and is no longer than one of these.
func (o *overTime) add(end time.Duration, op operation, counts *distribution) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := int((end - 1) / o.length)
	for i >= maxDistributions {
		o.double()
		i = int((end - 1) / o.length)
	}
	for len(o.intervals) <= i {
		o.intervals = append(o.intervals, &[len(operations)]*distribution{})
	}
	o.at(i, op).add(counts)
}

func (o *overTime) at(i int, op operation) *distribution {
	if o.intervals[i][op] == nil {
		o.intervals[i][op] = newDistribution()
	}
	return o.intervals[i][op]
}

func (o *overTime) double() {
	o.length *= 2
	for i := range o.intervals {
		if i%2 == 0 {
			o.intervals[i/2] = o.intervals[i]
			continue
		}
		for op, d := range o.intervals[i] {
			if d != nil {
				o.at(i/2, operation(op)).add(d)
			}
		}
	}
	o.intervals = o.intervals[:(len(o.intervals)+1)/2]
}

// merge adds what began at the same time. The other one is used up.
func (o *overTime) merge(other *overTime) {
	for o.length < other.length {
		o.double()
	}
	for other.length < o.length {
		other.double()
	}
	for i, interval := range other.intervals {
		for op, d := range interval {
			if d != nil {
				o.add(time.Duration(i+1)*o.length, operation(op), d)
			}
		}
	}
}

// results are the percentiles of a measured phase that ended at the given time.
func (o *overTime) results(ended time.Duration) []result.IntervalLatency {
	var all []result.IntervalLatency
	for i, interval := range o.intervals {
		end := min(time.Duration(i+1)*o.length, ended)
		for op, d := range interval {
			if d == nil {
				continue
			}
			p := d.percentiles(50, 95, 99)
			all = append(all, result.IntervalLatency{
				EndMicros: end.Microseconds(), Operation: operations[op], Count: d.total(),
				P50Micros: p[0], P95Micros: p[1], P99Micros: p[2], MaxMicros: d.maxMicros,
			})
		}
	}
	return all
}

type partDistribution struct {
	Interval  int       `json:"i"`
	Operation operation `json:"op"`
	Counts    packed    `json:"n"`
}

func (o *overTime) pack() []partDistribution {
	var all []partDistribution
	for i, interval := range o.intervals {
		for op, d := range interval {
			if d != nil {
				all = append(all, partDistribution{i, operation(op), d.pack()})
			}
		}
	}
	return all
}

// unpack is what was packed with intervals of this length.
func unpack(length time.Duration, list []partDistribution) (*overTime, error) {
	o := newOverTime()
	o.length = max(length, firstIntervalLength)
	for _, p := range list {
		d, ok := p.Counts.distribution()
		if !ok || p.Interval < 0 || p.Interval >= maxDistributions || p.Operation < 0 || int(p.Operation) >= len(operations) {
			return nil, fmt.Errorf("the latencies of interval %d are not valid", p.Interval)
		}
		o.add(time.Duration(p.Interval+1)*o.length, p.Operation, d)
	}
	return o, nil
}

// counting is a client's part of overTime: what it counts in its own interval.
type counting struct {
	all    *overTime
	counts [len(operations)]*distribution
	end    time.Duration
}

// count a latency that ended at the given time, which is no earlier than that of the call before.
func (c *counting) count(op operation, ended time.Duration, micros int64) {
	if !shown[op] {
		return
	}
	if ended > c.end {
		c.flush()
		c.end = (ended + firstIntervalLength - 1).Truncate(firstIntervalLength)
	}
	d := c.counts[op]
	if d == nil {
		d = newDistribution()
		c.counts[op] = d
	}
	d.count(micros)
}

func (c *counting) flush() {
	for op, d := range c.counts {
		if d != nil && d.low <= d.high {
			c.all.add(c.end, operation(op), d)
			d.reset()
		}
	}
}
