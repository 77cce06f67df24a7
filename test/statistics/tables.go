// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

// seed of all simulations.
const seed = 12

// asShipped is the design of a comparison that says nothing else.
func asShipped(points int) stats.Design {
	return stats.Design{
		MinRounds: 6, MaxRounds: 20, EarlyStop: true, EquivalencePercent: 5, Comparisons: points, Together: points > 1,
	}
}

// atEnd looks once, after a fixed number of rounds.
func atEnd(rounds, points int) stats.Design {
	return stats.Design{MaxRounds: rounds, EquivalencePercent: 5, Comparisons: points}
}

// writer of tables in Markdown; its first error is kept.
type writer struct {
	out         io.Writer
	comparisons int
	err         error
}

func (w *writer) text(format string, values ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format, values...)
	}
}

func (w *writer) row(cells ...string) { w.text("| %s |\n", strings.Join(cells, " | ")) }

// header of a table; the first column is text, the others are numbers.
func (w *writer) header(title string, cells ...string) {
	w.text("\n### %s\n\n", title)
	w.row(cells...)
	rules := []string{"---"}
	for range cells[1:] {
		rules = append(rules, "---:")
	}
	w.row(rules...)
}

// run an experiment: with many points fewer comparisons, because each has as many comparisons.
func (w *writer) run(e Experiment) Outcome { return e.Run(w.times(e.Points)) }

// number of comparisons behind each figure.
func (w *writer) number() {
	w.text("\n")
	w.prose(fmt.Sprintf("These tables were written by `make bench-statistics FLAGS=\"-comparisons %d\"`: that many simulated "+
		"comparisons for each figure of one or two points, %d for 8 points, %d for 10, %d for 30, from fixed seeds. Chance moves a "+
		"share of 5%% by ± %.1f points (standard error) at %d comparisons, and by ± %.1f at %d. A share that should be 5%% at most, "+
		"and is above by more than chance explains, is in **bold**.", w.comparisons, w.times(8), w.times(10), w.times(30),
		chance(w.comparisons), w.comparisons, chance(w.times(30)), w.times(30)), "")
}

// prose is wrapped; all lines but the first are indented.
func (w *writer) prose(text, indent string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line+" "+word) > 128:
			w.text("%s\n", line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	w.text("%s\n", line)
}

// chance is the standard error of a share of 5%, in points.
func chance(comparisons int) float64 { return 100 * math.Sqrt(0.05*0.95/float64(comparisons)) }

// times is how often a comparison of so many points is simulated.
func (w *writer) times(points int) int { return max(500, w.comparisons/max(1, points/3)) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// noDifference is what is said about a variant that is the baseline.
func (w *writer) noDifference(noises []Noise) {
	w.header("Two variants that are the same",
		"noise", "differ, 1 point", "equal", "rounds", "differ, 30 points", "equal at one", "rounds")
	var meanings []string // each once
	about := map[string][]string{}
	for _, noise := range noises {
		cells := []string{noise.Name}
		high := false
		for _, points := range []int{1, 30} {
			o := w.run(Experiment{Design: asShipped(points), Noise: noise, Points: points})
			high = high || above(o.Differ, o.Comparisons)
			cells = append(cells, bold(o.Differ, o.Comparisons), percent(o.Equal), fmt.Sprintf("%g", o.Median))
		}
		if w.row(cells...); high {
			if about[noise.Means] == nil {
				meanings = append(meanings, noise.Means)
			}
			about[noise.Means] = append(about[noise.Means], "*"+noise.Name+"*")
		}
	}
	w.text("\nWhat a share above 5%% means for you:\n\n")
	for _, m := range meanings {
		w.prose(fmt.Sprintf("- %s: %s", strings.Join(about[m], "; "), m), "  ")
	}
}

// bold is a share that is printed in bold if it is above the error.
func bold(share float64, comparisons int) string {
	if above(share, comparisons) {
		return "**" + percent(share) + "**"
	}
	return percent(share)
}

// above says whether a share of simulated comparisons is above the error of a comparison by more than chance explains.
func above(share float64, comparisons int) bool {
	const limit = stats.ErrorProbability
	return share > limit+3*math.Sqrt(limit*(1-limit)/float64(comparisons))
}

// oneSided is what happens to the variant alone: what is said of its mean, and what remains unseen.
func (w *writer) oneSided() {
	w.header("What happens to the variant alone", "noise", "differ", "equal", "contradiction", "rounds")
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

// found is how many comparisons find a difference, and after how many rounds they stop.
func (w *writer) found() {
	scatter := []float64{0.01, 0.02, 0.03, 0.05, 0.07, 0.10}
	for _, points := range []int{1, 10, 30} {
		header := []string{"true difference"}
		for _, cv := range scatter {
			header = append(header, fmt.Sprintf("CV %.0f%%", 100*cv))
		}
		w.header(fmt.Sprintf("A difference at %d of %d points: found by, and rounds", points, points), header...)
		for _, difference := range []float64{0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15, 0.20} {
			cells := []string{fmt.Sprintf("%.0f%%", 100*difference)}
			for _, cv := range scatter {
				o := w.run(Experiment{
					Design: asShipped(points), Noise: normal(cv), Points: points, Difference: math.Log1p(difference),
				})
				cells = append(cells, fmt.Sprintf("%.0f%%, %g (%.1f)", 100*o.All, o.Median, o.Mean))
			}
			w.row(cells...)
		}
	}
}

// coverage of the intervals. That after all rounds does not depend on the difference.
func (w *writer) coverage() {
	differences := []float64{0, 0.05, 0.50}
	header := []string{"points, noise", "after all rounds"}
	for _, difference := range differences {
		header = append(header, fmt.Sprintf("at the end of the comparison, %.0f%%", 100*difference))
	}
	w.header("Intervals that contain the true ratios", header...)
	for _, points := range []int{1, 30} {
		for _, noise := range []Noise{normal(0.02), normal(0.05), normal(0.10)} {
			e := Experiment{Design: asShipped(points), Noise: noise, Points: points, WholeLength: true}
			cells := []string{fmt.Sprintf("%d, %s", points, noise.Name), percent(w.run(e).Always)}
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
	w.header("The same variant twice on a machine that changes: said to differ",
		"noise", "in the order of a comparison", "all of A, then all of B")
	for _, noise := range []Noise{normal(0.02), drift(0.05), drift(0.40), load(0.5), load(0.9)} {
		e := Experiment{Design: asShipped(1), Noise: noise, Points: 1}
		mixed := w.run(e)
		e.Order = OneAfterTheOther
		w.row(noise.Name, percent(mixed.Differ), percent(w.run(e).Differ))
	}
}

// verdicts are the rounds until there is an answer, by this method and by a fixed number of rounds.
func (w *writer) verdicts(noises []Noise, secondsPerRound float64) {
	designs := []stats.Design{atEnd(6, 1), atEnd(12, 1), atEnd(20, 1), asShipped(1)}
	w.header(fmt.Sprintf("Rounds until the verdict, minutes at %g s per round, and how many have an answer", secondsPerRound),
		"noise, true difference", "6 rounds", "12 rounds", "20 rounds", "6 to 20 rounds, stopped when decided")
	for _, noise := range noises {
		for _, difference := range []float64{0, 0.02, 0.05, 0.10, 0.50} {
			cells := []string{fmt.Sprintf("%s, %.0f%%", noise.Name, 100*difference)}
			for _, design := range designs {
				o := w.run(Experiment{Design: design, Noise: noise, Points: 1, Difference: math.Log1p(difference)})
				cells = append(cells, fmt.Sprintf("%.1f, %.1f min, %.0f%%", o.Mean, o.Mean*secondsPerRound/60, 100*(o.Differ+o.Equal)))
			}
			w.row(cells...)
		}
	}
}
