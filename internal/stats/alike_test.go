// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Independent values, whatever they are, are rarely said to be alike. Correlated ones often are, if there are enough of them.
func TestAlike(t *testing.T) {
	const runs = 1000
	modes := func(r *rand.Rand) float64 { return float64(r.IntN(5)/4) + 0.01*r.NormFloat64() }
	for name, tc := range map[string]struct {
		n, least, most int // of 1000
		correlation    float64
		value          func(*rand.Rand) float64
	}{
		"too few":              {5, 0, 0, 0.9, (*rand.Rand).NormFloat64},
		"independent, 6":       {6, 20, 65, 0, (*rand.Rand).NormFloat64},
		"independent, 12":      {12, 20, 65, 0, (*rand.Rand).NormFloat64},
		"two modes, 10":        {10, 10, 65, 0, modes},
		"equal":                {10, 0, 0, 0, func(*rand.Rand) float64 { return 3 }},
		"correlated, 12":       {12, 300, 500, 0.5, (*rand.Rand).NormFloat64},
		"correlated, 40":       {40, 850, 1000, 0.5, (*rand.Rand).NormFloat64},
		"in turns high or low": {12, 0, 5, -0.9, (*rand.Rand).NormFloat64},
	} {
		t.Run(name, func(t *testing.T) {
			found := 0
			for i := range runs {
				r := rand.New(rand.NewPCG(7, uint64(i)))
				x, values := tc.value(r), make([]float64, tc.n)
				for k := range values {
					values[k] = 100 + x
					x = tc.correlation*x + math.Sqrt(1-tc.correlation*tc.correlation)*tc.value(r)
				}
				if _, alike := stats.Alike(values, 0.05); alike {
					found++
				}
			}
			if found < tc.least || found > tc.most {
				t.Errorf("said to be alike in %d of %d, want %d to %d", found, runs, tc.least, tc.most)
			}
		})
	}
}

// A point whose values rise from trial to trial has the finding. With many points it takes more.
func TestAlikeFinding(t *testing.T) {
	values := []float64{100, 101, 101.5, 103, 104, 103.5, 105, 106}
	records := make([]*result.Record, len(values))
	for i := range records {
		records[i] = &result.Record{Summary: &result.Summary{}}
	}
	for points, want := range map[int]int{1: 1, 1000: 0} {
		list := stats.PointFindings(records, values, points)
		if len(list) != want || want == 1 && (list[0].Code != finding.TrialsAlike || list[0].Trials != len(values)) {
			t.Errorf("%d points: %v", points, list)
		}
	}
}
