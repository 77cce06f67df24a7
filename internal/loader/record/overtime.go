// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

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

// double makes intervals twice as long.
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

// partDistribution is a distribution on its way to the leading Pod.
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
	all *overTime
	// counts until end.
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

// flush adds what was counted to that of all clients.
func (c *counting) flush() {
	for op, d := range c.counts {
		if d != nil && d.low <= d.high {
			c.all.add(c.end, operation(op), d)
			d.reset()
		}
	}
}
