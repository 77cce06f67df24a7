// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// MinForRanks is how many trials two points must have, so that one can be told from the other.
const MinForRanks = 3

// Ratio of one point's values to those of another, and its 95% interval. Without one, Low is 0 and High +Inf.
type Ratio struct{ Value, Low, High float64 }

// ExcludesOne says whether the interval tells the two apart.
func (r Ratio) ExcludesOne() bool { return r.Low > 1 || r.High < 1 }

// Bounded says whether there is an interval.
func (r Ratio) Bounded() bool { return r.Low > 0 && !math.IsInf(r.High, 1) }

// RatioTo compares the values of points with those of one of them, round by round: each round has all points, so that what the
// machine did meanwhile cancels. Together, the intervals of all points hold 95%.
func RatioTo(points []Point, reference int) []Ratio {
	measured := len(Measured(points))
	ratios := make([]Ratio, len(points))
	for i, p := range points {
		ratios[i] = ratioOf(p.Values, points[reference].Values, ErrorProbability/float64(max(1, measured-1)))
		if i == reference {
			ratios[i] = Ratio{1, 1, 1}
		}
	}
	return ratios
}

// ratioOf paired values, with an interval at a two-sided level.
func ratioOf(values, reference []float64, level float64) Ratio {
	n := min(len(values), len(reference))
	r := Ratio{Value: math.NaN(), High: math.Inf(1)}
	if n == 0 {
		return r
	}
	r.Value = Summarize(values).Median / Summarize(reference).Median
	logs, ok := logRatios(reference, values)
	if !ok || n < MinForRanks {
		return r
	}
	e := estimateOf(logs)
	half := -distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(level/2) * e.err
	return Ratio{Value: math.Exp(e.mean), Low: math.Exp(e.mean - half), High: math.Exp(e.mean + half)}
}

// PairedRatio of the values of one point to those of another, which were measured in the same rounds, with an interval that
// misses the true one with the probability of level. If there is none it says why.
func PairedRatio(of, to []float64, level float64) (r Ratio, why string) {
	n := min(len(of), len(to))
	if least := leastTrials(MinForRanks, level); n < least {
		return r, fmt.Sprintf("too few trials (%d): an answer takes at least %d", n, least)
	}
	if r = ratioOf(of, to, level); !r.Bounded() {
		return r, "a value is missing, zero or negative"
	}
	return r, ""
}

// leastTrials is how many pairs of values an interval takes whose error is a level, from so many on. A t test takes few values
// that happen to be alike for certainty: where trials are fast or slow by chance, n ratios are alike and wrong with a probability
// of up to 2/4ⁿ, whatever the test says (half of all trials slow, and each pair one fast and one slow in the same order).
func leastTrials(from int, level float64) int {
	for 2*math.Pow(4, -float64(from)) > level {
		from++
	}
	return from
}

// Standing is which points are the best.
type Standing struct {
	// Best is the index of the point with the best median, or -1 if nothing was measured.
	Best int
	// Rivals are the indexes of the points that cannot be told from the best: at 95%, the truly best one is among them or the best.
	Rivals []int
}

// Stand finds the best point and those that may be as good.
func Stand(points []Point) Standing {
	s := Standing{Best: Best(points)}
	if s.Best < 0 || InStages(points) {
		return s
	}
	for i, r := range RatioTo(points, s.Best) {
		if i != s.Best && points[i].Summary.N > 0 && !r.ExcludesOne() {
			s.Rivals = append(s.Rivals, i)
		}
	}
	return s
}

// Ranked says whether the points have enough trials for any ranks. Stages have none.
func Ranked(points []Point) bool {
	return !InStages(points) && slices.ContainsFunc(points, func(p Point) bool { return p.Summary.N >= MinForRanks })
}

// maxNamed is how many rivals are named; of more there is only the number.
const maxNamed = 3

// Others says which points may be as good as the best, or that too few trials were measured to say; empty if it stands alone.
func (s Standing) Others(points []Point) string {
	measured := len(Measured(points))
	switch {
	case s.Best < 0 || measured < 2:
		return ""
	case InStages(points):
		return Counted(measured-1, "other stage")
	case !Ranked(points):
		return fmt.Sprintf("not ranked: fewer than %d trials each", MinForRanks)
	case len(s.Rivals) == 0:
		return ""
	case len(s.Rivals) == measured-1 && measured > 2:
		return "all others may be as good"
	}
	return s.named(points) + " may be as good"
}

// named rivals: by their values if one parameter varies.
func (s Standing) named(points []Point) string {
	var names []string
	for _, i := range s.Rivals {
		name := Label(points[i].Parameters)
		if len(points[i].Parameters) == 1 {
			_, name, _ = strings.Cut(name, "=")
		}
		names = append(names, name)
	}
	// The best may stand among its rivals: then all from the first to the last of them are as good.
	last := len(s.Rivals) - 1
	among := 0
	if s.Rivals[0] < s.Best && s.Best < s.Rivals[last] {
		among = 1
	}
	neighbours := s.Rivals[last]-s.Rivals[0] == last+among
	switch {
	case len(names) <= maxNamed:
		return strings.Join(names, ", ")
	case neighbours && len(points[s.Best].Parameters) == 1:
		return names[0] + " to " + names[last]
	}
	return fmt.Sprintf("%d other points", len(names))
}

// Lead is the answer of a run, in the parts of its sentence: the best point's median, its interval or that it is one trial,
// where it was measured, and which other points may be as good. At and Others may be empty.
type Lead struct{ Value, Unit, Interval, At, Others string }

// LeadOf points, with numbers that are written by a function; nil if nothing was measured.
func LeadOf(points []Point, number func(float64) string) *Lead {
	standing := Stand(points)
	if standing.Best < 0 {
		return nil
	}
	p := &points[standing.Best]
	return &Lead{
		Value: number(p.Summary.Median), Unit: p.Metric.Unit, Interval: cmp.Or(p.Summary.RangeIn(number), "one trial"),
		At: cmp.Or(p.Bound, Label(p.Parameters)), Others: standing.Others(points),
	}
}

// Headline is the answer of a run in a sentence; empty if nothing was measured.
func Headline(points []Point) string {
	l := LeadOf(points, Format)
	if l == nil {
		return ""
	}
	text := fmt.Sprintf("%s %s (%s)", l.Value, l.Unit, l.Interval)
	if l.At != "" {
		text += " at " + l.At
	}
	if l.Others != "" {
		text += "; " + l.Others
	}
	return text
}
