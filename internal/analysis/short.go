// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/benchrun-dev/benchrun/internal/plan"
)

// maxValue is the length of a value for people: some variables are lists of hundreds of characters.
const maxValue = 60

// shortValues are those of a variable for people: of long lists, such as optimizer_switch, what is not the same in all. A value
// that is not known is "?".
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
