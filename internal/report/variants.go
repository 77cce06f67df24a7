// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge"
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
