// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

const (
	rateParameter = "ratePerSecond"
	// rateStep is the ratio of a rate that a search may offer to the one below it, at most.
	rateStep = 1.05
)

// capacityPoints are the rates that a search for a capacity may offer, ascending: from the lowest of a sweep to the highest.
func capacityPoints(swept []Point) ([]Point, error) {
	var rates []float64
	for _, p := range swept {
		if rate, err := strconv.ParseFloat(p.Parameters[rateParameter], 64); err == nil && rate > 0 && len(p.Parameters) == 1 {
			rates = append(rates, rate)
		}
	}
	if len(rates) < len(swept) || len(rates) == 0 || slices.Min(rates) == slices.Max(rates) {
		return nil, errors.New("capacity is looked for between two rates: " +
			"sweep ratePerSecond alone, from a rate above 0 to a higher one")
	}
	low, high := slices.Min(rates), slices.Max(rates)
	steps := math.Ceil(math.Log(high/low) / math.Log(rateStep))
	var points []Point
	for i := 0.0; i <= steps; i++ {
		rate := math.Round(low * math.Pow(high/low, i/steps))
		points = append(points, Point{}.with(value{path{rateParameter}, json.RawMessage(strconv.FormatFloat(rate, 'f', -1, 64))}))
	}
	return distinct(points), nil
}

// capacityMetric is what a capacity bounds: what it says or, if it does not, the headline that rates have.
func capacityMetric(spec *v1alpha1.BenchmarkRunSpec, headline string) (string, error) {
	switch asked := spec.Capacity.Metric; {
	case asked != "" && spec.Metric != "" && asked != spec.Metric:
		return "", fmt.Errorf("metric is %s and capacity.metric %s: set one of them, or both to the same", spec.Metric, asked)
	case asked == "" && headline == "":
		return "", errors.New("set capacity.metric: what the highest rate keeps at capacity.atMost or below")
	default:
		return cmp.Or(asked, headline), nil
	}
}

// Search is where the search of a round stands among ascending rates, by their indexes: High is the lowest one that is too high,
// or their number, Low the highest one below it that is not, or -1. Next is the rate to offer next; -1 if Low and High are
// neighbors, and the search has ended.
type Search struct{ Next, Low, High int }

// SearchOf so many rates halves what is left of them with each one that it offers. What it has found so far, measured says of a
// rate: whether it is too high, if it was offered. No search begins with what another has found, so that rounds are independent.
func SearchOf(rates int, measured func(rate int) (tooHigh, known bool)) Search {
	s := Search{Next: -1, Low: -1, High: rates}
	for s.High-s.Low > 1 {
		middle := (s.Low + s.High) / 2
		switch tooHigh, known := measured(middle); {
		case !known:
			s.Next = middle
			return s
		case tooHigh:
			s.High = middle
		default:
			s.Low = middle
		}
	}
	return s
}
