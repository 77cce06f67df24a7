// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// maxReproducedFactor is the largest factor within the interval of what counts as reproduced: a wider one says too little.
const maxReproducedFactor = 2

// Reproduce compares two reports of the same measurement under these names. If within is above 0, a point is reproduced if the
// interval excludes a difference of this fraction; a smaller one may be shown. Otherwise it is reproduced if no difference is
// shown, and if the interval excludes a factor of two. Medians of equal runs differ by the fraction betweenRuns (stats.Design).
func Reproduce(there, here *Report, names [2]string, within, betweenRuns float64) (*Compared, error) {
	switch {
	case there.HasVariants() != here.HasVariants():
		return nil, errors.New("one of the two runs has variants, and the other has none: nothing can be compared")
	case there.UID != "" && there.UID == here.UID:
		return nil, fmt.Errorf("run %s is both of them: measure again under another name", here.Name)
	}
	theirs, err := SideOf(there, there.Baseline(), "", names[0])
	ours, err2 := SideOf(here, there.Baseline(), "", names[1])
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	theirs.name, ours.name = theirs.reference, ours.reference
	c, err := CompareSides(theirs, ours, betweenRuns)
	if err != nil {
		return nil, err
	}
	c.Title, c.within = there.Name, &within
	if there.HasVariants() {
		err = c.pairRatios(there, here)
	}
	return c, err
}

// pairRatios pairs the ratios of runs with variants, and no values: such a run is about what the variants do on one machine.
func (c *Compared) pairRatios(there, here *Report) error {
	ours := map[string]*stats.Paired{}
	for i := range here.Pairs {
		ours[pairName(&here.Pairs[i])] = &here.Pairs[i]
	}
	c.Pairs, c.Unpaired, c.BetweenRuns = nil, nil, nil
	c.Method = []string{fmt.Sprintf("Values are the ratios of the rounds; the interval reaches from the lowest ratio that those "+
		"of %s and %s allow to the highest.", c.Baseline, c.Variant)}
	for i := range there.Pairs {
		theirs := &there.Pairs[i]
		parameters := map[string]string{"pair": theirs.Variant + " / " + theirs.Baseline}
		maps.Copy(parameters, theirs.Parameters)
		if our := ours[pairName(theirs)]; our != nil {
			pair := ratioPair(theirs, our)
			pair.Variant, pair.Baseline, pair.Parameters = c.Variant, c.Baseline, parameters
			c.Pairs = append(c.Pairs, pair)
		} else {
			c.Unpaired = append(c.Unpaired, UnpairedPoint{c.Baseline, parameters})
		}
	}
	if len(c.Pairs) == 0 {
		return errNothingInCommon
	}
	return nil
}

// ratioPair pairs the ratio of two variants there with that of the same two here.
func ratioPair(theirs, ours *stats.Paired) stats.Paired {
	for _, open := range []stats.Paired{*theirs, *ours} {
		if !open.Bounded() {
			open.Values, open.BaselineValues, open.Verdict = nil, nil, stats.CannotSay
			return open
		}
	}
	p := stats.Paired{
		Metric: result.Metric{Name: "ratio", Unit: "×"},
		Values: roundRatios(ours), BaselineValues: roundRatios(theirs), Comparison: stats.Comparison{
			Ratio: ours.Ratio / theirs.Ratio, Low: ours.Low / theirs.High, High: ours.High / theirs.Low, Detectable: math.Inf(1),
			Rounds: min(theirs.Rounds, ours.Rounds),
		},
	}
	switch {
	case p.Low > 1:
		p.Verdict = stats.Faster
	case p.High < 1:
		p.Verdict = stats.Slower
	default:
		p.Verdict = stats.NoDifferenceShown
	}
	return p
}

func roundRatios(p *stats.Paired) []float64 {
	var ratios []float64
	for i := range min(len(p.Values), len(p.BaselineValues)) {
		ratios = append(ratios, p.Values[i]/p.BaselineValues[i])
	}
	return ratios
}

// reproduction is the ruling of a pair whose baseline was measured elsewhere.
func (c *Compared) reproduction(p *stats.Paired) Ruling {
	bound := float64(maxReproducedFactor)
	if *c.within > 0 {
		bound = 1 + *c.within
	}
	switch {
	case !p.Bounded() || p.Cause == stats.Contradiction:
		return Undecided
	case max(p.Low, 1/p.High) > 1+*c.within:
		return Different
	case max(p.High, 1/p.Low) <= bound:
		return Reproduced
	}
	return Undecided
}

// reproduced says of how many points what became.
func (c *Compared) reproduced() string {
	counts, n := map[Ruling]int{Undecided: len(c.Unpaired)}, len(c.Pairs)+len(c.Unpaired)
	for i := range c.Pairs {
		counts[c.Of(&c.Pairs[i])]++
	}
	if counts[Reproduced] == n {
		if n == 1 {
			return "reproduced"
		}
		return fmt.Sprintf("all %d points are reproduced", n)
	}
	var parts []string
	for _, of := range []Ruling{Different, Reproduced, Undecided} {
		if counts[of] > 0 {
			parts = append(parts, fmt.Sprintf("%s at %d", strings.ToLower(of.inWords()), counts[of]))
		}
	}
	return fmt.Sprintf("%s of %d points", strings.Join(parts, ", "), n)
}
