// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Buckets have no gap, each value is in one whose middle is nearly the value, and the largest latency is in the last.
func TestBuckets(t *testing.T) {
	last := bucketOf(1) - 1
	for v := int64(1); v <= maxLatencyMicros; v += 1 + v/1000 {
		b := bucketOf(v)
		if b != last && b != last+1 {
			t.Fatalf("%d µs is in bucket %d, the value before it in %d", v, b, last)
		}
		if off := float64(middleOf(b)-v) / float64(v); off < -0.016 || off > 0.016 {
			t.Fatalf("%d µs is in bucket %d, whose middle is %d", v, b, middleOf(b))
		}
		last = b
	}
	if last = bucketOf(maxLatencyMicros); last >= buckets || last < buckets-bucketsPerOctave {
		t.Errorf("the longest latency is in bucket %d of %d", last, buckets)
	}
}

// Percentiles are those of all clients together, not of the one that had most or an average of them.
func TestLatenciesOverTime(t *testing.T) {
	all, _ := NewRecorders(3, nil, time.Now())
	elsewhere := newRecorder(NewClock(time.Time{}))
	random := rand.New(rand.NewPCG(1, 2))
	values := map[int64][]int64{}
	for second := range int64(5) {
		for i, r := range append(slices.Clone(all), elsewhere) {
			if second == 2 {
				continue // a stall
			}
			for range 200 + 100*i {
				v := 100 + random.Int64N(1000)*int64(i+1)*(second+1)
				ended := time.Duration(second)*time.Second + 500*time.Millisecond
				r.Insert(ended-time.Duration(v)*time.Microsecond, ended, 1)
				values[second] = append(values[second], v)
			}
			r.Wait(0, time.Duration(second)*time.Second+600*time.Millisecond) // is of no interest
		}
	}
	for _, other := range all[1:] {
		all[0].Merge(other)
	}
	p := must.Get(elsewhere.Part(nil))(t)
	arrived := must.Get(p.Recorder())(t)
	all[0].Merge(arrived)
	got := all[0].OverTime()
	var want []result.IntervalLatency
	for _, second := range []int64{0, 1, 3, 4} {
		v := values[second]
		slices.Sort(v)
		want = append(want, result.IntervalLatency{
			EndMicros: min((second+1)*1_000_000, 4_600_000), Operation: "insert", Count: int64(len(v)),
			P50Micros: v[len(v)/2], P95Micros: v[len(v)*95/100], P99Micros: v[len(v)*99/100], MaxMicros: v[len(v)-1],
		})
	}
	nearly := cmp.Comparer(func(a, b int64) bool { return max(a, b)-min(a, b) <= max(a, b)/40 })
	must.Same(t, "", want, got, nearly)
	for i := range got {
		if got[i].Count != want[i].Count || got[i].MaxMicros != want[i].MaxMicros || got[i].EndMicros != want[i].EndMicros {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

// However long a run takes, the latencies over time are bounded, in memory and in the document, and lose nothing but resolution.
func TestLatenciesOverTimeAreBounded(t *testing.T) {
	const hours = 11
	long := newRecorder(NewClock(time.Time{}))
	for second := range hours * 3600 {
		ended := time.Duration(second+1) * time.Second
		for range 3 {
			long.Insert(ended-time.Millisecond, ended, 1)
			long.Commit(ended-time.Millisecond, ended)
			long.Query(ended-time.Millisecond, ended)
			long.Delete(ended-time.Millisecond, ended, 1)
			long.Transaction(ended-3*time.Second, ended-time.Second, ended)
		}
	}
	short := newRecorder(NewClock(time.Time{}))
	short.Insert(0, time.Second, 1)
	short.Merge(long)
	if n := len(short.latencies.all.intervals); n > maxDistributions {
		t.Errorf("%d intervals", n)
	}
	got, count, end := short.OverTime(), int64(0), int64(0)
	for _, l := range got {
		count += l.Count
		if l.EndMicros < end {
			t.Fatalf("%+v ends before %d", l, end)
		}
		end = l.EndMicros
	}
	if count != 5*3*hours*3600+1 || end != (hours*time.Hour).Microseconds() {
		t.Errorf("%d latencies until %d", count, end)
	}
	encoded, err := json.Marshal(got)
	if err != nil || len(encoded) > 512<<10 {
		t.Errorf("%d bytes, %v", len(encoded), err)
	}
}

// What another Pod says is checked: a loader that ends in a panic says nothing of what was wrong.
func TestPackedLatencies(t *testing.T) {
	for _, bad := range []partDistribution{
		{0, insert, packed{}},
		{0, insert, packed{5, 1}},
		{0, insert, packed{5, -1, 1}},
		{0, insert, packed{5, buckets, 1}},
		{0, insert, packed{5, 5, 0}},
		{-1, insert, packed{5, 5, 1}},
		{maxDistributions, insert, packed{5, 5, 1}},
		{0, -1, packed{5, 5, 1}},
		{0, operation(len(operations)), packed{5, 5, 1}},
	} {
		if _, err := unpack(time.Second, []partDistribution{bad}); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
