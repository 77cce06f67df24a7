// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"
)

// Overall compares each variant with the baseline over all of its points together: in each round, the ratio of the geometric
// means. Points that missed the offered rate do not count. The variants share the half of the error that is for this (Together).
// A variant with one point, or whose points have different metrics, has none.
func (d Design) Overall(pairs []Paired) []Paired {
	var variants []string
	of := map[string][]Paired{}
	for i := range pairs {
		if pairs[i].RateMissed {
			continue
		}
		if v := pairs[i].Variant; of[v] == nil {
			variants = append(variants, v)
		}
		of[pairs[i].Variant] = append(of[pairs[i].Variant], pairs[i])
	}
	var all []Paired
	for _, v := range variants {
		if points := of[v]; len(points) > 1 && sameMetric(points) {
			all = append(all, together(points))
		}
	}
	d.Comparisons = len(all)
	for i := range all {
		all[i].Judge(d)
	}
	return all
}

// sameMetric says whether all pairs compare the same metric.
func sameMetric(pairs []Paired) bool {
	return !slices.ContainsFunc(pairs, func(p Paired) bool {
		m, of := p.Metric, pairs[0].Metric
		return p.BaselineMetric != nil || m.Name != of.Name || m.Unit != of.Unit || m.Better != of.Better
	})
}

// together are the pairs of a variant as one, without a verdict.
func together(pairs []Paired) Paired {
	p := pairs[0]
	all := Paired{Variant: p.Variant, Baseline: p.Baseline, Metric: p.Metric, Points: len(pairs), NotExercised: p.NotExercised}
	for i := range pairs {
		if len(pairs[i].NotExercised) == 0 {
			all.NotExercised = nil // one point that uses the setting decides
		}
		all.BaselineValues = times(all.BaselineValues, pairs[i].BaselineValues, len(pairs))
		all.Values = times(all.Values, pairs[i].Values, len(pairs))
	}
	return all
}

// times multiplies a product, nil is one, by the n-th root of each value. A root does not overflow where a product would.
func times(product, values []float64, n int) []float64 {
	if product == nil {
		product = slices.Repeat([]float64{1}, len(values))
	}
	product = product[:min(len(product), len(values))]
	for i := range product {
		product[i] *= math.Pow(values[i], 1/float64(n))
	}
	return product
}

// where the pair was measured, as the end of a sentence.
func (p *Paired) where() string {
	if p.Points > 1 {
		return fmt.Sprintf(" over all %d points", p.Points)
	}
	return at(p.Parameters)
}

// brief is a difference in the fewest words: as a factor from where on sentences have one.
func (p *Paired) brief() string {
	speed, _, _ := p.speed()
	switch {
	case p.isSpeedup():
		return digits(speed, 2) + "× as fast"
	case p.isSlowdown():
		return digits(p.Ratio, 2) + "× as long"
	}
	return p.Change()
}

// overallAnswer is the answer of the overall pairs, with what single points say: of the largest difference or, if all are equal,
// that they are. It is empty if the overall pairs have no answer, or if the points themselves say as much.
func overallAnswer(overall, pairs []Paired) Answer {
	all, points := tally(overall), tally(pairs)
	var text string
	switch {
	case points.equal == len(pairs):
		return Answer{}
	case all.largest >= 0:
		o := &overall[all.largest]
		text = o.String() + o.where()
	case len(overall) == 1 && all.equal == 1:
		text = overall[0].String() + overall[0].where()
	case len(overall) > 1 && all.equal == len(overall):
		text = fmt.Sprintf("all variants are equal to %s within %d%% over all points", overall[0].Baseline,
			overall[0].EquivalencePercent)
	default:
		return Answer{}
	}
	named := all.largest >= 0 || len(overall) == 1
	if points.differ == 0 {
		return Answer{text + "; no single point is shown to differ", named}
	}
	most := &pairs[points.largest]
	who := ""
	if points.variants > 1 {
		who = most.Variant + " "
	}
	return Answer{fmt.Sprintf("%s; %d of %d %s %s, most %sat %s: %s", text, points.differ, len(pairs), points.things(),
		points.verb(), who, Label(most.Parameters), most.brief()), named}
}
