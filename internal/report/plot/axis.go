// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// Numbers are the values of texts; false if one is no number.
func Numbers(texts []string) ([]float64, bool) {
	var list []float64
	for _, t := range texts {
		v, err := strconv.ParseFloat(t, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, false
		}
		list = append(list, v)
	}
	return list, len(list) > 0
}

// wideSpan is how many times the smallest value the largest is, from which on an axis is logarithmic.
const wideSpan = 30

// logarithmic says whether values are best shown at logarithmic distances: three or more powers of two, or a wide span.
func logarithmic(values []float64) bool {
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	if len(distinct) < 3 || distinct[0] <= 0 {
		return false
	}
	powers := !slices.ContainsFunc(distinct, func(v float64) bool { return math.Exp2(math.Round(math.Log2(v))) != v })
	return powers || distinct[len(distinct)-1] >= wideSpan*distinct[0]
}

// sweepAxis places the values of a swept parameter, and says where each is.
func sweepAxis(axis *plot.Axis, texts []string) map[string]float64 {
	at := map[string]float64{}
	values, numeric := Numbers(texts)
	if !numeric {
		var ticks []plot.Tick
		for _, t := range texts {
			if _, known := at[t]; !known {
				at[t] = float64(len(at))
				ticks = append(ticks, plot.Tick{Value: at[t], Label: t})
			}
		}
		axis.Min, axis.Max = -0.5, float64(len(at))-0.5
		axis.Tick.Marker = spaced{ticks: ticks, room: horizontalRoom}
		return at
	}
	written := map[float64]string{}
	for i, t := range texts {
		at[t] = values[i]
		written[values[i]] = t
	}
	axis.Min, axis.Max = slices.Min(values), slices.Max(values)
	var ticks []plot.Tick
	for _, v := range slices.Sorted(maps.Keys(written)) {
		ticks = append(ticks, plot.Tick{Value: v, Label: written[v]})
	}
	log := logarithmic(values)
	axis.Tick.Marker = spaced{ticks: ticks, room: horizontalRoom, log: log}
	if log {
		axis.Scale = plot.LogScale{}
	}
	if axis.Min == axis.Max {
		axis.Min, axis.Max = axis.Min-1, axis.Max+1
	}
	return at
}

// horizontalRoom is about how many characters fit along a horizontal axis.
const horizontalRoom = 54

// maxTicks is how many ticks there may be without a label each.
const maxTicks = 30

// spaced are ticks of which only those have a label that there is room for; the last one always.
type spaced struct {
	ticks []plot.Tick
	room  float64
	log   bool
}

func (s spaced) Ticks(low, high float64) []plot.Tick {
	place := func(v float64) float64 { return s.room * (v - low) / (high - low) }
	if s.log {
		place = func(v float64) float64 { return s.room * math.Log(v/low) / math.Log(high/low) }
	}
	list := slices.Clone(s.ticks)
	next := math.Inf(1)
	for i := len(list) - 1; i >= 0; i-- {
		half := float64(len([]rune(list[i].Label)))/2 + 0.5
		if x := place(list[i].Value); x+half <= next {
			next = x - half
		} else {
			list[i].Label = ""
		}
	}
	if len(list) > maxTicks {
		list = slices.DeleteFunc(list, func(t plot.Tick) bool { return t.Label == "" })
	}
	return list
}

// valueAxis has the measured values: from zero or, if they span more than two orders of magnitude, logarithmic.
func valueAxis(axis *plot.Axis, values []float64) {
	const orders = 100
	low, high := slices.Min(values), slices.Max(values)
	if low > 0 && high >= orders*low {
		axis.Scale = plot.LogScale{}
		axis.Min, axis.Max = low/1.2, high*1.2
		axis.Tick.Marker = plot.TickerFunc(decades)
		return
	}
	axis.Min, axis.Max = min(low, 0), high*1.04
	if high <= 0 {
		axis.Max = 1
	}
	axis.Tick.Marker = plot.TickerFunc(steps)
}

// fittedAxis shows small differences: it need not begin at zero.
func fittedAxis(axis *plot.Axis, values []float64) {
	low, high := slices.Min(values), slices.Max(values)
	room := max((high-low)/6, math.Abs(high)/200, math.SmallestNonzeroFloat32)
	axis.Min, axis.Max = low-room, high+room
	axis.Tick.Marker = plot.TickerFunc(steps)
}

// steps are ticks at about six round numbers.
func steps(low, high float64) []plot.Tick {
	const about = 6
	rough := (high - low) / about
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	step := 10 * unit
	for _, n := range []float64{1, 2, 2.5, 5} {
		if n*unit >= rough {
			step = n * unit
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: stats.Number(i * step)})
	}
	return ticks
}

// decades are ticks at powers of ten; where there are few, at twice and five times them, too.
func decades(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	between := []float64{1, 2, 5}
	if last-first > 3 {
		between = between[:1]
	}
	for p := first; p <= last; p++ {
		for _, n := range between {
			if v := n * math.Pow(10, p); v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: stats.Number(v)})
			}
		}
	}
	return ticks
}
