// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"fmt"
	"slices"
)

// published judges a claim by its published figures, as they stand: nobody knows how they scatter. Without a figure for what the
// claim compares there is no verdict.
func (c *Claim) published(s subject, lower bool) (verdict Verdict, detail string) {
	figure := func(of *Series) float64 {
		for _, f := range c.Published {
			if f.Of.Names(of) {
				return f.Value
			}
		}
		return 0
	}
	answer := func(holds bool, format string, args ...any) (Verdict, string) {
		if holds {
			return Holds, fmt.Sprintf(format, args...)
		}
		return DoesNotHold, fmt.Sprintf(format, args...)
	}
	switch {
	case c.Ratio != nil || c.NoDifference != nil:
		of, to := figure(s.of), figure(s.to)
		if of <= 0 || to <= 0 {
			return "", ""
		}
		ratio := of / to
		if c.Ratio != nil {
			return answer(ratio >= c.Ratio.AtLeast && (c.Ratio.AtMost == 0 || ratio <= c.Ratio.AtMost), "%s×", factor(ratio))
		}
		within := 1 + float64(c.NoDifference.WithinPercent)/100
		return answer(ratio > 1/within && ratio < within, "%s×", factor(ratio))
	case c.BestAt != nil:
		return c.publishedBest(s, figure, lower, answer)
	}
	return c.publishedOrder(s, figure, answer)
}

type answerer func(holds bool, format string, args ...any) (Verdict, string)

func (*Claim) publishedBest(s subject, figure func(*Series) float64, lower bool, answer answerer) (Verdict, string) {
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
		return "", ""
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

func (c *Claim) publishedOrder(s subject, figure func(*Series) float64, answer answerer) (Verdict, string) {
	var known []*Series
	for _, one := range s.steps {
		if figure(one) > 0 {
			known = append(known, one)
		}
	}
	if len(known) != len(s.steps) {
		return "", ""
	}
	m := c.Monotonic
	if m.Falling {
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
