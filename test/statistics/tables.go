// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// seed of all simulations.
const seed = 12

// asShipped is the design of a comparison that says nothing else.
func asShipped(points int) stats.Design {
	return stats.Design{
		MinRounds: 6, MaxRounds: 20, EarlyStop: true, EquivalencePercent: 5, Comparisons: points, Together: points > 1,
	}
}

// writer of tables: it prints them in Markdown, and keeps them as CSV. Its first error is kept.
type writer struct {
	out         io.Writer
	comparisons int
	files       map[string][][]string // the rows of each file, without its folder and extension
	file        string                // to which rows are added; empty if none
	err         error
}

func (w *writer) text(format string, values ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format, values...)
	}
}

func (w *writer) row(cells ...string) {
	w.text("| %s |\n", strings.Join(cells, " | "))
	if w.file != "" {
		w.files[w.file] = append(w.files[w.file], cells)
	}
}

// header of a table, which is kept as a file unless that is empty; the first column is text, the others are numbers.
func (w *writer) header(file, title string, cells ...string) {
	if w.file = file; file != "" {
		if w.files == nil {
			w.files = map[string][][]string{}
		}
		w.files[file] = nil
	}
	w.text("\n### %s\n\n", title)
	w.row(cells...)
	rules := []string{"---"}
	for range cells[1:] {
		rules = append(rules, "---:")
	}
	w.text("| %s |\n", strings.Join(rules, " | "))
}

// run an experiment: with many points fewer comparisons, because each has as many comparisons.
func (w *writer) run(e Experiment) Outcome { return e.Run(w.times(e.Points)) }

// times is how often a comparison of so many points is simulated.
func (w *writer) times(points int) int { return max(500, w.comparisons/max(1, points/3)) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// noDifference is what is said about a variant that is the baseline.
func (w *writer) noDifference(noises []Noise) {
	w.header("same", "Two variants that are the same", "noise", "1 point: differ", "1 point: equal", "1 point: rounds",
		"30 points: differ", "30 points: equal at one", "30 points: rounds", "what a share above 5% means")
	for _, noise := range noises {
		cells, means := []string{noise.Name}, ""
		for _, points := range []int{1, 30} {
			o := w.run(Experiment{Design: asShipped(points), Noise: noise, Points: points})
			if above(o.Differ, o.Comparisons) {
				means = noise.Means
			}
			cells = append(cells, percent(o.Differ), percent(o.Equal), fmt.Sprintf("%g", o.Median))
		}
		w.row(append(cells, means)...)
	}
}

// above says whether a share of simulated comparisons is above the error of a comparison by more than chance explains.
func above(share float64, comparisons int) bool {
	const limit = stats.ErrorProbability
	return share > limit+3*math.Sqrt(limit*(1-limit)/float64(comparisons))
}

// oneSided is what happens to the variant alone: what is said of its mean, and what remains unseen.
func (w *writer) oneSided() {
	w.header("one-sided", "What happens to the variant alone", "noise", "differ", "equal", "contradiction", "rounds")
	for _, noise := range []Noise{stalls(0.02), stalls(0.05), stalls(0.10), change()} {
		for _, whole := range []bool{false, true} {
			o := w.run(Experiment{Design: asShipped(1), Noise: noise, Points: 1, WholeLength: whole})
			name := noise.Name
			if whole {
				name += "; all 20 rounds"
			}
			w.row(name, percent(o.Differ), percent(o.Equal), percent(o.Contradicted), fmt.Sprintf("%g", o.Median))
		}
	}
}

// found is how many comparisons find a difference at all points, and after how many rounds they stop.
func (w *writer) found() {
	w.header("found", "A difference at all points",
		"points", "true difference", "CV", "found by", "rounds (median)", "rounds (mean)")
	for _, points := range []int{1, 10, 30} {
		for _, difference := range []float64{0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15, 0.20} {
			for _, cv := range []float64{0.01, 0.02, 0.03, 0.05, 0.07, 0.10} {
				o := w.run(Experiment{
					Design: asShipped(points), Noise: normal(cv), Points: points, Difference: math.Log1p(difference),
				})
				w.row(strconv.Itoa(points), fmt.Sprintf("%.0f%%", 100*difference), fmt.Sprintf("%.0f%%", 100*cv),
					fmt.Sprintf("%.0f%%", 100*o.All), fmt.Sprintf("%g", o.Median), fmt.Sprintf("%.1f", o.Mean))
			}
		}
	}
}

// coverage of the intervals. That after all rounds does not depend on the difference.
func (w *writer) coverage() {
	differences := []float64{0, 0.05, 0.50}
	header := []string{"points", "noise", "after all rounds"}
	for _, difference := range differences {
		header = append(header, fmt.Sprintf("at the end of the comparison, %.0f%%", 100*difference))
	}
	w.header("coverage", "Intervals that contain the true ratios", header...)
	for _, points := range []int{1, 30} {
		for _, noise := range []Noise{normal(0.02), normal(0.05), normal(0.10)} {
			e := Experiment{Design: asShipped(points), Noise: noise, Points: points, WholeLength: true}
			cells := []string{strconv.Itoa(points), noise.Name, percent(w.run(e).Always)}
			e.WholeLength = false
			for _, difference := range differences {
				e.Difference = math.Log1p(difference)
				cells = append(cells, percent(w.run(e).AtStop))
			}
			w.row(cells...)
		}
	}
}

// interleaving is compared with measuring one variant after the other.
func (w *writer) interleaving() {
	w.header("order-of-rounds", "The same variant twice on a machine that changes: said to differ",
		"noise", "in the order of a comparison", "all of A, then all of B")
	for _, noise := range []Noise{normal(0.02), drift(0.05), drift(0.40), load(0.5), load(0.9)} {
		e := Experiment{Design: asShipped(1), Noise: noise, Points: 1}
		mixed := w.run(e)
		e.Order = OneAfterTheOther
		w.row(noise.Name, percent(mixed.Differ), percent(w.run(e).Differ))
	}
}
