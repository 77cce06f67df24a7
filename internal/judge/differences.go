// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/benchrun-dev/benchrun/internal/plan"
)

// OtherVariables are the server variables of a variant and the baseline that no setting requests. Differ are 12 of the Differing
// ones, those first that both servers have.
type OtherVariables plan.Unrequested

// otherVariables of a variant; nil if they are not known yet.
func (c *Compared) otherVariables(variant int) *OtherVariables {
	u := c.variableDifferences(variant)
	if u == nil {
		return nil
	}
	u.Differ = u.Differ[:min(len(u.Differ), maxOthers)]
	return (*OtherVariables)(u)
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

// maxOthers is how many variables are named that differ without being requested: two versions of a server differ in dozens.
const maxOthers = 12

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
func (c *Compared) ServerVariables() []ServerVariable {
	names := sets.New[string]()
	for i := range c.Variants {
		if u := c.variableDifferences(i); u != nil {
			for _, d := range u.Differ {
				names.Insert(d.Name)
			}
		}
	}
	var changed, lacked []ServerVariable
	for _, name := range sets.List(names) {
		v := ServerVariable{Name: name}
		for i := range c.Variants {
			v.Values = append(v.Values, variableOf(c.Variants[i].Variables, name))
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
func (c *Compared) variableDifferences(variant int) *plan.Unrequested {
	v, baseline := &c.Variants[variant], &c.Variants[c.Baseline]
	if variant == c.Baseline || v.Variables == nil || baseline.Variables == nil {
		return nil
	}
	u, err := plan.UnrequestedDifferences(&baseline.Run.Spec, &v.Run.Spec, baseline.Variables, v.Variables)
	if err != nil { // an engine that is not known has no plan either
		return nil
	}
	return &u
}

// maxValue is the length of a value for people: some variables are lists of hundreds of characters.
const maxValue = 60

// shortValues are those of a variable for people: of long lists, such as optimizer_switch, what is not in all. "?" is not known.
func shortValues(values []*string) []string {
	var common sets.Set[string]
	if slices.ContainsFunc(values, func(v *string) bool { return v != nil && utf8.RuneCountInString(*v) > maxValue }) {
		common = commonItems(values)
	}
	var list []string
	for _, value := range values {
		switch {
		case value == nil:
			list = append(list, "?")
		case *value == "":
			list = append(list, `""`)
		default:
			list = append(list, shortValue(*value, common))
		}
	}
	return list
}

// shortValue leaves items out of a long list, and what is too long after that.
func shortValue(value string, without sets.Set[string]) string {
	const more = "…"
	items := strings.Split(value, ",")
	if own := slices.DeleteFunc(slices.Clone(items), without.Has); len(own) < len(items) {
		value = strings.Join(append([]string{more}, own...), ",")
	}
	if r := []rune(value); len(r) > maxValue {
		value = string(r[:maxValue-1]) + more
	}
	return value
}

// commonItems are those that stand in the lists of all servers that have the variable; none of one server.
func commonItems(values []*string) sets.Set[string] {
	var common sets.Set[string]
	servers := 0
	for _, value := range values {
		if value == nil || *value == plan.Unset {
			continue
		}
		servers++
		items := sets.New(strings.Split(*value, ",")...)
		if servers > 1 {
			items = common.Intersection(items)
		}
		common = items
	}
	if servers < 2 {
		return nil
	}
	return common
}
