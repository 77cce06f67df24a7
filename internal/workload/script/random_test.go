// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"math"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	language "github.com/benchrun-dev/benchrun/internal/workload/script"
)

const draws = 100_000

// chiSquare compares how often each number from low on is drawn with its probability, to which the weights are proportional. It
// is normalized: the mean is about 0, the standard deviation about 1.
func chiSquare(t *testing.T, low int64, weights []float64, draw func(r *language.Random) int64) float64 {
	t.Helper()
	total := 0.0
	for _, w := range weights {
		total += w
	}
	random := language.NewRandom(42)
	counts := make([]float64, len(weights))
	for range draws {
		i := draw(random) - low
		if i < 0 || i >= int64(len(weights)) {
			t.Fatalf("%d is outside of the range", i+low)
		}
		counts[i]++
	}
	sum := 0.0
	for i, w := range weights {
		expected := draws * w / total
		sum += (counts[i] - expected) * (counts[i] - expected) / expected
	}
	freedom := float64(len(weights) - 1)
	return (sum - freedom) / math.Sqrt(2*freedom)
}

func weights(n int, weight func(i float64) float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = weight(float64(i))
	}
	return all
}

// Each number is drawn as often as the documentation of pgbench says. The seed is fixed, so that the test cannot flake.
func TestDistributions(t *testing.T) {
	normal := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	for name, c := range map[string]struct {
		weights []float64
		draw    func(r *language.Random) int64
	}{
		"uniform": {
			weights(10, func(float64) float64 { return 1 }),
			func(r *language.Random) int64 { return r.Uniform(-4, 5) },
		},
		"zipfian 1.2": {
			weights(10, func(i float64) float64 { return math.Pow(i+1, -1.2) }),
			func(r *language.Random) int64 { return r.Zipfian(-4, 5, 1.2) },
		},
		"zipfian 1.001": {
			weights(1000, func(i float64) float64 { return math.Pow(i+1, -1.001) }),
			func(r *language.Random) int64 { return r.Zipfian(-4, 995, 1.001) },
		},
		"zipfian 5": {
			weights(5, func(i float64) float64 { return math.Pow(i+1, -5) }),
			func(r *language.Random) int64 { return r.Zipfian(-4, 0, 5) },
		},
		"exponential 2.5": {
			weights(7, func(i float64) float64 { return math.Exp(-2.5*i/7) - math.Exp(-2.5*(i+1)/7) }),
			func(r *language.Random) int64 { return r.Exponential(-4, 2, 2.5) },
		},
		"exponential 1e-300": {
			weights(7, func(float64) float64 { return 1 }), func(r *language.Random) int64 { return r.Exponential(-4, 2, 1e-300) },
		},
		"gaussian 2": {
			weights(9, func(i float64) float64 { return normal(4*(i-3.5)/9) - normal(4*(i-4.5)/9) }),
			func(r *language.Random) int64 { return r.Gaussian(-4, 4, 2) },
		},
		"gaussian 2.5": {
			weights(12, func(i float64) float64 { return normal(5*(i-5)/12) - normal(5*(i-6)/12) }),
			func(r *language.Random) int64 { return r.Gaussian(-4, 7, 2.5) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			if z := chiSquare(t, -4, c.weights, c.draw); math.Abs(z) > 4 {
				t.Errorf("chi-square is %.1f standard deviations from what it should be", z)
			}
		})
	}
}

// In a range of three quarters of all integers, a modulo would make one third of the range twice as likely as the others, and a
// product without rejection one number in three.
func TestUniformHasNoBias(t *testing.T) {
	const third = 1 << 62
	chi := chiSquare(t, -2, []float64{1, 1, 1}, func(r *language.Random) int64 { return r.Uniform(-2*third, third-1) >> 62 })
	if math.Abs(chi) > 4 {
		t.Errorf("chi-square of the thirds is %.1f standard deviations from what it should be", chi)
	}
	parity := chiSquare(t, 0, []float64{1, 1}, func(r *language.Random) int64 { return r.Uniform(-2*third, third-1) & 1 })
	if math.Abs(parity) > 4 {
		t.Errorf("chi-square of the parity is %.1f standard deviations from what it should be", parity)
	}
}

func TestFloat(t *testing.T) {
	random := language.NewRandom(42)
	sum, squares := 0.0, 0.0
	for range draws {
		x := random.Float()
		if x <= 0 || x >= 1 {
			t.Fatal(x)
		}
		sum += x
		squares += x * x
	}
	if mean, square := sum/draws, squares/draws; math.Abs(mean-0.5) > 0.003 || math.Abs(square-1.0/3) > 0.003 {
		t.Errorf("mean %.4f, mean square %.4f", mean, square)
	}
}

// The distributions hold in the widest range and with extreme parameters.
func TestWidestRange(t *testing.T) {
	const low, high = math.MinInt64, math.MaxInt64
	share := func(draw func(r *language.Random) bool) float64 {
		random, n := language.NewRandom(42), 0
		for range draws {
			if draw(random) {
				n++
			}
		}
		return float64(n) / draws
	}
	// The sum of k^-s up to a number x that is large is zeta(s) - x^(1-s)/(s-1); zeta(1.001) is 1000.5772885.
	zeta := 1000.5772885 - 1000*math.Pow(0x1p64, -0.001)
	tens := 0.0
	for k := 1.0; k <= 10; k++ {
		tens += math.Pow(k, -1.001)
	}
	for name, c := range map[string]struct {
		want float64
		draw func(r *language.Random) bool
	}{
		"uniform":           {0.5, func(r *language.Random) bool { return r.Uniform(low, high) < 0 }},
		"gaussian 2":        {0.5, func(r *language.Random) bool { return r.Gaussian(low, high, 2) < 0 }},
		"gaussian 1e308":    {1, func(r *language.Random) bool { return r.Gaussian(low, high, math.MaxFloat64) == 0 }},
		"gaussian of two":   {0.5, func(r *language.Random) bool { return r.Gaussian(0, 1, 100) == 0 }},
		"exponential 1":     {1 / (1 + math.Exp(-0.5)), func(r *language.Random) bool { return r.Exponential(low, high, 1) < 0 }},
		"exponential 1e308": {1, func(r *language.Random) bool { return r.Exponential(low, high, math.MaxFloat64) == low }},
		"exponential, the smallest": {
			0.5, func(r *language.Random) bool { return r.Exponential(low, high, math.SmallestNonzeroFloat64) < 0 },
		},
		"zipfian 1.001": {tens / zeta, func(r *language.Random) bool { return r.Zipfian(low, high, 1.001) < low+10 }},
		"zipfian 1.001, the tail": {
			(1000.5772885 - 1000*math.Pow(0x1p50, -0.001)) / zeta,
			func(r *language.Random) bool { return r.Zipfian(low, high, 1.001) < low+1<<50 },
		},
		"zipfian 2":    {6 / (math.Pi * math.Pi), func(r *language.Random) bool { return r.Zipfian(low, high, 2) == low }},
		"zipfian 1000": {1, func(r *language.Random) bool { return r.Zipfian(low, high, 1000) == low }},
	} {
		if got := share(c.draw); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%s: a share of %.4f, want %.4f", name, got, c.want)
		}
	}
}

// The numbers of a seed never change, because results of different versions are compared.
func TestRandomIsFixed(t *testing.T) {
	random := language.NewRandom(7)
	must.Same(t, "draws", []int64{390, 309689372594955804, 646, 535, 17}, []int64{
		random.Uniform(1, 1000), random.Uniform(math.MinInt64, math.MaxInt64), random.Exponential(1, 1000, 3),
		random.Gaussian(1, 1000, 3), random.Zipfian(1, 1000, 1.1),
	})
}
