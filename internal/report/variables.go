// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/plan"
)

// maxVariable is the length of a value in a table for people: some variables are lists of hundreds of characters.
const maxVariable = 40

// ComparisonVariables writes the server variables that differ without being asked for, for a terminal: a row for each, a column
// for each variant.
func ComparisonVariables(w io.Writer, s *Comparison) error {
	rows := [][]string{s.variablesHead()}
	for i := range s.Variables {
		v := &s.Variables[i]
		rows = append(rows, append([]string{v.Name}, ShortVariables(v.Values)...))
	}
	if len(rows) == 1 {
		return writeText(w, s.headline(), []block{paragraphs("No server variable is known to differ without being asked for.")})
	}
	reading := fmt.Sprintf("Server variables that differ from those of %s without being asked for: first those that several "+
		"servers have, then those that are %s in some. Whole values: -o variables-csv.", s.Baseline(), plan.Unset)
	return writeText(w, s.headline(), []block{{rows: rows, lines: []string{reading}}})
}

func (s *Comparison) variablesHead() []string {
	head := []string{"variable"}
	for i := range s.Variants {
		head = append(head, s.Variants[i].Name)
	}
	return head
}

// ShortVariables are the values of a variable for people: of long lists, such as optimizer_switch, what is not the same in all. A
// value that is not known is "?".
func ShortVariables(values []*string) []string {
	var common map[string]int
	if slices.ContainsFunc(values, func(v *string) bool { return v != nil && utf8.RuneCountInString(*v) > maxVariable }) {
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
			list = append(list, shortVariable(*value, common))
		}
	}
	return list
}

// shortVariable leaves items out of a long list, and what is too long after that.
func shortVariable(value string, without map[string]int) string {
	const more = "…"
	items := strings.Split(value, ",")
	if own := slices.DeleteFunc(slices.Clone(items), func(item string) bool { return without[item] > 0 }); len(own) < len(items) {
		value = strings.Join(append([]string{more}, own...), ",")
	}
	if r := []rune(value); len(r) > maxVariable {
		value = string(r[:maxVariable-1]) + more
	}
	return value
}

// commonItems are those that stand in the lists of all servers that have the variable, and with how many; none of one server.
func commonItems(values []*string) map[string]int {
	counts, servers := map[string]int{}, 0
	for _, value := range values {
		if value == nil || *value == plan.Unset {
			continue
		}
		servers++
		items := strings.Split(*value, ",")
		slices.Sort(items)
		for _, item := range slices.Compact(items) {
			counts[item]++
		}
	}
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n < servers || servers < 2 })
	return counts
}

// ComparisonVariablesCSV writes the same as CSV, with whole values. What is not known is "?".
func ComparisonVariablesCSV(w io.Writer, s *Comparison) error {
	rows := [][]string{s.variablesHead()}
	for i := range s.Variables {
		v := &s.Variables[i]
		cells := []string{v.Name}
		for _, value := range v.Values {
			text := "?"
			if value != nil {
				text = *value
			}
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	return writeCSV(w, rows)
}
