// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// Compared is a comparison of two things that were measured, and what must be read with it.
type Compared struct {
	// Title says what was compared: the workload, or the run with variants.
	Title string `json:"title"`
	// Baseline and Variant name the two sides; in a run's own pairs, Variant is empty and the pairs name it.
	Baseline string `json:"baseline"`
	Variant  string `json:"variant,omitempty"`
	// Method says how the two were measured and compared, in sentences.
	Method []string `json:"method"`
	// Otherwise says in what the two did not measure the same; empty if they did, as far as that is known.
	Otherwise []string `json:"otherwise,omitempty"`
	// Differences of what was measured and of where; Changes are those that have two values.
	Differences []string         `json:"differences,omitempty"`
	Changes     []ComparedChange `json:"changes,omitempty"`
	// Unpaired are the points that only one side has.
	Unpaired []UnpairedPoint   `json:"unpaired,omitempty"`
	Findings []ComparedFinding `json:"findings,omitempty"`
	// Pairs of all points. Overall has what all points of a variant say together, of a run's own pairs.
	Pairs   []stats.Paired `json:"-"`
	Overall []stats.Paired `json:"-"`
	// titles of variants in the headline, by their names.
	titles map[string]string
	// Threshold is the fraction by which a variant that is slower is a regression, at least 0; negative if nothing is one.
	Threshold float64 `json:"-"`
	// FailOn says how sure a loss of more than the threshold must be. The zero value is Probable.
	FailOn Certainty `json:"-"`
	// BetweenRuns is the standard deviation between equal runs that was assumed, as a fraction; nil if the two were interleaved.
	BetweenRuns *float64 `json:"-"`
	// within is the fraction that counts as no difference from what was measured elsewhere; nil if that is not the question.
	within *float64
}

// Ruling is what a comparison means for a pipeline.
type Ruling string

const (
	// Fine: there is an answer, and it is no regression.
	Fine Ruling = "Fine"
	// Regression: the variant is slower by more than the threshold.
	Regression Ruling = "Regression"
	// Reproduced and Different: what was measured elsewhere is, or is not, what was measured here.
	Reproduced Ruling = "Reproduced"
	Different  Ruling = "Different"
	// Undecided: there is no answer.
	Undecided Ruling = "Undecided"
)

// Certainty is how sure a loss above the threshold must be to be a regression.
type Certainty string

const (
	// Possible: the interval does not exclude it. Of variants that lose more than the threshold, at most 2.5% pass.
	Possible Certainty = "possible"
	// Probable: the loss that is stated is above the threshold. A variant that loses as much as the threshold, and of which that is
	// found, fails half of the time.
	Probable Certainty = "probable"
)

// Certainties are all of them, the strictest gate first.
func Certainties() []string { return []string{string(Possible), string(Probable)} }

// Of a pair. It is a Regression if the verdict is Slower, so that the whole interval is on the worse side, and the loss is above
// the threshold as surely as FailOn asks. It is Fine if the interval excludes a loss above the threshold, or if there is another
// answer; with Possible, that two are equal is none where the threshold is below what counts as equal.
func (c *Compared) Of(p *stats.Paired) Ruling {
	if c.within != nil {
		return c.reproduction(p)
	}
	loss, _, most := p.Loss()
	if c.FailOn == Possible {
		loss = most
	}
	switch {
	case c.Threshold >= 0 && p.Verdict == stats.Slower && loss > c.Threshold:
		return Regression
	case c.Threshold >= 0 && p.Bounded() && p.Cause != stats.Contradiction && most <= c.Threshold:
		return Fine
	case p.Answered() && (c.Threshold < 0 || c.FailOn != Possible):
		return Fine
	}
	return Undecided
}

// Ruling of all pairs: one Regression or difference is one of all, and else an Undecided pair, or a point that only one side has.
func (c *Compared) Ruling() Ruling {
	all := Fine
	if c.within != nil {
		all = Reproduced
	}
	if len(c.Unpaired) > 0 || len(c.Pairs) == 0 {
		all = Undecided
	}
	for i := range c.Pairs {
		switch of := c.Of(&c.Pairs[i]); of {
		case Regression, Different:
			return of
		case Undecided:
			all = of
		case Fine, Reproduced:
		}
	}
	return all
}

// CompareBaseline is what a run says of its variants: its own pairs or, of another metric, pairs that are judged as these are.
func CompareBaseline(r *Report, metric string) (*Compared, error) {
	if err := r.usable(); err != nil {
		return nil, err
	}
	c := &Compared{
		Title: r.Name, Baseline: r.Pairs[0].Baseline, Pairs: r.Pairs, Overall: r.Overall, Threshold: -1, titles: r.titles(),
		Differences: r.differences(), Changes: r.changes(), Findings: r.sideFindings(),
		Method: []string{fmt.Sprintf("Paired by round, %d of at most %d rounds; intervals of the ratio: %s.", r.Rounds,
			r.Planned, r.confidence())},
	}
	if metric == "" || metric == r.Pairs[0].Metric.Name {
		return c, nil
	}
	c.Pairs, c.Overall = nil, nil
	for _, v := range r.Variants {
		if v.Baseline {
			continue
		}
		if err := c.pairVariants(r, c.Baseline, v.Name, metric); err != nil {
			return nil, err
		}
	}
	return c, c.judge(r)
}

// pairVariants pairs what two variants measured in the same rounds.
func (c *Compared) pairVariants(r *Report, baseline, variant, metric string) error {
	a, err := SideOf(r, baseline, metric, "")
	if err != nil {
		return err
	}
	b, err := SideOf(r, variant, metric, "")
	if err != nil {
		return err
	}
	for _, p := range slices.Concat(a.points, b.points) {
		if rounds := len(slices.Compact(slices.Clone(p.Rounds))); len(p.Values) != rounds {
			return fmt.Errorf("run %s has %s of %s in %d of %d rounds: only what every round has can be compared", r.Name,
				p.Metric.Name, p.Name(), len(p.Values), rounds)
		}
	}
	first := len(c.Pairs)
	if err := c.pair(a, b, baseline, variant); err != nil {
		return err
	}
	for i := range c.Pairs[first:] {
		p := &c.Pairs[first+i]
		both := min(len(p.Values), len(p.BaselineValues)) // one of them may be measured on
		p.Values, p.BaselineValues = p.Values[:both], p.BaselineValues[:both]
	}
	return nil
}

// judge the pairs with the looks and the number of pairs of the run. One that the run has judged itself is its own.
func (c *Compared) judge(r *Report) error {
	design, err := r.design()
	if err != nil {
		return err
	}
	design.Comparisons = max(design.Comparisons, len(c.Pairs))
	for n := range c.Pairs {
		p := &c.Pairs[n]
		if i := slices.IndexFunc(r.Pairs, func(own stats.Paired) bool {
			return pairName(&own) == pairName(p) && own.Metric.Name == p.Metric.Name
		}); i >= 0 {
			*p = r.Pairs[i]
		} else {
			p.Judge(design)
		}
	}
	return nil
}

func (r *Report) completed() error {
	if r.Outcome != v1alpha1.ConditionComplete {
		return fmt.Errorf("run %s has not completed: %s: %s", r.Name, cmp.Or(r.Outcome, Unfinished), r.Message)
	}
	return nil
}

// usable is an error if there is nothing in the run to compare, or if it cannot be trusted.
func (r *Report) usable() error {
	if err := r.completed(); err != nil {
		return err
	}
	if len(r.Pairs) == 0 {
		return fmt.Errorf("run %s: it has no pairs: no round has measured every variant", r.Name)
	}
	for _, p := range slices.Concat(r.Overall, r.Pairs) {
		if !consistent(&p, r.Rounds) {
			return fmt.Errorf("run %s: pair %s contradicts itself (%s): this is not what the operator wrote", r.Name,
				pairName(&p), p.Verdict)
		}
	}
	measured := map[string][]float64{}
	for _, p := range slices.Concat(r.Series(claims.Selector{}, ""), r.Capacities) {
		measured[p.Name()] = p.Values
	}
	for _, p := range r.Pairs {
		same := func(variant string, values []float64) bool { // the baseline may be measured on, for other variants
			of := measured[(&stats.Point{Variant: variant, Parameters: p.Parameters}).Name()]
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
			return len(of) >= len(values) && slices.EqualFunc(of[:len(values)], values, near)
		}
		if p.BaselineMetric == nil && (!same(p.Baseline, p.BaselineValues) || !same(p.Variant, p.Values)) {
			return fmt.Errorf("run %s: pair %s has other values than its attempts: this is not what the operator wrote", r.Name,
				pairName(&p))
		}
	}
	return nil
}

// consistent says whether a verdict is one that there is, and is that of its interval and of as many values as it has rounds.
func consistent(p *stats.Paired, rounds int) bool {
	_, least, most := p.Loss()
	if p.BaselineMetric == nil && (p.Rounds > rounds || len(p.Values) != p.Rounds || len(p.BaselineValues) != p.Rounds) {
		return false
	}
	switch p.Verdict {
	case stats.Slower:
		return p.Bounded() && least > 0
	case stats.Faster:
		return p.Bounded() && most < 0
	case stats.Equal, stats.NoDifferenceShown:
		return p.Bounded()
	case stats.CannotSay:
		return true
	}
	return false
}

// addDifferences says how the two variants differ from the run's baseline.
func (c *Compared) addDifferences(r *Report) {
	for _, v := range r.Variants {
		if v.Baseline || v.Name != c.Baseline && v.Name != c.Variant || len(v.Differences) == 0 {
			continue
		}
		c.Differences = append(c.Differences, fmt.Sprintf("%s differs from the run's baseline in: %s", v.Name,
			strings.Join(v.Requested(), ", ")))
		for _, d := range v.Differences {
			c.Changes = append(c.Changes, ComparedChange{v.Name, d})
		}
	}
}

// CompareVariants compares two variants of a run round by round. If the run has compared them so itself, these are
// its own pairs; otherwise the method is the same, with the looks and the number of pairs of the run.
func CompareVariants(r *Report, baseline, variant, metric string) (*Compared, error) {
	if !r.HasVariants() {
		return nil, r.noVariants()
	}
	c, err := CompareBaseline(r, "")
	if err != nil {
		return nil, err
	}
	c.Baseline, c.Variant, c.Pairs, c.Overall, c.Differences, c.Changes = baseline, variant, nil, nil, nil, nil
	if err := c.pairVariants(r, baseline, variant, metric); err != nil {
		return nil, err
	}
	if baseline == variant {
		return nil, fmt.Errorf("both are variant %s of run %s", variant, r.Name)
	}
	c.addDifferences(r)
	return c, c.judge(r)
}

// CompareSides compares two things that were not measured in the same rounds: runs, or variants of different runs. The
// error of 5% is divided by the number of points that both have. Smaller differences than 5% count as none. The medians of equal
// runs differ by the fraction betweenRuns (see stats.Design).
func CompareSides(a, b *Side, betweenRuns float64) (*Compared, error) {
	if a.uid != "" && a.uid == b.uid && a.name == b.name {
		return nil, fmt.Errorf("both are %s: there is nothing to compare", a.name)
	}
	names := [2]string{a.name, b.name}
	if names[0] == names[1] {
		names = [2]string{a.reference, b.reference}
	}
	c := &Compared{Title: b.workload, Baseline: names[0], Variant: names[1], Threshold: -1, BetweenRuns: &betweenRuns}
	c.Changes, c.Otherwise, c.Differences = differing(a, b)
	for i, s := range []*Side{a, b} {
		for _, f := range s.findings {
			f.Of = names[i]
			c.Findings = append(c.Findings, f)
		}
	}
	if err := c.pair(a, b, names[0], names[1]); err != nil {
		return nil, err
	}
	design := stats.Design{EquivalencePercent: defaultDifference, Comparisons: len(c.Pairs), BetweenRuns: betweenRuns}
	c.Method = append(separateMethod(a, b, names, len(c.Pairs)), betweenRunsText(betweenRuns))
	for i := range c.Pairs {
		c.Pairs[i].Separate = true
		c.Pairs[i].Judge(design)
	}
	return c, nil
}

var errNothingInCommon = errors.New("they have no point in common")

// pair the points of two sides in the order of the first one's; the pairs are still to be judged.
func (c *Compared) pair(a, b *Side, baseline, variant string) error {
	first := len(c.Pairs)
	before, after := byLabel(a.points), byLabel(b.points)
	for _, p := range a.points {
		label := stats.Label(p.Parameters)
		q := after[label]
		if q == nil {
			c.Unpaired = append(c.Unpaired, UnpairedPoint{baseline, p.Parameters})
			continue
		}
		pair := stats.Paired{
			Variant: variant, Baseline: baseline, Parameters: p.Parameters, BaselineValues: p.Values, Values: q.Values,
			RateMissed: a.missed[label] || b.missed[label],
		}
		pair.Measures(q.Metric, p.Metric)
		c.Pairs = append(c.Pairs, pair)
	}
	for _, q := range b.points {
		if before[stats.Label(q.Parameters)] == nil {
			c.Unpaired = append(c.Unpaired, UnpairedPoint{variant, q.Parameters})
		}
	}
	if len(c.Pairs) == first {
		return fmt.Errorf("%s and %s: %w", baseline, variant, errNothingInCommon)
	}
	return nil
}

func byLabel(points []stats.Point) map[string]*stats.Point {
	at := map[string]*stats.Point{}
	for i := range points {
		at[stats.Label(points[i].Parameters)] = &points[i]
	}
	return at
}
