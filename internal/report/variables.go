// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"

	"github.com/benchrun-dev/benchrun/internal/plan"
)

// ComparisonVariables writes the server variables that differ without being asked for, for a terminal: a row for each, a column
// for each variant.
func ComparisonVariables(w io.Writer, s *Comparison) error {
	rows := [][]string{s.variablesHead()}
	for i := range s.Variables {
		v := &s.Variables[i]
		rows = append(rows, append([]string{v.Name}, v.Short()...))
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
