// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/plan"
)

// Unrequested are the server variables of a variant that differ from the baseline's without being asked for.
type Unrequested struct {
	// Count is how many there are.
	Count int
	// Text names them, or says that there is none; it is empty if they are not known yet.
	Text string
}

// unrequestedOf a variant.
func unrequestedOf(p *ComparisonPlan, runs *ComparisonRuns, variant int) Unrequested {
	if len(runs.Variables) == 0 || runs.Variables[variant] == nil || runs.Variables[p.Baseline] == nil {
		return Unrequested{}
	}
	baseline, v := p.Variants[p.Baseline].Run, p.Variants[variant].Run
	u, err := plan.UnrequestedDifferences(&baseline.Spec, &v.Spec, runs.Variables[p.Baseline], runs.Variables[variant])
	if err != nil { // an engine that is not known has no plan either
		return Unrequested{}
	}
	onlyOne := "" // before the list, whose end may be cut off
	if u.OnlyTheirs+u.OnlyOurs > 0 {
		onlyOne = fmt.Sprintf(" (%d more exist in %s only, %d in %s only)", u.OnlyTheirs, baseline.Spec.Database.Engine, u.OnlyOurs,
			v.Spec.Database.Engine)
	}
	if len(u.Differ) == 0 {
		return Unrequested{Text: fmt.Sprintf("none of %d other server variables differs%s", u.Same, onlyOne)}
	}
	return Unrequested{len(u.Differ), fmt.Sprintf("%d of %d other server variables differ without being asked for%s: %s",
		len(u.Differ), len(u.Differ)+u.Same, onlyOne, someOf(u.Differ))}
}

// someOf a list of differences, as a text of bounded length.
func someOf(list []plan.Difference) string {
	var shown []string
	for _, d := range list[:min(len(list), maxBesides)] {
		text := d.String()
		if r := []rune(text); len(r) > maxDifference {
			text = string(r[:maxDifference]) + "…"
		}
		shown = append(shown, text)
	}
	if more := len(list) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more: the documents of the attempts have all variables", more))
	}
	return strings.Join(shown, ", ")
}

// maxBesides is how many variables that differ without being asked for are named, and maxDifference the length of what is said of
// one: two versions of a server differ in dozens, some of which are lists.
const maxBesides, maxDifference = 12, 80
