// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Part is what one of several Pods measured, on its way to the one that leads. Times count from the start that they had in
// common.
type Part struct {
	Facts     result.PodFacts  `json:"facts"`
	Loader    string           `json:"loader"`
	Totals    result.Totals    `json:"totals"`
	StoppedBy result.StoppedBy `json:"stoppedBy"`
	// BeganMicros is when the last transaction of an offered rate began.
	BeganMicros int64 `json:"beganMicros,omitempty"`
	// Latencies have their histograms only.
	Latencies []result.Latency `json:"latencies,omitempty"`
	// Kinds have their numbers only.
	Kinds        []Kind            `json:"kinds,omitempty"`
	SeriesMicros int64             `json:"seriesMicros,omitempty"`
	Series       []result.Interval `json:"series,omitempty"`
	Milestones   []partMilestone   `json:"milestones,omitempty"`
	// Executed is what another program printed, if that made the load.
	Executed []Execution `json:"executed,omitempty"`
}

// Execution is what a Pod executed in a phase.
type Execution struct {
	Phase     workload.ToolPhase  `json:"phase"`
	Execution *workload.Execution `json:"execution"`
}

type partMilestone struct {
	Rows  int64         `json:"rows"`
	Nanos time.Duration `json:"nanos"`
}

// Encode packs a part: a server may not take more than a megabyte at once.
func (p *Part) Encode() ([]byte, error) {
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	if err := cmp.Or(json.NewEncoder(zw).Encode(p), zw.Close()); err != nil {
		return nil, fmt.Errorf("encoding what was measured: %w", err)
	}
	return buf.Bytes(), nil
}

// Decode reads what another Pod measured, which must have the same version of the loader.
func Decode(data []byte, loader string) (*Part, error) {
	const most = 64 << 20 // of what one Pod tells the leading one, unpacked
	var plain []byte
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		plain, err = io.ReadAll(io.LimitReader(zr, most+1)) // to the end, where its checksum is
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking what a Pod measured: %w", err)
	}
	var p Part
	if err := json.Unmarshal(plain, &p); err != nil {
		return nil, fmt.Errorf("reading what a Pod measured: %w", err)
	}
	if p.Loader != loader {
		return nil, fmt.Errorf("pod %d has version %s of the loader, this one has %s", p.Facts.Pod, p.Loader, loader)
	}
	return &p, nil
}

// Part is what the clients of this Pod measured, with their milestones, which may be nil.
func (r *Recorder) Part(m *Milestones) (*Part, error) {
	latencies, err := r.Latencies()
	if err != nil {
		return nil, fmt.Errorf("encoding the latencies: %w", err)
	}
	p := &Part{
		BeganMicros: r.began.Microseconds(),
		Totals:      r.totals, Latencies: latencies, SeriesMicros: r.series.length.Microseconds(), Series: r.series.intervals,
	}
	p.Totals.Micros, p.Kinds = r.ended.Microseconds(), r.kinds
	if m != nil {
		for _, point := range m.points {
			p.Milestones = append(p.Milestones, partMilestone{Rows: point.rows, Nanos: point.at})
		}
	}
	return p, nil
}

// Recorder is as if the part had been measured here.
func (p *Part) Recorder() (*Recorder, error) {
	r := &Recorder{
		totals: p.Totals, ended: time.Duration(p.Totals.Micros) * time.Microsecond,
		began:  time.Duration(p.BeganMicros) * time.Microsecond,
		series: series{length: time.Duration(p.SeriesMicros) * time.Microsecond, intervals: p.Series}, kinds: p.Kinds,
	}
	for i := range r.kinds {
		r.kinds[i].histogram = workload.NewHistogram()
	}
	r.series.end = time.Duration(len(p.Series)) * r.series.length
	for _, l := range p.Latencies {
		h, err := hdrhistogram.Decode([]byte(l.Histogram))
		if err != nil {
			return nil, fmt.Errorf("reading the latencies that Pod %d measured: %w", p.Facts.Pod, err)
		}
		if i := slices.IndexFunc(r.kinds, func(k Kind) bool { return k.Name == l.Operation }); i >= 0 {
			r.kinds[i].histogram = h
			continue
		}
		op := slices.Index(operations[:], l.Operation)
		if op < 0 {
			return nil, fmt.Errorf("pod %d measured the latency of %q, which is not known", p.Facts.Pod, l.Operation)
		}
		r.histograms[op] = h
	}
	return r, nil
}

// maxIntervals bounds the series: when it is full, neighbours are added up and intervals are twice as long from then on.
const maxIntervals = 3600

// series are equally long intervals from the beginning of the measured phase, each without its beginning and with its end.
type series struct {
	length    time.Duration
	intervals []result.Interval
	// end of the last interval.
	end time.Duration
}

func newSeries() series {
	// Room for five minutes: growing would cost time while measuring.
	return series{length: time.Second, intervals: make([]result.Interval, 0, 300)}
}

// at is the interval of a time that is no earlier than that of the call before.
func (s *series) at(t time.Duration) *result.Interval {
	if t > s.end || len(s.intervals) == 0 {
		s.extend(t)
	}
	return &s.intervals[len(s.intervals)-1]
}

// extend makes the intervals up to a time, and one at least. Those in which nothing happened are what a stall looks like.
func (s *series) extend(t time.Duration) {
	for t > s.end || len(s.intervals) == 0 {
		if len(s.intervals) == maxIntervals {
			s.double()
		}
		s.end += s.length
		s.intervals = append(s.intervals, result.Interval{EndMicros: s.end.Microseconds()})
	}
}

func (s *series) double() {
	s.length *= 2
	merged := s.intervals[:0]
	for pair := range slices.Chunk(s.intervals, 2) {
		sum := pair[0]
		sum.EndMicros = int64(len(merged)+1) * s.length.Microseconds()
		for _, other := range pair[1:] {
			add(&sum, other)
		}
		merged = append(merged, sum)
	}
	s.intervals = merged
	s.end = time.Duration(len(merged)) * s.length
}

func add(to *result.Interval, other result.Interval) {
	to.Rows += other.Rows
	to.Transactions += other.Transactions
	to.RowsDeleted += other.RowsDeleted
	to.Queries += other.Queries
	to.Bytes += other.Bytes
	to.Errors += other.Errors
	to.MaxMicros = max(to.MaxMicros, other.MaxMicros)
}

// merge adds a series that began at the same time. The other one is used up.
func (s *series) merge(other *series) {
	for s.length < other.length {
		s.double()
	}
	for other.length < s.length {
		other.double()
	}
	for i, interval := range other.intervals {
		if i == len(s.intervals) {
			s.intervals = append(s.intervals, interval)
			s.end += s.length
			continue
		}
		add(&s.intervals[i], interval)
	}
}

// cut returns the intervals of a measured phase that ended at the given time: the last one ends then.
func (s *series) cut(ended time.Duration) []result.Interval {
	if n := len(s.intervals); n > 0 {
		s.intervals[n-1].EndMicros = min(s.intervals[n-1].EndMicros, ended.Microseconds())
	}
	return s.intervals
}
