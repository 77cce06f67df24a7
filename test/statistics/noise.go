// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"embed"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Noise makes the logarithms of what consecutive trials of one configuration measure.
type Noise struct {
	Name string
	// Series of n trials.
	Series func(r *rand.Rand, n int) []float64
	// Ratio adds to the logarithm of the ratio of the two variants, round by round: no order of the trials can cancel it. Nil is
	// nothing.
	Ratio func(r *rand.Rand, rounds int) []float64
	// Unit that values around 1 are rounded to; 0: they are not.
	Unit float64
	// Means for a user what it means that more than 5% are said to differ.
	Means string
}

// independent trials.
func independent(name string, value func(r *rand.Rand) float64) Noise {
	return Noise{Name: name, Series: func(r *rand.Rand, n int) []float64 {
		series := make([]float64, n)
		for i := range series {
			series[i] = value(r)
		}
		return series
	}}
}

func normal(cv float64) Noise {
	return independent(fmt.Sprintf("normal, CV %.0f%%", 100*cv), func(r *rand.Rand) float64 { return cv * r.NormFloat64() })
}

// modes are two: a share of the trials is slower by a factor.
func modes(share, slower float64) Noise {
	name := fmt.Sprintf("bimodal, %.0f%% of the trials %.0f%% slower", 100*share, 100*(1-1/slower))
	return independent(name, func(r *rand.Rand) float64 {
		x := 0.005 * r.NormFloat64()
		if r.Float64() < share {
			x -= math.Log(slower)
		}
		return x
	})
}

// autoregressive is a series of which neighbours have this correlation, those two apart its square and so on.
func autoregressive(r *rand.Rand, n int, correlation, deviation float64) []float64 {
	series := make([]float64, n)
	x := r.NormFloat64()
	for i := range series {
		series[i] = deviation * x
		x = correlation*x + math.Sqrt(1-correlation*correlation)*r.NormFloat64()
	}
	return series
}

// load of the machine that changes slowly: neighbouring trials are alike.
func load(correlation float64) Noise {
	return Noise{
		Name:   fmt.Sprintf("load that changes slowly (AR(1) %g from trial to trial)", correlation),
		Series: func(r *rand.Rand, n int) []float64 { return autoregressive(r, n, correlation, 0.05) },
	}
}

// drift is a machine that becomes slower, by this fraction over the whole comparison.
func drift(by float64) Noise {
	return Noise{
		Name: fmt.Sprintf("drift by %g%% over 20 rounds", 100*by),
		Series: func(r *rand.Rand, n int) []float64 {
			series := make([]float64, n)
			for i := range series {
				series[i] = 0.02*r.NormFloat64() - by*float64(i)/float64(n)
			}
			return series
		},
	}
}

// neighbour on the machine who halves the rate while it works. Whether it works is drawn anew for a trial unless it stays.
func neighbour(stays float64) Noise {
	return Noise{
		Name: fmt.Sprintf("a neighbour halves the rate, or not; that changes after %.0f%% of the trials", 50*(1-stays)),
		Series: func(r *rand.Rand, n int) []float64 {
			series, works := make([]float64, n), r.IntN(2) == 0
			for i := range series {
				if r.Float64() >= stays {
					works = r.IntN(2) == 0
				}
				if series[i] = 0.02 * r.NormFloat64(); works {
					series[i] -= math.Ln2
				}
			}
			return series
		},
	}
}

// wave is a load that comes and goes regularly, between the full and half of the rate.
func wave() Noise {
	return Noise{
		Name: "a load that swings by 2, with any period from 2 to 200 trials",
		Series: func(r *rand.Rand, n int) []float64 {
			series := make([]float64, n)
			period, phase := 2*math.Pow(100, r.Float64()), r.Float64()
			for i := range series {
				series[i] = 0.02*r.NormFloat64() + math.Ln2/2*math.Sin(2*math.Pi*(phase+float64(i)/period))
			}
			return series
		},
		Means: periodic,
	}
}

// periodic is what it means that a load with a period is taken for a difference.
const periodic = "a load whose period fits the rounds favors one variant for as long as it lasts. Stop it, or make trials " +
	"longer than its period."

// simulated are the kinds of noise that every table has.
func simulated() []Noise {
	return []Noise{
		normal(0.01), normal(0.02), normal(0.05), normal(0.10),
		independent("skewed (exponential), CV 5%", func(r *rand.Rand) float64 { return -0.05 * r.ExpFloat64() }),
		independent("heavy-tailed (Student, 3 degrees of freedom)", func(r *rand.Rand) float64 {
			sum := 0.0
			for range 3 {
				x := r.NormFloat64()
				sum += x * x
			}
			return 0.03 * r.NormFloat64() / math.Sqrt(sum/3)
		}),
		modes(0.5, 1.1), modes(0.2, 2), modes(0.1, 1.35),
		neighbour(0), neighbour(0.8), neighbour(0.95), wave(),
		drift(0.40), load(0.3), load(0.5), load(0.9),
	}
}

//go:embed recorded
var recordings embed.FS

// recorded noise: values of trials of one configuration, in the order in which they were measured. A comparison gets a stretch of
// them that begins anywhere; after the last value comes the first.
func recorded() ([]Noise, error) {
	names, err := fs.Glob(recordings, "recorded/*.csv")
	if err != nil {
		return nil, fmt.Errorf("listing the recordings: %w", err)
	}
	var list []Noise
	for _, name := range names {
		noise, err := recording(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, noise)
	}
	return list, nil
}

// minRecorded is the least length of a recording. A comparison takes 40 values: in a shorter recording all comparisons would be
// nearly the same one.
const minRecorded = 200

// recording of one file: a line "# name", more comments, and a value in each other line.
func recording(file string) (Noise, error) {
	content, err := recordings.ReadFile(file)
	if err != nil {
		return Noise{}, fmt.Errorf("reading: %w", err)
	}
	var name string
	var values []float64
	for line := range strings.Lines(string(content)) {
		text, comment := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if comment {
			if name == "" {
				name = text
			}
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || value <= 0 {
			return Noise{}, fmt.Errorf("%q is no value above 0", text)
		}
		values = append(values, math.Log(value))
	}
	if len(values) < minRecorded {
		return Noise{}, fmt.Errorf("%d values are too few for a rate, which takes %d: five comparisons", len(values), minRecorded)
	}
	return Noise{
		Name: fmt.Sprintf("recorded: %s (%d trials, CV %.1f%%)", name, len(values), 100*deviation(values)),
		Series: func(r *rand.Rand, n int) []float64 {
			from := r.IntN(len(values))
			series := make([]float64, n)
			for i := range series {
				series[i] = values[(from+i)%len(values)]
			}
			return series
		},
	}, nil
}

func deviation(values []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
		squares += v * v
	}
	n := float64(len(values))
	return math.Sqrt((squares - sum*sum/n) / (n - 1))
}
