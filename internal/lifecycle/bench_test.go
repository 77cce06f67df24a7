// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// BenchmarkStep is a decision and its status, in a run of 5,000 trials at 100 points of which so many are measured.
func BenchmarkStep(b *testing.B) {
	run := oneAxis(100, plan.MaxTrials/100)
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{50, plan.MaxTrials - 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			seen := &Observed{Lane: held(run), Instances: []Instance{instanceOf(1, "db-pod")}}
			for i, t := range p.Trials[:n] {
				r := testutil.Record(t.Number, 1, p.Points[t.Point].Parameters, 1000+float64(i%7))
				seen.Records = append(seen.Records, r.Condensed())
			}
			for b.Loop() {
				d := Next(run, p, seen, now)
				Status(run, p, seen, d, now)
			}
		})
	}
}
