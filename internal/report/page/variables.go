// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"slices"

	"github.com/benchrun-dev/benchrun/internal/report"
)

// variables that differ without being asked for, a column for each variant; nil if none are known.
func variables(s *report.Comparison) *table {
	if len(s.Variables) == 0 {
		return nil
	}
	t := &table{Name: "Server variables that differ without being asked for", Sorted: true, Head: texts("variable")}
	for i := range s.Variants {
		t.Head = slices.Concat(t.Head, texts(s.Variants[i].Name))
	}
	for i := range s.Variables {
		v := &s.Variables[i]
		cells := []cell{words(v.Name)}
		for n, text := range v.Short() {
			c := words(text)
			if whole := v.Values[n]; whole != nil && *whole != text {
				c.Title = *whole
			}
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}
