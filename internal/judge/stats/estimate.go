// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/gonum/stat"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// minForCorrelation is the number of values from which on a correlation of neighbours can be estimated at all.
	minForCorrelation = 6
	// maxCorrelation that is reckoned with: beyond, the error of the mean could not be told from so few values.
	maxCorrelation = 0.8
)

type estimate struct{ mean, err float64 }

// estimateOf at least two values in the order in which they were measured. If neighbours are alike, the values say less about the
// mean than their number suggests, and the error is larger by that.
func estimateOf(values []float64) estimate {
	n, mean := float64(len(values)), stat.Mean(values, nil)
	squares, products := 0.0, 0.0
	for i, v := range values {
		squares += (v - mean) * (v - mean)
		if i > 0 {
			products += (v - mean) * (values[i-1] - mean)
		}
	}
	if squares == 0 {
		return estimate{mean: mean}
	}
	variance := squares / (n - 1) / n
	if len(values) >= minForCorrelation {
		// The estimate from deviations from the sample's own mean is too low by 1/n.
		variance *= inflation(len(values), products/squares+1/n)
	}
	return estimate{mean: mean, err: math.Sqrt(variance)}
}

// inflation is by how much the variance of the mean of n values is larger if neighbours have this correlation, those two apart
// its square and so on. Negative correlations are not made use of.
func inflation(n int, correlation float64) float64 {
	correlation = min(max(correlation, 0), maxCorrelation)
	factor, power := 1.0, 1.0
	for lag := 1; lag < n; lag++ {
		power *= correlation
		factor += 2 * (1 - float64(lag)/float64(n)) * power
	}
	return factor
}

// estimateOfPairs is that of the logarithms of the ratios of values above 0. Values that are rounded alike are off by the same,
// which no number of rounds takes away: the error of rounding is that of one round.
func estimateOfPairs(baseline, variant []float64) estimate {
	ratios, _ := logRatios(baseline, variant)
	e := estimateOf(ratios)
	step := resolution(baseline, variant)
	for _, values := range [][]float64{baseline, variant} {
		relative := step / stat.Mean(values, nil)
		e.err = math.Hypot(e.err, relative/math.Sqrt(12)) // the standard deviation of an even distribution over a step
	}
	return e
}

// finest is the smallest step of rounded values that is looked for.
const finest = 1e-9

// resolution is the step of values that were rounded: the place of the last decimal digit that any of them has, 1 at most. What
// was measured as an ordinary number has none: 0.
func resolution(samples ...[]float64) float64 {
	for step := 1.0; step > finest; step /= 10 {
		if !slices.ContainsFunc(samples, func(values []float64) bool {
			return slices.ContainsFunc(values, func(v float64) bool { return math.Abs(v/step-math.Round(v/step)) > 1e-6 })
		}) {
			return step
		}
	}
	return 0
}

// logRatios of variant to baseline, round by round; false if a value has no logarithm.
func logRatios(baseline, variant []float64) ([]float64, bool) {
	n := min(len(baseline), len(variant))
	ratios := make([]float64, n)
	for i := range n {
		ratios[i] = math.Log(variant[i] / baseline[i])
		if !(baseline[i] > 0 && variant[i] > 0) || math.IsInf(ratios[i], 0) {
			return ratios, false
		}
	}
	return ratios, true
}

// MeanOfTrials is the geometric mean of the values of at least one trial: the ratio of two means is then the mean of the ratios
// of trials that were measured next to each other. Values without a logarithm have the arithmetic mean.
func MeanOfTrials(values []float64) float64 {
	switch {
	case len(values) == 1:
		return values[0] // not rounded
	case slices.Min(values) <= 0:
		return stat.Mean(values, nil)
	}
	return stat.GeometricMean(values, nil)
}

// maxHistogramDigits bounds the significant digits of a histogram, and with them its size in memory, which does not depend on how
// long its text is: 0.5 MB with 3 digits, as the loader writes them, and more than 50 MB with 5.
const maxHistogramDigits = 3

// DecodeHistogram reads a histogram in the HdrHistogram V2 encoding, base64, that a third party may have written.
func DecodeHistogram(text string) (*hdrhistogram.Histogram, error) {
	const (
		outerHeader = 8 // a cookie, and the length of what follows, which is compressed
		toDigits    = 12
	)
	encoded := base64.NewDecoder(base64.StdEncoding, strings.NewReader(text))
	if _, err := io.CopyN(io.Discard, encoded, outerHeader); err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	header, err := zlib.NewReader(encoded)
	if err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	var start [toDigits + 4]byte
	if _, err := io.ReadFull(header, start[:]); err != nil {
		return nil, fmt.Errorf("reading a histogram: %w", err)
	}
	if binary.BigEndian.Uint32(start[toDigits:]) > maxHistogramDigits {
		return nil, errors.New("the histogram has too many significant digits")
	}
	return hdrhistogram.Decode([]byte(text))
}

// MergeHistograms is one histogram of all that can be read; nil if none can. It says whether all could be read whole.
func MergeHistograms(encoded []string) (all *hdrhistogram.Histogram, whole bool) {
	whole = true
	for _, text := range encoded {
		h, err := DecodeHistogram(text)
		switch {
		case err != nil:
			whole = false
		case all == nil:
			all = h
		default:
			whole = all.Merge(h) == 0 && whole
		}
	}
	return all, whole
}

// Latency of an operation at a point.
type Latency struct {
	P50Micros, P99Micros float64
	// Merged says that the percentiles are those of all trials' operations together. Otherwise a trial has no histogram, and they
	// are the medians of what each trial took from its own.
	Merged bool
}

// LatencyOf an operation in the trials of a point; false if none has one.
func LatencyOf(records []*result.Record, operation string) (Latency, bool) {
	var p50, p99 []float64
	var histograms []string
	for _, r := range records {
		i := slices.IndexFunc(r.Summary.Latencies, func(l result.Latency) bool { return l.Operation == operation && l.Count > 0 })
		if i < 0 {
			continue
		}
		l := &r.Summary.Latencies[i]
		p50, p99 = append(p50, float64(l.P50Micros)), append(p99, float64(l.P99Micros))
		histograms = append(histograms, l.Histogram)
	}
	all, merged := MergeHistograms(histograms)
	switch {
	case len(p50) == 0:
		return Latency{}, false
	case !merged:
		return Latency{P50Micros: Summarize(p50).Median, P99Micros: Summarize(p99).Median}, true
	}
	return Latency{P50Micros: float64(all.ValueAtQuantile(50)), P99Micros: float64(all.ValueAtQuantile(99)), Merged: true}, true
}
