// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// matrix of a comparison with several points and, besides the baseline, several variants: a row for each point, a column for each
// variant, with the ratios to the baseline. Nil of another comparison, whose table of pairs says the same.
func matrix(s *report.Comparison) *table {
	m := s.Matrix()
	if m == nil || len(m.Variants) < 2 || len(m.Rows) < 2 {
		return nil
	}
	t := &table{
		Name: "Ratios to " + m.Baseline, Sorted: true,
		Head: slices.Concat(parameterHeads(m.Parameters, s.Pairs), inUnit(m.Metric.Unit, m.Baseline), numbers(m.Variants...)),
	}
	for i := range m.Rows {
		r := &m.Rows[i]
		var cells []cell
		for n, name := range m.Parameters {
			c := setting(r.Parameters[name])
			if r.All && n == 0 {
				c = words(report.AllPoints)
			}
			cells = append(cells, c)
		}
		cells = append(cells, medianCell(r.Baseline))
		for _, p := range r.Pairs {
			cells = append(cells, matrixCell(p))
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}

// matrixCell is the ratio of a pair. What it is sorted by, its interval, its verdict and what a unit of work cost are behind it.
func matrixCell(p *stats.Paired) cell {
	if p == nil {
		return none()
	}
	ratio, interval := report.PairTexts(p)
	c := cell{Text: ratio, Number: true, Class: strings.ToLower(string(p.Verdict)), Title: report.VerdictWords(p)}
	if ratio == "" {
		c.Text = "?"
		return c
	}
	c.Value = written(p.Ratio)
	c.Title = fmt.Sprintf("%s, %s (rounds: %d)", interval, c.Title, p.Rounds)
	for _, of := range p.Costs {
		c.Title += fmt.Sprintf("\n%s: %s → %s %s", of.Name, stats.Format(of.Baseline), stats.Format(of.Variant), of.Unit)
	}
	return c
}
