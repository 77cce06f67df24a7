// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// AllPoints is what a row about all points of a variant is called.
const AllPoints = "all points"

// RatioOfRounds says what ratios of values that were measured in rounds are.
const RatioOfRounds = "geometric mean of rounds"

// PairName is the variant and the point of a pair.
func PairName(p *stats.Paired) string {
	if place := PlaceName(p); place != "" {
		return p.Variant + ", " + place
	}
	return p.Variant
}

// PlaceName is the point of a pair, or that it is all of them; empty if there is only one.
func PlaceName(p *stats.Paired) string {
	if p.Points > 1 {
		return AllPoints
	}
	return stats.Label(p.Parameters)
}

// PairsTable has a row for each pair of the run; nil if there is none.
func (r *Report) PairsTable() *Table {
	if len(r.Pairs) == 0 {
		return nil
	}
	return pairsTable(r.Overall, ChangedFirst(r.Pairs), true)
}

// pairsTable has a row for each pair: its point, both medians, the ratio with its interval, and the verdict. The first rows are
// those about all points of a variant. With several variants, each row names its own.
func pairsTable(overall, pairs []stats.Paired, variants bool) *Table {
	first, all := &pairs[0], slices.Concat(overall, pairs)
	t := tableOf("Every pair", len(all))
	t.Sorted = len(pairs) > 2
	variant := Column{Text: "variant", Unit: first.Metric.Unit, Plain: first.Variant, Number: true}
	if variants {
		variant.Plain = ""
		t.addText("variant", func(i int) string {
			if i < len(overall) {
				return PairName(&all[i])
			}
			return all[i].Variant
		})
	}
	t.addParameters(stats.NamesOf(pointsOf(pairs)), pointsOf(all))
	for i := range overall {
		if !variants {
			t.Rows[i].Cells[0] = Words(AllPoints)
		}
	}
	t.add(inUnit(first.Metric.Unit, first.Baseline), func(i int) Cell { return medianOf(&all[i], all[i].BaselineValues) })
	t.add(variant, func(i int) Cell { return medianOf(&all[i], all[i].Values) })
	t.add(Column{Text: "worst", Unit: "of the median", Number: true, Wide: true}, func(i int) Cell { return worstCell(&all[i]) })
	ratio := inUnit(RatioOfRounds, "ratio")
	if first.Separate {
		ratio.Unit = "median of all pairs of values"
	}
	ratio.Plain = "ratio (" + ratio.Unit + ")"
	alike := !slices.ContainsFunc(all, func(p stats.Paired) bool { return p.Rounds != all[0].Rounds })
	for n, head := range []Column{ratio, inUnit("", "interval"), {Text: "rounds", Number: true, Wide: alike}, {Text: "verdict"}} {
		t.add(head, func(i int) Cell { return judgedCells(&all[i])[n] })
	}
	return t
}

// pointsOf pairs; nil of those about all points.
func pointsOf(pairs []stats.Paired) []map[string]string {
	var list []map[string]string
	for i := range pairs {
		list = append(list, pairs[i].Parameters)
	}
	return list
}

// medianOf values of a pair, of which there are none about all points.
func medianOf(p *stats.Paired, values []float64) Cell {
	if p.Points > 1 {
		return None()
	}
	return MedianCell(values)
}

func worstCell(p *stats.Paired) Cell {
	if len(p.BaselineValues) == 0 || len(p.Values) == 0 {
		return None()
	}
	baseline, variant := p.Worst()
	return Cell{Text: fmt.Sprintf("%.2f, %.2f", baseline, variant), Value: exact(variant), Number: true}
}

// judgedCells are the ratio of a pair, its interval, its rounds, and the verdict. In texts, differences stand out.
func judgedCells(p *stats.Paired) []Cell {
	ratio, span := None(), None()
	if p.Bounded() {
		ratio = numberCell(p.Ratio, func(number func(float64) string) string { return digits(p.Ratio, number) })
		span = numberCell(p.Low, func(number func(float64) string) string {
			return digits(p.Low, number) + "–" + digits(p.High, number)
		})
	}
	verdict := Cell{Text: verdictWords(p), Class: strings.ToLower(string(p.Verdict))}
	if p.Verdict == stats.Faster || p.Verdict == stats.Slower {
		verdict.Plain = "**" + verdict.Text + "**"
	}
	return []Cell{ratio, span, Whole(p.Rounds), verdict}
}

func verdictWords(p *stats.Paired) string {
	switch p.Verdict {
	case stats.Faster, stats.Slower:
		if p.Metric.Better != "higher" {
			return p.Change()
		}
	case stats.Equal:
		return fmt.Sprintf("equal within %d%%", p.EquivalencePercent)
	case stats.NoDifferenceShown, stats.CannotSay:
	}
	return stats.Words(p.Verdict)
}

// ratioText is a ratio with its interval, if it has one, with large numbers that are written by a function.
func ratioText(r stats.Ratio, number func(float64) string) string {
	switch {
	case math.IsNaN(r.Value) || math.IsInf(r.Value, 0):
		return ""
	case r.Low == r.High || !r.Bounded():
		return digits(r.Value, number)
	}
	return fmt.Sprintf("%s (%s–%s)", digits(r.Value, number), digits(r.Low, number), digits(r.High, number))
}

// digits of a ratio: two decimals, or four digits where these would be too many or too few.
func digits(v float64, number func(float64) string) string {
	if v >= 100 || v < 0.1 {
		return number(v)
	}
	return fmt.Sprintf("%.2f", v)
}

// ChangedFirst sorts pairs: differences, the largest first, then what is equal, then what has no answer.
func ChangedFirst(pairs []stats.Paired) []stats.Paired {
	rank := map[stats.Verdict]int{stats.Equal: 1, stats.NoDifferenceShown: 2, stats.CannotSay: 3}
	return slices.SortedStableFunc(slices.Values(pairs), func(a, b stats.Paired) int {
		if c := cmp.Compare(rank[a.Verdict], rank[b.Verdict]); c != 0 || rank[a.Verdict] > 0 {
			return c
		}
		return cmp.Compare(math.Abs(math.Log(b.Ratio)), math.Abs(math.Log(a.Ratio)))
	})
}

// maxExplained is the number of pairs whose costs are listed.
const maxExplained = 8

// CostsTable has what a unit of work takes, of the pairs with the largest differences; nil if nothing is known.
func (r *Report) CostsTable() *Table {
	pairs := slices.DeleteFunc(ChangedFirst(r.Pairs), func(p stats.Paired) bool {
		return len(p.Costs) == 0 || p.Verdict != stats.Faster && p.Verdict != stats.Slower
	})
	if len(pairs) == 0 {
		return nil
	}
	head := append(Texts("pair", "cost", "unit"), inUnit("", "baseline"), inUnit("", "variant"), inUnit("", "ratio"))
	t := &Table{Name: "Cost of a unit of work", Head: head}
	for i := range pairs[:min(len(pairs), maxExplained)] {
		for _, c := range pairs[i].Costs {
			times := None()
			if c.Baseline > 0 {
				ratio := c.Variant / c.Baseline
				times = Cell{Text: fmt.Sprintf("%.2g", ratio), Value: exact(ratio), Number: true}
			}
			t.Rows = append(t.Rows, Row{Cells: []Cell{
				Words(PairName(&pairs[i])), Words(c.Name), Words(c.Unit), AmountCell(c.Baseline), AmountCell(c.Variant), times,
			}})
		}
	}
	return t
}

// MatrixTable has a row for each point of a run with variants, in the order of the sweep, and a column for each variant that is
// compared with the baseline, with its ratio; the first row is about all points together, if there are several. Nil without any.
func (r *Report) MatrixTable() *Table {
	if len(r.Pairs) == 0 {
		return nil
	}
	first := &r.Pairs[0]
	var rows []stats.Paired // the first of each point
	cells := map[string]map[string]Cell{}
	key := func(p *stats.Paired) string { return fmt.Sprint(p.Points > 1, stats.Label(p.Parameters)) }
	for _, p := range slices.Concat(r.Overall, r.Pairs) {
		if cells[key(&p)] == nil {
			rows, cells[key(&p)] = append(rows, p), map[string]Cell{}
		}
		cells[key(&p)][p.Variant] = matrixCell(&p)
	}
	t := tableOf("Ratios to "+first.Baseline, len(rows))
	t.Sorted = true
	t.addParameters(r.Parameters(), pointsOf(rows))
	unit := cmp.Or(first.BaselineMetric, &first.Metric).Unit
	t.add(inUnit(unit, first.Baseline), func(i int) Cell { return medianOf(&rows[i], rows[i].BaselineValues) })
	if len(r.Overall) > 0 {
		t.Rows[0].Cells[0] = Words(AllPoints)
	}
	for _, v := range r.Variants {
		if v.Name != first.Baseline {
			t.add(inUnit("", v.Name), func(i int) Cell {
				if c, known := cells[key(&rows[i])][v.Name]; known {
					return c
				}
				return None()
			})
		}
	}
	return t
}

// Marks of verdicts behind a ratio.
var marks = map[stats.Verdict]string{
	stats.Faster: "+", stats.Slower: "-", stats.Equal: "=", stats.NoDifferenceShown: "?", stats.CannotSay: "?",
}

// matrixCell is the ratio of a pair. What it is sorted by, its interval, its verdict and what a unit of work cost are behind it.
func matrixCell(p *stats.Paired) Cell {
	judged := judgedCells(p)
	c := judged[0]
	c.Plain = strings.TrimSpace(c.Plain + " " + marks[p.Verdict])
	c.Class, c.Title = judged[3].Class, judged[3].Text
	if c.Text == "" {
		c.Text = "?"
		return c
	}
	c.Title = fmt.Sprintf("%s, %s (rounds: %d)", judged[1].Plain, c.Title, p.Rounds)
	for _, of := range p.Costs {
		c.Title += fmt.Sprintf("\n%s: %s → %s %s", of.Name, stats.Format(of.Baseline), stats.Format(of.Variant), of.Unit)
	}
	return c
}

// MatrixText writes the ratios of all variants to the baseline for a terminal.
func MatrixText(w io.Writer, r *Report) error {
	t := r.MatrixTable()
	if t == nil {
		return textForm.write(w, r.headline(), []block{paragraphs("There are no pairs of values.")})
	}
	m := cmp.Or(r.Pairs[0].BaselineMetric, &r.Pairs[0].Metric)
	reading := fmt.Sprintf("%s: medians in %s (%s is better). The others: ratios to it (%s), with their verdicts: "+
		"+ faster, - slower, = equal, ? cannot say.", r.Pairs[0].Baseline, m.Unit, m.Better, RatioOfRounds)
	return textForm.write(w, r.headline(), []block{{rows: t.Texts(), lines: []string{reading}}})
}

// VariablesTable has the server variables that differ without being asked for, a column for each variant; nil if none are known.
func (r *Report) VariablesTable() *Table {
	if len(r.Variables) == 0 {
		return nil
	}
	t := &Table{Name: "Server variables that differ without being asked for", Sorted: true, Head: Texts("variable")}
	for i := range r.Variants {
		t.Head = append(t.Head, Texts(r.Variants[i].Name)...)
	}
	for _, v := range r.Variables {
		cells := []Cell{Words(v.Name)}
		for n, text := range v.Short() {
			c := Words(text)
			if whole := v.Values[n]; whole != nil && *whole != text {
				c.Title = *whole
			}
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	return t
}

// VariablesText writes the server variables that differ without being asked for, for a terminal.
func VariablesText(w io.Writer, r *Report) error {
	t := r.VariablesTable()
	if t == nil {
		return textForm.write(w, r.headline(), []block{paragraphs("No server variable is known to differ without being asked for.")})
	}
	reading := fmt.Sprintf("Server variables that differ from those of %s without being asked for: first those that several "+
		"servers have, then those that are %s in some.", r.Baseline(), plan.Unset)
	return textForm.write(w, r.headline(), []block{{rows: t.Texts(), lines: []string{reading}}})
}
