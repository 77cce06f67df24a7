// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// published judges a claim by its published figures, as they stand: how they scatter is unknown. Without any figure there is no
// verdict, and with some of those that the claim compares they cannot say.
func published(c *v1alpha1.Claim, s subject, metric string, lower bool) (verdict Verdict, detail string) {
	if len(c.Published) == 0 {
		return "", ""
	}
	figure := func(of *Series) float64 { return figureOf(c, of, metric, metric) }
	answer := func(holds bool, format string, args ...any) (Verdict, string) {
		if holds {
			return Holds, fmt.Sprintf(format, args...)
		}
		return DoesNotHold, fmt.Sprintf(format, args...)
	}
	switch {
	case c.Ratio != nil || c.NoDifference != nil:
		of, to := figure(s.of), figure(s.to)
		if c.Ratio != nil && c.Ratio.ToMetric != "" {
			to = figureOf(c, s.to, c.Ratio.ToMetric, metric)
		}
		switch {
		case of <= 0:
			return missing(s.name(s.of))
		case to <= 0:
			return missing(s.name(s.to))
		}
		ratio := of / to
		if c.Ratio != nil {
			least, most := bounds(c.Ratio)
			return answer(ratio >= least && (most == 0 || ratio <= most), "%s×", factor(ratio))
		}
		within := 1 + float64(c.NoDifference.WithinPercent)/100
		return answer(ratio > 1/within && ratio < within, "%s×", factor(ratio))
	case c.BestAt != nil:
		return publishedBest(s, figure, lower, answer)
	}
	return publishedOrder(c.Monotonic, s, figure, answer)
}

// figureOf is the value that was published for a series of a metric, beside the metric that the claim is about; 0 if there is
// none.
func figureOf(c *v1alpha1.Claim, of *Series, metric, claimed string) float64 {
	for _, f := range c.Published {
		if selector(f.Of).Names(of) && cmp.Or(f.Metric, claimed) == metric {
			return number(f.Value)
		}
	}
	return 0
}

// missing says which figure was not published.
func missing(name string) (Verdict, string) {
	if name == "" {
		return CannotSay, "too few figures"
	}
	return CannotSay, "no figure of " + name
}

type answerer func(holds bool, format string, args ...any) (Verdict, string)

func publishedBest(s subject, figure func(*Series) float64, lower bool, answer answerer) (Verdict, string) {
	best := func(list []*Series) (which *Series) {
		for _, one := range list {
			if v := figure(one); v > 0 && (which == nil || v > figure(which) != lower && v != figure(which)) {
				which = one
			}
		}
		return which
	}
	in, out := best(s.in), best(s.out)
	if in == nil || out == nil {
		return CannotSay, "too few figures"
	}
	first, second := in, out
	holds := figure(in) > figure(out) != lower && figure(in) != figure(out)
	if !holds {
		first, second = out, in
	}
	ratio := figure(first) / figure(second)
	if lower {
		ratio = 1 / ratio
	}
	return answer(holds, "%s is the best; closest rival %s: %s×", s.name(first), s.name(second), factor(ratio))
}

func publishedOrder(m *v1alpha1.MonotonicClaim, s subject, figure func(*Series) float64, answer answerer) (Verdict, string) {
	for _, one := range s.steps {
		if figure(one) <= 0 {
			return missing(s.name(one))
		}
	}
	known := slices.Clone(s.steps)
	if m.Direction == v1alpha1.DirectionFalling {
		slices.Reverse(known)
	}
	ratio := func(from, to *Series) float64 { return figure(to) / figure(from) }
	tolerated := 1 / (1 + float64(m.WithinPercent)/100)
	weakest := 0
	for i := range len(known) - 1 {
		if ratio(known[i], known[i+1]) < ratio(known[weakest], known[weakest+1]) {
			weakest = i
		}
	}
	whole := ratio(known[0], known[len(known)-1])
	step := ratio(known[weakest], known[weakest+1])
	return answer(whole > 1 && step > tolerated, "%s× overall, %s× from %s to %s", factor(whole), factor(step),
		value(known[weakest], m.Parameter), value(known[weakest+1], m.Parameter))
}
