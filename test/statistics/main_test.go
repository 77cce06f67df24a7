// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/csv"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// comparisons is how many are simulated for each figure. With -short, as the race detector runs, it is an eighth.
var comparisons = 4000

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		comparisons /= 8
	}
	os.Exit(m.Run())
}

// A variant that is the baseline is said to differ in 5% of the comparisons at most.
func TestNoFalseVerdicts(t *testing.T) {
	trials, err := recorded()
	if err != nil || len(trials) < 2 {
		t.Fatalf("%d recordings, %v", len(trials), err)
	}
	unpredictable := wave().Name // a load that comes in time with the rounds looks like a difference
	noises := slices.Concat(simulated(), trials)
	if testing.Short() { // all of them are simulated by the same goroutines
		noises = noises[:2]
	}
	for _, noise := range noises {
		if noise.Name == unpredictable {
			continue
		}
		t.Run(noise.Name, func(t *testing.T) {
			for points, comparisons := range map[int]int{1: comparisons, 30: 300} {
				o := Experiment{Design: asShipped(points), Noise: noise, Points: points}.Run(comparisons)
				if above(o.Differ, comparisons) {
					t.Errorf("%d points: said to differ in %.1f%%", points, 100*o.Differ)
				}
			}
		})
	}
}

// Of equals with several points, all points together or any of them are said to differ in 5% of the comparisons at most.
func TestNoFalseVerdictsOverAllPoints(t *testing.T) {
	for _, points := range []int{2, 8} {
		o := Experiment{Design: asShipped(points), Noise: normal(0.05), Points: points}.Run(comparisons / 2)
		if above(o.Either, comparisons/2) || o.Together == 0 {
			t.Errorf("%d points: said to differ in %.1f%%, over all points in %.1f%%", points, 100*o.Either, 100*o.Together)
		}
	}
}

// What is known to be taken for a difference says what that means for a user.
func TestMeanings(t *testing.T) {
	for _, noise := range append(hard(), wave()) {
		if noise.Means == "" && noise.Unit == 0 {
			t.Errorf("%s: what does it mean for a user?", noise.Name)
		}
	}
}

// A true difference of 5% or more is said to be none in 5% of the comparisons at most.
func TestNoFalseEquality(t *testing.T) {
	for _, noise := range []Noise{normal(0.01), normal(0.02), normal(0.05), modes(0.2, 2), load(0.5)} {
		t.Run(noise.Name, func(t *testing.T) {
			o := Experiment{Design: asShipped(1), Noise: noise, Points: 1, Difference: math.Log1p(0.0501)}.Run(comparisons)
			if above(o.Equal, comparisons) {
				t.Errorf("said to be equal in %.1f%%", 100*o.Equal)
			}
		})
	}
}

func TestPower(t *testing.T) {
	five := Experiment{Design: asShipped(1), Noise: normal(0.02), Points: 1, Difference: math.Log1p(0.05)}.Run(comparisons)
	if five.Differ < 0.95 || five.Median > 8 {
		t.Errorf("5%% at a coefficient of variation of 2%%: found in %.1f%%, after %g rounds", 100*five.Differ, five.Median)
	}
	ten := Experiment{Design: asShipped(1), Noise: normal(0.02), Points: 1, Difference: math.Log1p(0.10)}.Run(comparisons)
	if ten.Differ < 0.95 || ten.Mean > 6.5 {
		t.Errorf("10%%: found in %.1f%%, after %g rounds on average", 100*ten.Differ, ten.Mean)
	}
}

// The intervals after all rounds together contain the true ratio in 95% of the comparisons, and the last one alone in no fewer.
func TestCoverage(t *testing.T) {
	never := stats.Design{MinRounds: 6, MaxRounds: 20, EarlyStop: true, EquivalencePercent: 1e-9, Comparisons: 1}
	for _, cv := range []float64{0.02, 0.10} {
		o := Experiment{Design: never, Noise: normal(cv), Points: 1, WholeLength: true}.Run(comparisons)
		if math.Abs(o.Always-0.95) > 0.01+3*math.Sqrt(0.95*0.05/float64(comparisons)) {
			t.Errorf("CV %g: all intervals contain the ratio in %.1f%%", cv, 100*o.Always)
		}
		for _, difference := range []float64{0, 0.02, 0.05, 0.2} {
			o := Experiment{Design: asShipped(1), Noise: normal(cv), Points: 1, Difference: math.Log1p(difference)}.Run(comparisons)
			if above(1-o.AtStop, comparisons) {
				t.Errorf("CV %g, %g: the last interval contains the ratio in %.1f%%", cv, difference, 100*o.AtStop)
			}
		}
	}
}

func TestOneAfterTheOtherIsWorse(t *testing.T) {
	e := Experiment{Design: asShipped(1), Noise: drift(0.40), Points: 1}
	mixed := e.Run(comparisons)
	e.Order = OneAfterTheOther
	if apart := e.Run(comparisons); above(mixed.Differ, comparisons) || apart.Differ < 0.5 {
		t.Errorf("said to differ: %.1f%% interleaved, %.1f%% one after the other", 100*mixed.Differ, 100*apart.Differ)
	}
}

// The files have the tables of the page, as the program writes them.
func TestTables(t *testing.T) {
	recorded := "../../docs/reference"
	page, err := os.ReadFile(filepath.Join(recorded, pageName))
	if w := (&writer{comparisons: 4000}); err != nil || w.page() != string(page) {
		t.Errorf("%s is not what the program writes: %v", pageName, err)
	}
	files := must.Get(filepath.Glob(filepath.Join(recorded, tablesName, "*.csv")))(t)
	must.Same(t, "tables", len(tables), len(files))
	folder := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(folder, tablesName), 0o700))
	w := &writer{out: io.Discard, comparisons: 500}
	w.bias()
	list := must.Get(measured())(t)
	w.real(list)
	w.agreement(list)
	if err := w.write(folder); err != nil || w.err != nil {
		t.Fatal(err, w.err)
	}
	for _, name := range []string{"bias", "real", "slices-runs"} {
		got, want := rowsOf(t, folder, name), rowsOf(t, recorded, name)
		if name == "bias" { // its figures take more comparisons
			got, want = got[:1], want[:1]
		}
		must.Same(t, name+", as recorded", want, got)
	}
}

func rowsOf(t *testing.T, folder, name string) [][]string {
	t.Helper()
	file := must.Get(os.Open(filepath.Join(folder, tablesName, name+".csv")))(t)
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), err)
	}
	return rows
}

// Two runs of the same are said to differ in 5% of the comparisons at most, whatever the noise is, as long as trials are
// independent. Welch's test is not used because of the cases in which it errs more often.
func TestNoFalseVerdictsOfSeparateRuns(t *testing.T) {
	for _, noise := range simulated()[:9] {
		t.Run(noise.Name, func(t *testing.T) {
			for _, size := range sizes {
				for n, points := range []int{1, 30} {
					times := []int{comparisons, 300}[n]
					s := Separate{Noise: noise, First: size[0], Second: size[1], Points: points}
					if differ, _ := s.Run(shipped, times); above(differ, times) {
						t.Errorf("%v trials, %d points: said to differ in %.1f%%", size, points, 100*differ)
					}
				}
			}
		})
	}
	skewed := Separate{Noise: modes(0.2, 2), First: 3, Second: 12, Points: 1}
	if differ, _ := skewed.Run(welch, comparisons); !above(differ, comparisons) {
		t.Errorf("Welch's test is wrong in only %.1f%%: is it worth another method?", 100*differ)
	}
}

// What two runs can find, and how often their intervals are right.
func TestSeparateRunsFind(t *testing.T) {
	s := Separate{Noise: normal(0.02), First: 6, Second: 6, Points: 1, Difference: math.Log1p(0.05)}
	differ, covered := s.Run(shipped, comparisons)
	if differ < 0.9 || above(1-covered, comparisons) {
		t.Errorf("5%% at CV 2%%: found in %.1f%%, interval right in %.1f%%", 100*differ, 100*covered)
	}
	drifts := Separate{Noise: drift(0.40), First: 6, Second: 6, Points: 1}
	if differ, _ := drifts.Run(shipped, comparisons); differ < 0.5 {
		t.Errorf("a drift is taken for a difference in only %.1f%%: the documentation warns of more", 100*differ)
	}
}

// Equal runs that differ from run to run by what is assumed are said to differ in 5% of the comparisons at most, and their intervals
// are right; without the assumption they are not.
func TestNoFalseVerdictsBetweenRuns(t *testing.T) {
	for _, between := range []float64{0.02, stats.DefaultBetweenRuns} {
		for n, points := range []int{1, 30} {
			times := []int{comparisons, 300}[n]
			s := Separate{Noise: normal(0.02), First: 12, Second: 12, Points: points, BetweenRuns: between}
			differ, covered := s.Run(allowing(stats.DefaultBetweenRuns), times)
			if above(differ, times) || above(1-covered, times) {
				t.Errorf("%g between runs, %d points: said to differ in %.1f%%, intervals right in %.1f%%", between, points, 100*differ,
					100*covered)
			}
			if differ, _ := s.Run(shipped, times); differ < 0.2 {
				t.Errorf("%g between runs, %d points: nothing is assumed, and yet said to differ in only %.1f%%", between, points,
					100*differ)
			}
		}
	}
}

// Of the comparisons of equals that real servers measured, a tenth at most are said to differ: what the method promises is 5%, of
// which 40 comparisons can show no more than that.
func TestRealEqualsAreNotSaidToDiffer(t *testing.T) {
	list := must.Get(measured())(t)
	differ, equals := 0, 0
	for _, m := range list {
		c := m.Replay()
		if c.Rounds != len(m.values[0]) && m.Points == 1 {
			t.Errorf("%s, %s of %s: decided after %d of %d rounds", m.Second, m.Alternation, m.Started, c.Rounds, len(m.values[0]))
		}
		if m.Second != "same" {
			continue
		}
		equals++
		if differs(c) {
			differ++
		}
	}
	if equals == 0 || 10*differ > equals {
		t.Errorf("%d of %d are said to differ", differ, equals)
	}
}

// TestFrozenVerdicts: what the present rules say of each recorded comparison, to the last digit.
func TestFrozenVerdicts(t *testing.T) {
	list := must.Get(measured())(t)
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"started", "second", "rules", "verdict", "decided", "rounds", "ratio", "low", "high", "cells"})
	digits := func(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }
	for _, m := range list {
		c := m.Replay()
		_ = w.Write([]string{
			m.Started, m.Second, strconv.Itoa(stats.Rules), string(c.Verdict), strconv.FormatBool(c.Decided), strconv.Itoa(c.Rounds),
			digits(c.Ratio), digits(c.Low), digits(c.High), strconv.Itoa(m.Cells()),
		})
	}
	w.Flush()
	frozen.Check(t, "verdicts.csv", b.Bytes())
}
