// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/plan"
)

// ServerVariable is a server variable that differs between a variant and the baseline although no setting requests it.
type ServerVariable struct {
	Name string `json:"name"`
	// Values of the variants, in their order; plan.Unset is one, too. Nil is that of a variant of whose server nothing is known.
	Values []*string `json:"values"`
}

// changed says whether servers that have the variable have different values of it. The others differ in that they have it.
func (v *ServerVariable) changed() bool {
	seen := map[string]bool{}
	for _, value := range v.Values {
		if value != nil && *value != plan.Unset {
			seen[*value] = true
		}
	}
	return len(seen) > 1
}

// Short are the values for people: of long lists what is not the same in all; "?" is not known.
func (v *ServerVariable) Short() []string { return shortValues(v.Values) }

// ServerVariables are all of them: first those that have changed, then those that some servers lack, by their names.
func ServerVariables(p *ComparisonPlan, runs *ComparisonRuns) []ServerVariable {
	names := map[string]bool{}
	for i := range p.Variants {
		if u := variableDifferences(p, runs, i); u != nil {
			for _, d := range u.Differ {
				names[d.Name] = true
			}
		}
	}
	var changed, lacked []ServerVariable
	for _, name := range slices.Sorted(maps.Keys(names)) {
		v := ServerVariable{Name: name}
		for i := range p.Variants {
			v.Values = append(v.Values, variableOf(runs.Variables[i], name))
		}
		if v.changed() {
			changed = append(changed, v)
		} else {
			lacked = append(lacked, v)
		}
	}
	return append(changed, lacked...)
}

// variableOf is the value of a variable that may have another name in each of two engines.
func variableOf(variables map[string]string, name string) *string {
	if variables == nil {
		return nil
	}
	value := plan.Unset
	for one := range strings.SplitSeq(name, plan.OrName) {
		if v, found := variables[one]; found {
			value = v
		}
	}
	return &value
}

// variableDifferences say how the variables of a variant differ from the baseline's; nil if that is not known.
func variableDifferences(p *ComparisonPlan, runs *ComparisonRuns, variant int) *plan.Unrequested {
	if variant == p.Baseline || len(runs.Variables) == 0 || runs.Variables[variant] == nil || runs.Variables[p.Baseline] == nil {
		return nil
	}
	u, err := plan.UnrequestedDifferences(&p.Variants[p.Baseline].Run.Spec, &p.Variants[variant].Run.Spec,
		runs.Variables[p.Baseline], runs.Variables[variant])
	if err != nil { // an engine that is not known has no plan either
		return nil
	}
	return &u
}
