// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Matrix has a row for each point of a run with variants, and a column for each variant that is compared with the baseline.
type Matrix struct {
	Baseline   string
	Variants   []string
	Parameters []string
	// Metric is the baseline's; with other metrics, cells have no ratio.
	Metric result.Metric
	// Rows are in the order of the sweep. The first is about all points together, if there are several.
	Rows []MatrixRow
}

// MatrixRow is a point.
type MatrixRow struct {
	// Parameters of the point; nil of the row about all points.
	Parameters map[string]string
	// All says that the row is about all points together: it has no values of the baseline.
	All      bool
	Baseline []float64
	// Pairs are the cells, in the order of the variants; nil where nothing was measured.
	Pairs []*stats.Paired
}

// Matrix of the pairs; nil if there are none.
func (r *Report) Matrix() *Matrix {
	if len(r.Pairs) == 0 {
		return nil
	}
	m := &Matrix{Baseline: r.Pairs[0].Baseline, Parameters: r.Parameters(), Metric: r.Pairs[0].Metric}
	if base := r.Pairs[0].BaselineMetric; base != nil {
		m.Metric = *base
	}
	column := map[string]int{}
	for _, v := range r.Variants {
		if v.Name != m.Baseline {
			column[v.Name] = len(m.Variants)
			m.Variants = append(m.Variants, v.Name)
		}
	}
	rows := map[string]int{}
	add := func(key string, p *stats.Paired, row MatrixRow) {
		at, known := rows[key]
		if !known {
			at = len(m.Rows)
			rows[key] = at
			row.Pairs = make([]*stats.Paired, len(m.Variants))
			m.Rows = append(m.Rows, row)
		}
		m.Rows[at].Pairs[column[p.Variant]] = p
	}
	for i := range r.Overall {
		add(AllPoints, &r.Overall[i], MatrixRow{All: true})
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		add("at "+stats.Label(p.Parameters), p, MatrixRow{Parameters: p.Parameters, Baseline: p.BaselineValues})
	}
	return m
}

// Cells of a row before those of the variants: the parameters, or that it is about all points, and the baseline's median.
func (m *Matrix) cells(r *MatrixRow) []string {
	var list []string
	for i, name := range m.Parameters {
		text := r.Parameters[name]
		if r.All && i == 0 {
			text = AllPoints
		}
		list = append(list, text)
	}
	return append(list, median(r.Baseline))
}

// Marks of verdicts behind a ratio.
const (
	markBetter = "+"
	markWorse  = "-"
	markEqual  = "="
	markOpen   = "?"
)

func mark(p *stats.Paired) string {
	switch p.Verdict {
	case stats.Faster:
		return markBetter
	case stats.Slower:
		return markWorse
	case stats.Equal:
		return markEqual
	case stats.NoDifferenceShown, stats.CannotSay:
	}
	return markOpen
}

// MatrixText writes the ratios of all variants to the baseline for a terminal: a row for each point, a column for each
// variant.
func MatrixText(w io.Writer, r *Report) error {
	m := r.Matrix()
	if m == nil {
		return writeText(w, r.headline(), []block{paragraphs("There are no pairs of values.")})
	}
	rows := [][]string{append(append(append([]string(nil), m.Parameters...), m.Baseline), m.Variants...)}
	for i := range m.Rows {
		r := &m.Rows[i]
		cells := m.cells(r)
		for _, p := range r.Pairs {
			cells = append(cells, matrixCell(p))
		}
		rows = append(rows, cells)
	}
	reading := fmt.Sprintf("%s: medians in %s (%s is better). The others: ratios to it (%s), with their verdicts: "+
		"%s faster, %s slower, %s equal, %s no answer.",
		m.Baseline, m.Metric.Unit, m.Metric.Better, RatioOfRounds, markBetter, markWorse, markEqual, markOpen)
	return writeText(w, r.headline(), []block{{rows: rows, lines: []string{reading}}})
}

func matrixCell(p *stats.Paired) string {
	if p == nil {
		return ""
	}
	ratio, _ := PairTexts(p)
	return strings.TrimSpace(ratio + " " + mark(p))
}

// VariablesText writes the server variables that differ without being asked for, for a terminal: a row for each, a column
// for each variant.
func VariablesText(w io.Writer, r *Report) error {
	rows := [][]string{r.variablesHead()}
	for i := range r.Variables {
		v := &r.Variables[i]
		rows = append(rows, append([]string{v.Name}, v.Short()...))
	}
	if len(rows) == 1 {
		return writeText(w, r.headline(), []block{paragraphs("No server variable is known to differ without being asked for.")})
	}
	reading := fmt.Sprintf("Server variables that differ from those of %s without being asked for: first those that several "+
		"servers have, then those that are %s in some.", r.Baseline(), plan.Unset)
	return writeText(w, r.headline(), []block{{rows: rows, lines: []string{reading}}})
}

func (r *Report) variablesHead() []string {
	head := []string{"variable"}
	for i := range r.Variants {
		head = append(head, r.Variants[i].Name)
	}
	return head
}
