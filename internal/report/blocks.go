// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/stats"
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

// empty says whether there is nothing to print.
func (b *block) empty() bool { return len(b.rows) == 0 && len(b.lines) == 0 }

func listed(title string, lines []string) block { return block{title: title, lines: lines, list: true} }

// headline is the answer of a run in a line: its name, how it ended if it has not completed, and what was measured.
func (r *Report) headline() string {
	name := withOutcome(r.Run.Heading(), r.Run.Outcome)
	return name + ": " + cmp.Or(stats.Headline(r.Points), "nothing was measured")
}

// Heading is the title of a run with its name, or its name.
func (r *Run) Heading() string {
	if r.Title == "" {
		return r.Name
	}
	return r.Title + " (" + r.Name + ")"
}

// withOutcome is a name, and how it ended if it has not completed.
func withOutcome(name, outcome string) string {
	if outcome == v1alpha1.ConditionComplete || outcome == "" {
		return name
	}
	return name + " (" + strings.ToLower(outcome) + ")"
}

// state says how much was measured, and how the run ended.
func (r *Report) state() string {
	text := fmt.Sprintf("%s, %d of %d trials measured, seed %d: %s", r.Run.Workload, len(r.Accepted()), r.Run.Planned,
		r.Run.Seed, r.Run.Outcome)
	if r.Run.Message != "" {
		text += ": " + r.Run.Message
	}
	return text
}

// blocks of a run's report: how much was measured, a table of the points in the order of the sweep, what must be read
// with the numbers, and where they were measured.
func (r *Report) blocks() []block {
	list := []block{paragraphs(r.state())}
	if t := r.Table(); t != nil {
		points := r.Measured()
		table := paragraphs(Intervals(points))
		if note := LatencyNote(t); note != "" {
			table.lines = append(table.lines, note)
		}
		table.rows = tableRows(t)
		list = append(list, table, paragraphs(Ranks(points)))
		if rows, unit := r.parts(points); rows != nil {
			list = append(list, block{title: "Medians by part, " + unit, rows: rows})
		}
	}
	return append(
		append(list, tableBlocks(r.RequestedTables())...),
		listed("Claims", claimLines(r.Claims)),
		listed("Warnings", r.AllWarnings()),
		listed("Pilots", r.Pilots()),
		listed("Discarded attempts", r.disturbances()),
		listed("Environment", r.where()),
	)
}

// tableBlocks are the tables that a file asks for.
func tableBlocks(tables []RequestedTable) []block {
	var list []block
	for i := range tables {
		of := paragraphs(tables[i].Remark())
		of.title, of.rows = tables[i].Title, tables[i].Rows
		list = append(list, of)
	}
	return list
}

// Answer of all pairs, as a part of a sentence.
func (s *Comparison) Answer() string { return s.answer().Text }

// Sentence is the answer with a capital letter, unless it begins with a name.
func (s *Comparison) Sentence() string { return s.answer().Sentence() }

func (s *Comparison) answer() stats.Answer {
	return cmp.Or(stats.AnswerOf(titled(s.Overall, s.titles()), titled(s.Pairs, s.titles())), stats.Answer{Text: "no answer"})
}

// headline is the answer of a comparison in a line, as that of a run.
func (s *Comparison) headline() string { return withOutcome(s.Name, s.Outcome) + ": " + s.Answer() }

// blocks of a comparison's report: a table of the pairs, why the comparison stopped, what the variants differ in, and what
// must be read with the answer.
func (s *Comparison) blocks() []block {
	var list []block
	for i := range s.Variants {
		baseline := &s.Variants[i]
		if !baseline.Baseline {
			continue
		}
		for j := range s.Variants {
			v := &s.Variants[j]
			if pairs := s.Of(v.Name); len(pairs) > 0 {
				list = append(list, block{title: v.Called() + ", compared with " + baseline.Called(), rows: s.table(pairs)})
			}
		}
	}
	list = append(list, paragraphs(fmt.Sprintf("%s, %s, %d of at most %d rounds, %s, seed %d: %s.", s.Workload, s.Outcome,
		s.Rounds, s.Planned, s.Paired(), s.Seed, s.Message), s.Reading()))
	return append(
		append(list, tableBlocks(s.RequestedTables())...),
		listed("Claims", claimLines(s.Claims)),
		listed("Cost of a unit of work", s.costs()),
		listed("How the variants differ", s.differences()),
		listed("Volumes", s.Volumes()),
		listed("Pairs without an answer", s.Undecided()),
		listed("Warnings", s.AllWarnings()),
		listed("Discarded", s.Discarded()),
	)
}

// confidence says what the intervals of a comparison are.
func (s *Comparison) confidence() string {
	switch {
	case len(s.Overall) > 0:
		return "95% confidence across all pairs and all points together, adjusted for early stopping"
	case len(s.Pairs) == 1:
		return "95% confidence, adjusted for early stopping"
	}
	return "95% confidence across all pairs, adjusted for early stopping"
}

// roundOf each trial of the plan, by its number.
func (r *Report) roundOf() map[int]int {
	rounds := map[int]int{}
	for _, t := range r.Trials {
		rounds[t.Number] = t.Round
	}
	return rounds
}
