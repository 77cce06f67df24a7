// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stats turns the values of repeated trials into a summary that claims no more than they show.
//
// Nothing is assumed about their distribution: the centre is the median, and the interval is the median's by order
// statistics. Fewer than six values have no 95% interval of the median; they are summarised by their smallest and largest
// value, and said to be so. Warnings travel with the number.
package stats

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats/sequential"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// MinForInterval is how many values a 95% confidence interval of the median takes.
const MinForInterval = 6

// Interval says what a summary's low and high are.
type Interval string

const (
	// MinMax is the smallest and the largest value.
	MinMax Interval = "MinMax"
	// Confidence95 is the 95% confidence interval of the median.
	Confidence95 Interval = "Confidence95"
)

// Summary of the values of one metric at one point.
type Summary struct {
	N                 int
	Median, Low, High float64
	Interval          Interval
	// Looked says that there was an interval after each of several rounds, and that all of them together hold 95%.
	Looked bool
}

// Looks are the numbers of values after which a summary is looked at, to stop if it is narrow; none if their number is fixed.
type Looks struct{ First, Last int }

// Summary of values that were looked at before. Stopping at the first narrow interval means stopping too early too often: the
// interval is the wider one that holds at all looks.
func (l Looks) Summary(values []float64) Summary {
	s := Summarize(values)
	if l == (Looks{}) || s.N == 0 {
		return s
	}
	sorted := slices.Sorted(slices.Values(values))
	s.Low, s.High, s.Interval = sorted[0], sorted[s.N-1], MinMax
	if k := sequential.MedianRank(s.N, l.First, l.Last, ErrorProbability); k > 0 {
		s.Low, s.High, s.Interval, s.Looked = sorted[k-1], sorted[s.N-k], Confidence95, true
	}
	return s
}

// Summarize values, in any order; none give the zero Summary.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, 0.95)
	if len(values) < MinForInterval {
		return Summary{N: len(values), Median: s.Center, Low: slices.Min(values), High: slices.Max(values), Interval: MinMax}
	}
	return Summary{N: len(values), Median: s.Center, Low: s.Lo, High: s.Hi, Interval: Confidence95}
}

// RangeIn is the interval, with numbers that are written by a function; empty if there is one value, which says nothing about
// others.
func (s Summary) RangeIn(number func(float64) string) string {
	if s.N < 2 {
		return ""
	}
	return number(s.Low) + "–" + number(s.High)
}

// Reached says whether there is a confidence interval, and half its width is at most percent of the median.
func (s Summary) Reached(percent int32) bool {
	if s.Interval != Confidence95 || s.Median == 0 {
		return false
	}
	return (s.High-s.Low)/2 <= math.Abs(s.Median)*float64(percent)/100
}

// Better says whether a is the better of two values of a metric.
func Better(m result.Metric, a, b float64) bool {
	if m.Better == "lower" {
		return a < b
	}
	return a > b
}

// Counted is a number of things, for people.
func Counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Format writes a number with at most four significant digits, because more digits than a measurement has are noise. From 1e16
// on, and below 1e-6, it has an exponent: no number takes more than 17 characters.
func Format(v float64) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text := strconv.FormatFloat(v, 'e', 3, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	// Neither can fail on what was just written.
	power, _ := strconv.Atoi(exponent)
	if power > 15 || power < -6 {
		return withoutZeros(mantissa) + "e" + exponent
	}
	rounded, _ := strconv.ParseFloat(text, 64)
	return withoutZeros(strconv.FormatFloat(rounded, 'f', max(0, 3-power), 64))
}

// Number is a number for people: at most four digits that say anything, thousands set apart by commas.
func Number(v float64) string { return Grouped(Format(v)) }

// Grouped is a number, as it was written, with its thousands set apart.
func Grouped(text string) string {
	whole, fraction, found := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	if strings.Trim(whole, "0123456789") != "" {
		return text
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if found {
		whole += "." + fraction
	}
	return sign + whole
}

// withoutZeros is a number without those at the end of its fraction.
func withoutZeros(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// Point is everything measured at one point, summarised.
type Point struct {
	// Variant that was measured; empty if there are none.
	Variant    string
	Parameters map[string]string
	// Bound is what a capacity keeps; empty of what was measured at a point.
	Bound string
	// Records are those of its accepted attempts, each in the round of the same index; without rounds, each has its own.
	Records []*result.Record
	Rounds  []int
	// Metric is the workload's headline metric; its Value is unused.
	Metric result.Metric
	// Values have one for each round: the mean of the trials that were measured on one server, which is no new value each time.
	Values   []float64
	Summary  Summary
	Warnings []finding.Finding
}

// Summarized is a point of a run, of a group of accepted attempts, which were looked at before; never by the zero value.
func (l Looks) Summarized(p Point) Point {
	of := p.In("")
	var each []float64
	for _, r := range p.Records {
		if m, found := r.Summary.Metric(""); found {
			each = append(each, m.Value)
		}
	}
	of.Summary, of.Warnings = l.Summary(of.Values), PointWarnings(p.Records, each)
	return of
}

// Round in which the record of that index was measured, from 1.
func (p *Point) Round(i int) int {
	if p.Rounds == nil {
		return i + 1
	}
	return p.Rounds[i]
}

// Name of a point among those of all variants.
func (p *Point) Name() string {
	label := Label(p.Parameters)
	switch {
	case p.Variant == "":
		return label
	case label == "":
		return p.Variant
	}
	return p.Variant + " at " + label
}

// In a metric is the point with its values of it, of the rounds that have it; an empty name is that of the headline metric.
func (p *Point) In(metric string) Point {
	in := Point{Variant: p.Variant, Parameters: p.Parameters, Records: p.Records, Rounds: p.Rounds}
	var round []float64
	for i, r := range p.Records {
		if m, found := r.Summary.Metric(metric); found {
			in.Metric, round = m, append(round, m.Value)
		}
		if last := i == len(p.Records)-1; len(round) > 0 && (last || p.Round(i) != p.Round(i+1)) {
			in.Values, round = append(in.Values, MeanOfTrials(round)), nil
		}
	}
	in.Metric.Value = 0
	return in
}

// ParametersOf points, of each.
func ParametersOf(points []Point) []map[string]string {
	var list []map[string]string
	for i := range points {
		list = append(list, points[i].Parameters)
	}
	return list
}

// Measured are the points at which anything was measured, in their order.
func Measured(points []Point) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Summary.N == 0 })
}

// AppendNew appends a text unless it is there, or says nothing.
func AppendNew(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// NamesOf the parameters of points, in alphabetical order.
func NamesOf(points []map[string]string) []string {
	all := map[string]string{}
	for _, parameters := range points {
		maps.Copy(all, parameters)
	}
	return slices.Sorted(maps.Keys(all))
}

// ValuesOf a parameter of points, each once, in their order.
func ValuesOf(name string, points []map[string]string) []string {
	var values []string
	for _, parameters := range points {
		if value, has := parameters[name]; has && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// InStages says whether points are the stages of trials: parts of one piece of work, of which none is better than another.
func InStages(points []Point) bool {
	return slices.ContainsFunc(points, func(p Point) bool { return len(p.Records) > 0 && p.Records[0].Summary.Stage != "" })
}

// Best is the index of the point with the best median or, of stages, of the first; -1 if nothing was measured.
func Best(points []Point) int {
	best, stages := -1, InStages(points)
	for i, p := range points {
		if p.Summary.N > 0 && (best < 0 || !stages && Better(p.Metric, p.Summary.Median, points[best].Summary.Median)) {
			best = i
		}
	}
	return best
}

// Label names a point by its parameters in alphabetical order, for example "rowsPerCommit=16".
func Label(parameters map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		parts = append(parts, name+"="+parameters[name])
	}
	return strings.Join(parts, ", ")
}
