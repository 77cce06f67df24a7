// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// Separate is a comparison of two runs, one measured after the other, that is simulated many times.
type Separate struct {
	Noise Noise
	// First and Second are the trials of the two runs at each point.
	First, Second, Points int
	// Difference is the logarithm of the true ratio, at every point.
	Difference float64
	// BetweenRuns is the standard deviation of the logarithm by which each run is faster or slower, at all points alike.
	BetweenRuns float64
	// Wider is how many times as much the logarithms of the second run scatter; 0 is once.
	Wider float64
}

// Method says whether two samples differ, and whether their true ratio is in its interval.
type Method func(first, second []float64, truth float64, points int) (differ, covered bool)

// shipped is what `kubectl benchrun compare --between-runs 0` does.
func shipped(first, second []float64, truth float64, points int) (differ, covered bool) {
	return allowing(0)(first, second, truth, points)
}

// allowing is what `kubectl benchrun compare` does with a standard deviation between runs.
func allowing(betweenRuns float64) Method {
	return func(first, second []float64, truth float64, points int) (differ, covered bool) {
		design := stats.Design{EquivalencePercent: 5, Comparisons: points, BetweenRuns: betweenRuns}
		c := design.CompareSeparate("higher", first, second)
		return c.Verdict == stats.Faster || c.Verdict == stats.Slower, c.Low <= truth && truth <= c.High
	}
}

// welch is the t test of the logarithms, with the error divided by the number of points.
func welch(first, second []float64, truth float64, points int) (differ, covered bool) {
	logs := func(values []float64) []float64 {
		list := slices.Clone(values)
		for i, v := range list {
			list[i] = math.Log(v)
		}
		return list
	}
	meanA, varianceA := stat.MeanVariance(logs(first), nil)
	meanB, varianceB := stat.MeanVariance(logs(second), nil)
	a, b := varianceA/float64(len(first)), varianceB/float64(len(second))
	degrees := (a + b) * (a + b) / (a*a/float64(len(first)-1) + b*b/float64(len(second)-1))
	half := -distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile(stats.ErrorProbability/2/float64(points)) * math.Sqrt(a+b)
	return math.Abs(meanB-meanA) > half, math.Abs(meanB-meanA-math.Log(truth)) <= half
}

// benchstat is the Mann-Whitney test at 5% at each point, however many there are.
func benchstat(first, second []float64, _ float64, _ int) (differ, covered bool) {
	c := benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(first), &benchmath.DefaultThresholds),
		benchmath.NewSample(slices.Clone(second), &benchmath.DefaultThresholds))
	return c.P < stats.ErrorProbability, true
}

// Run simulates comparisons, each from a seed of its own: the share that says that any point differs, and the one in
// which all intervals contain the true ratio.
func (s Separate) Run(method Method, times int) (differ, covered float64) {
	differs, covers := make([]bool, times), make([]bool, times)
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			for i := w; i < times; i += workers {
				differs[i], covers[i] = s.simulate(rand.New(rand.NewPCG(seed, uint64(i))), method) //nolint:gosec // an index
			}
		})
	}
	wait.Wait()
	share := func(list []bool) float64 {
		n := 0
		for _, is := range list {
			if is {
				n++
			}
		}
		return float64(n) / float64(times)
	}
	return share(differs), share(covers)
}

func (s Separate) simulate(r *rand.Rand, method Method) (differ, covered bool) {
	covered = true
	apart := 0.0
	if s.BetweenRuns > 0 {
		apart = s.BetweenRuns * (r.NormFloat64() - r.NormFloat64())
	}
	for range s.Points {
		series := s.Noise.Series(r, s.First+s.Second)
		for i, x := range series {
			if i >= s.First && s.Wider > 0 {
				x *= s.Wider
			}
			if i >= s.First {
				x += s.Difference + apart
			}
			series[i] = math.Exp(x)
		}
		d, c := method(series[:s.First], series[s.First:], math.Exp(s.Difference), s.Points)
		differ, covered = differ || d, covered && c
	}
	return differ, covered
}

// runSeparate simulates comparisons: with many points fewer, because each has as many tests.
func (w *writer) runSeparate(s Separate, method Method) (differ, covered float64) {
	return s.Run(method, w.times(s.Points))
}

// separate are all tables of runs that are compared with each other.
func (w *writer) separate(trials []Noise) {
	slower := drift(0.05)
	slower.Name = "drift by 5% from the first trial to the last of both runs"
	// The method does not depend on the scale: of the normal noises, one is enough.
	w.separateSame(slices.Concat(simulated()[2:3], simulated()[4:9], []Noise{slower, load(0.3), load(0.5), load(0.9)}, trials))
	w.separateFound()
	w.separateBetween()
}

// sizes are the trials of two runs at each point.
var sizes = [][2]int{{3, 3}, {4, 4}, {6, 6}, {12, 12}, {3, 12}}

// separateSame is how often two runs of the same are said to differ.
func (w *writer) separateSame(noises []Noise) {
	header := []string{"noise"}
	for _, size := range sizes {
		header = append(header, fmt.Sprintf("%d and %d trials", size[0], size[1]))
	}
	header = append(header, "30 points, 7 trials", "Welch, 4 and 4 trials", "Welch, 3 and 12 trials",
		"Welch, 30 points, 7 trials", "benchstat, 30 points, 7 trials")
	w.header("runs-same", "Two runs of the same: said to differ", header...)
	row := func(name string, s Separate) {
		cells := []string{name}
		add := func(first, second, points int, method Method) {
			s.First, s.Second, s.Points = first, second, points
			differ, _ := w.runSeparate(s, method)
			cells = append(cells, percent(differ))
		}
		for _, size := range sizes {
			add(size[0], size[1], 1, shipped)
		}
		add(7, 7, 30, shipped)
		add(4, 4, 1, welch)
		add(3, 12, 1, welch)
		add(7, 7, 30, welch)
		add(7, 7, 30, benchstat)
		w.row(cells...)
	}
	for _, noise := range noises {
		row(noise.Name, Separate{Noise: noise})
	}
	row("normal, CV 1% in the one run and 5% in the other", Separate{Noise: normal(0.01), Wider: 5})
}

// separateFound is how many comparisons find a difference at one point.
func (w *writer) separateFound() {
	scatter := []float64{0.01, 0.02, 0.05, 0.10}
	header := []string{"true difference", "trials of each run"}
	for _, cv := range scatter {
		header = append(header, fmt.Sprintf("CV %.0f%%", 100*cv))
	}
	for _, cv := range scatter {
		header = append(header, fmt.Sprintf("Welch, CV %.0f%%", 100*cv))
	}
	header = append(header, "intervals that contain the ratio, CV 5%")
	w.header("runs-found", "Two runs that differ: found by, at one point", header...)
	for _, difference := range []float64{0.02, 0.05, 0.10, 0.20} {
		for _, n := range []int{4, 6, 12} {
			cells := []string{fmt.Sprintf("%.0f%%", 100*difference), strconv.Itoa(n)}
			contains := ""
			for _, method := range []Method{shipped, welch} {
				for _, cv := range scatter {
					differ, covered := w.runSeparate(Separate{
						Noise: normal(cv), First: n, Second: n, Points: 1, Difference: math.Log1p(difference),
					}, method)
					cells = append(cells, fmt.Sprintf("%.0f%%", 100*differ))
					if cv == 0.05 && contains == "" {
						contains = percent(covered)
					}
				}
			}
			w.row(append(cells, contains)...)
		}
	}
}

// separateBetween is how often two runs of the same are said to differ if each is faster or slower as a whole.
func (w *writer) separateBetween() {
	header := []string{"standard deviation between runs"}
	for _, assumed := range []string{"3%", "0"} {
		for _, size := range sizes[1:4] {
			header = append(header, fmt.Sprintf("--between-runs %s, %d trials", assumed, size[0]))
		}
	}
	w.header("runs-between", "Two runs of the same that differ from run to run: said to differ, CV 2%", header...)
	for _, between := range []float64{0, 0.01, 0.02, 0.03, 0.05} {
		cells := []string{fmt.Sprintf("%.0f%%", 100*between)}
		for _, method := range []Method{allowing(stats.DefaultBetweenRuns), shipped} {
			for _, size := range sizes[1:4] {
				differ, _ := w.runSeparate(Separate{
					Noise: normal(0.02), First: size[0], Second: size[1], Points: 1, BetweenRuns: between,
				}, method)
				cells = append(cells, percent(differ))
			}
		}
		w.row(cells...)
	}
}
