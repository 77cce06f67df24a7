// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// block is a part of a report that people read, in the order in which it is shown: a title, a table and lines. The first
// row of the table is its header; the lines are a list or paragraphs. Words between ** are emphasized, as in Markdown.
type block struct {
	title string
	rows  [][]string
	lines []string
	// list says that the lines are one.
	list bool
}

// paragraphs is a block of the lines that are not empty.
func paragraphs(lines ...string) block {
	return block{lines: slices.DeleteFunc(lines, func(l string) bool { return l == "" })}
}

func listed(title string, lines []string) block { return block{title: title, lines: lines, list: true} }

// headline is the answer of a run in a line: its name, how it ended if it has not completed, and what was measured.
func (r *Report) headline() string {
	name := r.Heading()
	if r.Outcome != v1alpha1.ConditionComplete && r.Outcome != "" {
		name += " (" + strings.ToLower(r.Outcome) + ")"
	}
	if r.HasVariants() {
		return name + ": " + r.Answer()
	}
	return name + ": " + cmp.Or(stats.Headline(r.Answering()), "nothing was measured")
}

// Heading is the title of a run with its name, or its name.
func (r *Run) Heading() string {
	if r.Title == "" {
		return r.Name
	}
	return r.Title + " (" + r.Name + ")"
}

// state says how much was measured, and how the run ended.
func (r *Report) state() string {
	text := fmt.Sprintf("%s, %d of %d trials measured, seed %d: %s", r.Workload, len(r.Accepted()), r.Planned, r.Seed, r.Outcome)
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// blocks of a run's report: how much was measured, a table of the points in the order of the sweep, what must be read
// with the numbers, and where they were measured.
func (r *Report) blocks() []block {
	if r.HasVariants() {
		return r.pairBlocks()
	}
	list := []block{paragraphs(r.state())}
	if t, notes := r.PointsTable(); t != nil {
		list = append(list, block{rows: t.Texts(), lines: notes}, paragraphs(r.Ranks()))
	}
	if t := r.PartsTable(); t != nil {
		list = append(list, block{title: t.Name + ", " + t.Head[len(t.Head)-1].Unit, rows: t.Texts()})
	}
	return append(
		append(list, tableBlocks(r.RequestedTables())...),
		listed("Claims", claimLines(r.Claims)),
		listed("Warnings", r.AllWarnings()),
		listed("Discarded attempts", r.Discarded()),
		r.environmentBlock(),
	)
}

// environmentBlock has a line for each row of the table.
func (r *Report) environmentBlock() block {
	var lines []string
	if t := r.Environment(); t != nil {
		for _, row := range t.Rows {
			lines = append(lines, row.Cells[0].Text+": "+row.Cells[1].Text)
		}
	}
	return listed("Environment", lines)
}

func tableBlocks(tables []RequestedTable) []block {
	var list []block
	for i := range tables {
		of := paragraphs(tables[i].Remark())
		if of.title = tables[i].Name; len(tables[i].Rows) > 0 {
			of.rows = tables[i].Texts()
		}
		list = append(list, of)
	}
	return list
}

// Answer of all pairs, as a part of a sentence.
func (r *Report) Answer() string { return r.answer().Text }

// Sentence is the answer with a capital letter, unless it begins with a name.
func (r *Report) Sentence() string { return r.answer().Sentence() }

func (r *Report) answer() stats.Answer {
	return cmp.Or(stats.AnswerOf(titled(r.Overall, r.titles()), titled(r.Pairs, r.titles())), stats.Answer{Text: "cannot say"})
}

// pairBlocks are those of a run with variants: a table of the pairs, why the run stopped, what the variants differ in, and what
// must be read with the answer.
func (r *Report) pairBlocks() []block {
	var list []block
	for _, baseline := range r.Variants {
		for _, v := range r.Variants {
			if pairs := r.Of(v.Name); baseline.Baseline && len(pairs) > 0 {
				overall := slices.DeleteFunc(slices.Clone(r.Overall), func(o stats.Paired) bool { return o.Variant != v.Name })
				rows := pairsTable(overall, pairs, false).Texts()
				list = append(list, block{title: v.Called() + ", compared with " + baseline.Called(), rows: rows})
			}
		}
	}
	list = append(list, paragraphs(fmt.Sprintf("%s, %s, %d of at most %d rounds, %s, seed %d: %s.", r.Workload, r.Outcome,
		r.Rounds, r.Planned, r.Paired(), r.Seed, r.Message), r.Reading()))
	list = append(append(list, tableBlocks(r.RequestedTables())...), listed("Claims", claimLines(r.Claims)))
	if t := r.CostsTable(); t != nil {
		list = append(list, block{title: t.Name, rows: t.Texts()})
	}
	return append(
		list,
		listed("How the variants differ", r.differences()),
		listed("Pairs without an answer", r.Undecided()),
		listed("Warnings", r.AllWarnings()),
		listed("Discarded", r.Discarded()),
		r.environmentBlock(),
	)
}

// confidence says what the intervals of a comparison are.
func (r *Report) confidence() string {
	switch {
	case len(r.Overall) > 0:
		return "95% confidence across all pairs and all points together, adjusted for early stopping"
	case len(r.Pairs) == 1:
		return "95% confidence, adjusted for early stopping"
	}
	return "95% confidence across all pairs, adjusted for early stopping"
}
