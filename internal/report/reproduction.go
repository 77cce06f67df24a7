// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

// ReproductionVerdict says what became of a number that was measured elsewhere.
type ReproductionVerdict string

const (
	// Reproduced: no difference is shown, and the interval of the ratio stays within the bounds of the reproduction.
	Reproduced ReproductionVerdict = "reproduced"
	// FasterHere and SlowerHere: the difference is shown.
	FasterHere ReproductionVerdict = "faster here"
	SlowerHere ReproductionVerdict = "slower here"
	// OtherRatio of a pair: the difference is shown, as the intervals of the ratios there and here have nothing in common.
	OtherRatio ReproductionVerdict = "another ratio here"
	// NotComparable: there is no answer; the detail says why.
	NotComparable ReproductionVerdict = "cannot say"
)

// maxReproducedFactor is the largest factor that may lie within the interval of a number that counts as reproduced: a wider one
// says too little.
const maxReproducedFactor = 2

// ReproducedPoint is a number that was measured there and here.
type ReproducedPoint struct {
	// Label is the point, with the variant if there are any.
	Label string `json:"point"`
	// There and Here are what was measured, for people: medians with their unit, or ratios with their intervals.
	There string `json:"there"`
	Here  string `json:"here"`
	// Ratio of here to there with its 95% interval over all points together; 0 if there is none.
	Ratio   float64             `json:"ratio,omitempty"`
	Low     float64             `json:"low,omitempty"`
	High    float64             `json:"high,omitempty"`
	Verdict ReproductionVerdict `json:"verdict"`
	// Detail says why there is no answer.
	Detail string `json:"detail,omitempty"`
}

// Reproduction compares what was measured elsewhere with what was measured here.
type Reproduction struct {
	Name   string            `json:"name"`
	Points []ReproducedPoint `json:"points"`
	// BetweenRunsPercent is the standard deviation between equal runs that was assumed; left out of pairs.
	BetweenRunsPercent *float64 `json:"betweenRunsPercent,omitempty"`
	// Differences of the environments, in words.
	Differences []string `json:"differences,omitempty"`
}

var errVariantsDiffer = errors.New("one of the two runs has variants, and the other has none: nothing can be compared")

// Reproduce compares two reports of the same specification: that of another laboratory, and that of this one. If within is above
// 0, a point is reproduced if the interval excludes a difference of this fraction; a smaller one may be shown. The medians of
// equal runs differ by the fraction betweenRuns (see stats.Design).
func Reproduce(there, here *Report, within, betweenRuns float64) (*Reproduction, error) {
	if there.HasVariants() != here.HasVariants() {
		return nil, errVariantsDiffer
	}
	r := &Reproduction{Name: there.Name}
	if there.HasVariants() {
		r.comparePairs(there, here, within)
	} else {
		r.comparePoints(there, here, within, betweenRuns)
	}
	theirs, err := SideOf(there, there.Baseline(), "", "there")
	ours, err2 := SideOf(here, there.Baseline(), "", "here")
	if errors.Join(err, err2) == nil { // nothing is known if one has not completed
		_, otherwise, differences := differing(theirs, ours)
		r.Differences = slices.Concat(otherwise, differences)
	}
	return r, nil
}

// comparePoints compares point by point. The points have one error of 5% together. A point is reproduced if no difference is
// shown, and if the interval of the ratio excludes a factor of two.
func (r *Reproduction) comparePoints(there, here *Report, within, betweenRuns float64) {
	r.BetweenRunsPercent = percentOf(betweenRuns)
	measured := byLabel(here.Points)
	design := stats.Design{EquivalencePercent: 5, Comparisons: len(there.Points), BetweenRuns: betweenRuns}
	for i := range there.Points {
		their := &there.Points[i]
		p := ReproducedPoint{Label: stats.Label(their.Parameters), There: measuredAs(their), Verdict: NotComparable}
		switch our := measured[p.Label]; {
		case our == nil || our.Summary.N == 0:
			p.Detail = "it was not measured here"
		case our.Metric.Name != their.Metric.Name || our.Metric.Unit != their.Metric.Unit:
			p.Here, p.Detail = measuredAs(our), "what was measured is not the same metric"
		default:
			p.Here = measuredAs(our)
			pair := stats.Paired{
				Variant: "here", Baseline: "there", Metric: our.Metric, BaselineValues: their.Values, Values: our.Values, Separate: true,
			}
			pair.Judge(design)
			p.judgePair(&pair, within)
		}
		r.Points = append(r.Points, p)
	}
}

// measuredAs is the median of a point for people.
func measuredAs(p *stats.Point) string {
	if p.Summary.N == 0 {
		return "nothing"
	}
	return stats.Format(p.Summary.Median) + " " + p.Metric.Unit
}

// judgePair sets the verdict by a comparison of what was measured here with what was measured there.
func (p *ReproducedPoint) judgePair(pair *stats.Paired, within float64) {
	if !pair.Bounded() {
		p.Detail = pair.String()
		return
	}
	p.Ratio, p.Low, p.High = pair.Ratio, pair.Low, pair.High
	difference := SlowerHere
	if p.Low > 1 == (pair.Metric.Better != "lower") {
		difference = FasterHere
	}
	p.judge(difference, within)
}

// judge sets the verdict by the interval of the ratio. The difference is what the verdict is if one of more than within is shown.
func (p *ReproducedPoint) judge(difference ReproductionVerdict, within float64) {
	bound := float64(maxReproducedFactor)
	if within > 0 {
		bound = 1 + within
	}
	differs, small := max(p.Low, 1/p.High) > 1+within, max(p.High, 1/p.Low) <= bound
	switch {
	case small && !differs:
		p.Verdict = Reproduced
	case differs:
		p.Verdict = difference
	default:
		p.Detail = fmt.Sprintf("the values vary too much: the ratio is between %.2f and %.2f", p.Low, p.High)
	}
}

// comparePairs compares the ratios of runs with variants. Values themselves are not compared: such a run is about what the
// variants do on one machine. A ratio is reproduced on the same conditions as a point of a run.
func (r *Reproduction) comparePairs(there, here *Report, within float64) {
	key := func(p *stats.Paired) string {
		return strings.Join([]string{p.Variant, p.Baseline, stats.Label(p.Parameters)}, "\n")
	}
	ours := map[string]*stats.Paired{}
	for i := range here.Pairs {
		ours[key(&here.Pairs[i])] = &here.Pairs[i]
	}
	for i := range there.Pairs {
		theirs := &there.Pairs[i]
		label := theirs.Variant + " / " + theirs.Baseline
		if len(theirs.Parameters) > 0 {
			label += ", " + stats.Label(theirs.Parameters)
		}
		p := ReproducedPoint{Label: label, There: ratioOf(theirs), Verdict: NotComparable}
		switch our := ours[key(theirs)]; {
		case our == nil:
			p.Detail = "it was not measured here"
		case !theirs.Bounded():
			p.Here, p.Detail = ratioOf(our), "there was no answer there: "+theirs.String()
		case !our.Bounded():
			p.Here, p.Detail = ratioOf(our), our.String()
		default:
			p.Here, p.Ratio = ratioOf(our), our.Ratio/theirs.Ratio
			p.Low, p.High = our.Low/theirs.High, our.High/theirs.Low
			p.judge(OtherRatio, within)
		}
		r.Points = append(r.Points, p)
	}
}

// ratioOf a pair with its interval.
func ratioOf(p *stats.Paired) string {
	if !p.Bounded() {
		return "no ratio"
	}
	return ratioText(stats.Ratio{Value: p.Ratio, Low: p.Low, High: p.High}, stats.Format)
}

// Counts are how many points have each verdict.
func (r *Reproduction) Counts() map[ReproductionVerdict]int {
	counts := map[ReproductionVerdict]int{}
	for _, p := range r.Points {
		counts[p.Verdict]++
	}
	return counts
}

// Answer in a sentence.
func (r *Reproduction) Answer() string {
	counts := r.Counts()
	if counts[Reproduced] == len(r.Points) && len(r.Points) > 0 {
		if len(r.Points) == 1 {
			return "reproduced"
		}
		return fmt.Sprintf("all %d points are reproduced", len(r.Points))
	}
	var parts []string
	for _, v := range []ReproductionVerdict{FasterHere, SlowerHere, OtherRatio, Reproduced, NotComparable} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%s at %d", v, counts[v]))
		}
	}
	if len(parts) == 0 {
		return "there is nothing to compare"
	}
	return fmt.Sprintf("%s of %d points", strings.Join(parts, ", "), len(r.Points))
}

// Print writes a reproduction as Markdown that also reads well on a terminal.
func (r *Reproduction) Print(w io.Writer) error {
	return writeMarkdown(w, r.Name+": "+r.Answer(), r.blocks())
}

// blocks of a reproduction: a table of the points, and what must be read with it.
func (r *Reproduction) blocks() []block {
	table := paragraphs("Intervals: 95% confidence across all points. There and here were measured at different times " +
		"and places.")
	if r.BetweenRunsPercent != nil {
		table.lines = append(table.lines, betweenRunsText(*r.BetweenRunsPercent/100))
	}
	table.rows = [][]string{{"point", "there", "here", "here / there", "interval", "verdict"}}
	var details []string
	for _, p := range r.Points {
		value, interval := "", ""
		if p.Ratio > 0 && !math.IsInf(p.Ratio, 0) {
			value, interval = fmt.Sprintf("%.2f", p.Ratio), fmt.Sprintf("%.2f–%.2f", p.Low, p.High)
		}
		table.rows = append(table.rows, []string{p.Label, p.There, p.Here, value, interval, string(p.Verdict)})
		if p.Detail != "" {
			details = append(details, strings.TrimPrefix(p.Label+": "+p.Detail, ": "))
		}
	}
	differences := r.Differences
	if len(differences) == 0 {
		differences = []string{"nothing that Benchrun knows of"}
	}
	return []block{
		table, listed("Points without an answer", details), listed("What differs between there and here", differences),
	}
}
