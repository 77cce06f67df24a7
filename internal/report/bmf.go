// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Bounds of the Bencher Metric Format, in characters.
const (
	maxBenchmarkName = 1024
	maxMeasureName   = 64
)

// measure is a value in the Bencher Metric Format, with the interval that it has.
type measure struct {
	Value float64  `json:"value"`
	Lower *float64 `json:"lower_value,omitempty"`
	Upper *float64 `json:"upper_value,omitempty"`
}

// measures by the name of the benchmark and that of the measure.
type measures map[string]map[string]measure

// BMF writes the Bencher Metric Format: a benchmark for each point, and a measure for each metric and for the 50th and
// 99th percentiles of the latencies in microseconds. Values are medians; a metric of two trials or more has its interval.
// Benchmarks are named by the workload and the parameters, and not by the run, so that their history goes on in the next
// run.
func BMF(w io.Writer, r *Report) error {
	all := measures{}
	_, operations := r.Columns()
	for _, p := range r.Measured() {
		name := benchmark(r.Run.Workload, "", p.Parameters)
		for _, m := range metricsAt(&p) {
			summary := stats.Summarize(analysis.ValuesOf(p.Records, m.Name))
			if m.Name == p.Metric.Name {
				summary = p.Summary
			}
			all.add(name, m.Name, summary)
		}
		for _, op := range operations {
			if l, found := stats.LatencyOf(p.Records, op); found {
				all.add(name, op+"P50Micros", stats.Summary{N: 1, Median: l.P50Micros})
				all.add(name, op+"P99Micros", stats.Summary{N: 1, Median: l.P99Micros})
			}
		}
	}
	return all.write(w)
}

// ComparisonBMF writes the Bencher Metric Format: a benchmark for each variant at each point.
func ComparisonBMF(w io.Writer, s *Comparison) error {
	type key struct{ benchmark, metric string }
	values := map[key][]float64{}
	for _, run := range s.Runs {
		for _, v := range run.Values {
			k := key{benchmark(s.Workload, run.Variant, v.Parameters), run.Metric}
			values[k] = append(values[k], v.Value)
		}
	}
	all := measures{}
	for k, list := range values {
		all.add(k.benchmark, k.metric, stats.Summarize(list))
	}
	return all.write(w)
}

// add the summary of a metric, unless it is no number.
func (all measures) add(name, metric string, s stats.Summary) {
	if s.N == 0 || finite(s.Median) != s.Median {
		return
	}
	name, metric = shortened(name, maxBenchmarkName), shortened(metric, maxMeasureName)
	if all[name] == nil {
		all[name] = map[string]measure{}
	}
	m := measure{Value: s.Median}
	if s.N > 1 {
		m.Lower, m.Upper = &s.Low, &s.High
	}
	all[name][metric] = m
}

func (all measures) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(all)
}

// shortened is a name of at most so many characters. One that is too long ends with a digest of all of it.
func shortened(name string, characters int) string {
	if utf8.RuneCountInString(name) <= characters {
		return name
	}
	digest := "-" + result.Digest([]byte(name))[:8]
	return string([]rune(name)[:characters-len(digest)]) + digest
}
