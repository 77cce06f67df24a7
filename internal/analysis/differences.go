// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/plan"
)

// OtherVariables are the server variables of a variant and the baseline that no setting requests.
type OtherVariables struct {
	// Differ are 12 of the Differing ones, those first that both servers have; Same is how many are identical.
	Differ    []plan.Difference `json:"differ,omitempty"`
	Differing int               `json:"differing"`
	Same      int               `json:"same"`
	// OnlyBaseline and OnlyVariant are how many exist in one engine only; the engines are empty if there are none.
	OnlyBaseline   int    `json:"onlyBaseline,omitempty"`
	OnlyVariant    int    `json:"onlyVariant,omitempty"`
	BaselineEngine string `json:"baselineEngine,omitempty"`
	VariantEngine  string `json:"variantEngine,omitempty"`
}

// otherVariables of a variant; nil if they are not known yet.
func otherVariables(p *ComparisonPlan, runs *ComparisonRuns, variant int) *OtherVariables {
	u := variableDifferences(p, runs, variant)
	if u == nil {
		return nil
	}
	o := &OtherVariables{
		Differ: u.Differ[:min(len(u.Differ), maxOthers)], Differing: len(u.Differ), Same: u.Same, OnlyBaseline: u.OnlyTheirs,
		OnlyVariant: u.OnlyOurs,
	}
	if o.OnlyBaseline+o.OnlyVariant > 0 {
		o.BaselineEngine = string(p.Variants[p.Baseline].Run.Spec.Database.Engine)
		o.VariantEngine = string(p.Variants[variant].Run.Spec.Database.Engine)
	}
	return o
}

// String says it in a part of a sentence of bounded length; empty if nothing is known.
func (o *OtherVariables) String() string {
	if o == nil {
		return ""
	}
	onlyOne := "" // before the list, whose end may be cut off
	if o.OnlyBaseline+o.OnlyVariant > 0 {
		onlyOne = fmt.Sprintf(" (%d more exist in %s only, %d in %s only)", o.OnlyBaseline, o.BaselineEngine, o.OnlyVariant,
			o.VariantEngine)
	}
	if o.Differing == 0 {
		return fmt.Sprintf("the other %d variables are identical%s", o.Same, onlyOne)
	}
	verb := "differ"
	if o.Differing == 1 {
		verb = "differs"
	}
	return fmt.Sprintf("%d of the other %d variables %s%s: %s", o.Differing, o.Differing+o.Same, verb, onlyOne, o.named())
}

// named are the variables that differ, with values of bounded length.
func (o *OtherVariables) named() string {
	var shown []string
	for _, d := range o.Differ {
		short := shortValues([]*string{&d.From, &d.To})
		shown = append(shown, fmt.Sprintf("%s (%s → %s)", d.Name, short[0], short[1]))
	}
	if more := o.Differing - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more: `kubectl benchrun report -o variables` has all", more))
	}
	return strings.Join(shown, ", ")
}

// maxOthers is how many variables are named that differ although no setting requests it: two versions of a server differ in
// dozens.
const maxOthers = 12
