// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Variation is what a report says of variants; nothing, of a run without.
type Variation struct {
	// Alternation is what took turns, and TrialsPerRound how often each point was measured in a round.
	Alternation    v1alpha1.Alternation `json:"alternation,omitempty"`
	TrialsPerRound int                  `json:"trialsPerRound,omitempty"`
	// Rounds in which all was measured that they need.
	Rounds   int       `json:"rounds,omitempty"`
	Variants []Variant `json:"variants,omitempty"`
	// Variables of the servers that differ without being asked for, with the values of all variants.
	Variables []judge.ServerVariable `json:"variables,omitempty"`
}

// Paired says how the values of a round were measured next to each other.
func (r *Report) Paired() string {
	switch r.Alternation {
	case v1alpha1.AlternateSlices:
		return fmt.Sprintf("paired, in slices of %g s (trials per round: %d)", float64(plan.SliceMilliseconds)/1000, r.TrialsPerRound)
	case v1alpha1.AlternateTrials:
		return fmt.Sprintf("paired, alternating trials (%d per round)", r.TrialsPerRound)
	case v1alpha1.AlternateRuns, v1alpha1.AlternateAutomatic:
	}
	return "paired"
}

// Variant is a variant of a run.
type Variant struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	// Baseline: the others are compared with it.
	Baseline bool `json:"baseline,omitempty"`
	// Differences from the baseline in what is asked for.
	Differences []plan.Difference `json:"differences,omitempty"`
	// Volume says on what the data was; empty if that is not known.
	Volume string `json:"volume,omitempty"`
	// OtherVariables say which server variables differ from the baseline's without being asked for; nil if that is not known.
	OtherVariables *judge.OtherVariables `json:"otherVariables,omitempty"`
	// SpecDigest is the same for runs that ask for the same.
	SpecDigest string `json:"specDigest"`
}

// Requested are the differences from the baseline for people.
func (v *Variant) Requested() []string {
	var list []string
	for _, d := range v.Differences {
		list = append(list, d.String())
	}
	return list
}

// compare adds what a comparison of the variants says.
func (r *Report) compare(c *judge.Compared) error {
	spec := &c.Run.Spec
	r.Planned, r.Findings, r.Claims = int(plan.Rounds(spec).AtMost), c.Warnings, c.Claims
	r.Pairs, r.Overall, r.Records = c.Pairs, c.Overall, withoutHistograms(r.Records)
	r.Variation = Variation{
		Alternation: c.Alternation, TrialsPerRound: int(plan.TrialsPerRound(spec)), Rounds: c.Rounds, Variables: c.ServerVariables(),
	}
	for i := range c.Variants {
		v := &c.Variants[i]
		digest, err := plan.Digest(&v.Run.Spec)
		if err != nil {
			return err
		}
		r.Variants = append(r.Variants, Variant{
			Name: v.Name, Title: spec.Variants[i].Title, Baseline: i == c.Baseline, Differences: v.Differences,
			OtherVariables: v.Others, SpecDigest: digest, Volume: judge.VolumeText(v.Volume),
		})
	}
	return nil
}

// ServerSettings are the settings that were asked of a variant's server, beside what it made of them.
type ServerSettings struct {
	// Variant is empty without variants.
	Variant  string                  `json:"variant,omitempty"`
	Settings []result.AppliedSetting `json:"settings"`
}

// AddSettings keeps the settings of each server in its first attempt that counts: one that has others later is a finding.
func (r *Report) AddSettings(record *result.Record, doc *result.Document) {
	if record.Outcome != result.OutcomeAccepted {
		return
	}
	sides := record.Sides
	if len(sides) == 0 {
		sides = []result.SideRecord{{}} // the server without a variant
	}
	for _, side := range sides {
		known := slices.ContainsFunc(r.Settings, func(s ServerSettings) bool { return s.Variant == side.Variant })
		if settings := doc.Side(side.Variant).Server.Settings; !known && len(settings) > 0 {
			r.Settings = append(r.Settings, ServerSettings{side.Variant, settings})
		}
	}
}

// SettingsTable has what was asked of each server, and what it made of that: of variants, the baseline's settings, and those in
// which the others differ from it; nil if it is not known.
func (r *Report) SettingsTable() *Table {
	var rows, baseline []result.AppliedSetting
	var variants []string
	for _, server := range r.Settings {
		if server.Variant == r.Baseline() {
			baseline = server.Settings
		}
	}
	for _, server := range r.Settings {
		for _, s := range server.Settings {
			if server.Variant == r.Baseline() || !slices.Contains(baseline, s) {
				rows, variants = append(rows, s), append(variants, server.Variant)
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	t := tableOf("Requested settings", len(rows))
	t.addText("variable", func(i int) string { return rows[i].Name })
	if r.HasVariants() {
		t.addText(variantLabel, func(i int) string { return variants[i] })
	}
	t.addText("requested", func(i int) string { return rows[i].Requested })
	t.addText("effective", func(i int) string { return rows[i].Effective })
	t.addText("outcome", func(i int) string { return string(rows[i].Outcome) })
	for i, s := range rows {
		if s.Outcome != result.SettingEffective {
			t.Rows[i].Class = "differs"
		}
	}
	return t
}

// Reading says what the numbers of the pairs are; empty if there are none.
func (r *Report) Reading() string {
	if len(r.Pairs) == 0 {
		return ""
	}
	m := r.Pairs[0].Metric
	text := fmt.Sprintf("Values are medians in %s (%s is better). "+
		"The ratio is the geometric mean of those of the rounds; its interval: %s.", m.Unit, m.Better, r.confidence())
	if len(r.Overall) > 0 {
		text += " Over all points, the ratio is the geometric mean of the ratios of the points."
	}
	return text + r.readingUsual()
}

// readingUsual says what so few rounds do not exclude; empty if none is so small that it matters. By the rule of three, n
// quiet rounds leave it possible that 3/n of a variant's trials stall; if these halve its rate, it loses half of that.
func (r *Report) readingUsual() string {
	fewest := math.MaxInt
	for _, p := range slices.Concat(r.Overall, r.Pairs) {
		if p.Answered() && p.Verdict != stats.Equal && math.Abs(p.Ratio-1) < 1.5/float64(p.Rounds) {
			fewest = min(fewest, p.Rounds)
		}
	}
	if fewest == math.MaxInt {
		return ""
	}
	return fmt.Sprintf(" %d rounds do not exclude stalls in up to %.0f%% of a variant's trials: a difference below %.0f%% is that "+
		"of usual rounds.", fewest, 300/float64(fewest), 150/float64(fewest))
}

// Baseline is the name of the variant that the others are compared with; empty if there is none.
func (r *Report) Baseline() string {
	for _, v := range r.Variants {
		if v.Baseline {
			return v.Name
		}
	}
	return ""
}

func (r *Report) titles() map[string]string {
	titles := map[string]string{}
	for _, v := range r.Variants {
		titles[v.Name] = v.Title
	}
	return titles
}

// titled are pairs for a headline: with the titles of variants that have one in place of their names.
func titled(pairs []stats.Paired, titles map[string]string) []stats.Paired {
	list := slices.Clone(pairs)
	for i, p := range list {
		list[i].Variant, list[i].Baseline = cmp.Or(titles[p.Variant], p.Variant), cmp.Or(titles[p.Baseline], p.Baseline)
	}
	return list
}

// Called is the variant's name, with its title if it has one.
func (v *Variant) Called() string {
	if v.Title == "" {
		return v.Name
	}
	return fmt.Sprintf("%s (%s)", v.Name, v.Title)
}

// Of are the pairs of a variant.
func (r *Report) Of(variant string) []stats.Paired {
	return slices.DeleteFunc(slices.Clone(r.Pairs), func(p stats.Paired) bool { return p.Variant != variant })
}

// Undecided are the pairs without an answer, in a sentence each. Those that differ only in their point and their numbers are one.
func (r *Report) Undecided() []string {
	var pairs []*stats.Paired
	for i := range r.Pairs {
		if p := &r.Pairs[i]; !p.Answered() {
			pairs = append(pairs, p)
		}
	}
	var list []string
	for _, u := range stats.MergeUnanswered(pairs) {
		var at []map[string]string
		for _, i := range u.From {
			at = append(at, pairs[i].Parameters)
		}
		list = append(list, where(at, len(r.Of(pairs[u.From[0]].Variant)))+u.String())
	}
	return list
}

// differences of the variants from the baseline, a line for each.
func (r *Report) differences() []string {
	var list []string
	for _, v := range r.Variants {
		if v.Baseline {
			continue
		}
		text := v.Name + ": nothing; same specification as the baseline"
		if len(v.Differences) > 0 {
			text = v.Name + ": " + strings.Join(v.Requested(), ", ") + "; no other requested setting differs"
		}
		if besides := v.OtherVariables.String(); besides != "" {
			text += "; " + besides
		}
		list = append(list, text)
	}
	return append(list, Shared)
}

// Shared is what the variants have in common.
const Shared = "all variants of a round use the same seed and the same data"

// Discarded are attempts that do not count and, with variants, rounds in which not all of these were measured; a line for each.
func (r *Report) Discarded() []string {
	var list []string
	for _, d := range r.Records {
		if d.Outcome == result.OutcomeAccepted {
			continue
		}
		parts := []string{fmt.Sprintf("trial %d", d.Trial), fmt.Sprintf("attempt %d", d.Attempt)}
		for _, side := range d.Sides {
			parts = append(parts, side.Variant)
		}
		list = append(list, fmt.Sprintf("%s, %s%s: %s: %s", strings.Join(parts, ", "), label(d.Parameters), d.Outcome, d.Cause,
			d.Message))
	}
	if r.Outcome == Unfinished { // a round may still become whole
		return list
	}
	for _, p := range r.Points {
		if n := len(p.Rounds); r.HasVariants() && n > 0 && p.Rounds[n-1] > r.Rounds {
			list = append(list, fmt.Sprintf("round %d, %s: not every variant was measured in this round", p.Rounds[n-1], p.Name()))
		}
	}
	return list
}
