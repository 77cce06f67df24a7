// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// progress of a run, computed from the records of its attempts, with what the next attempt is.
type progress struct {
	analysis.Progress
	// failed is the first attempt that ended the run, or nil.
	failed *result.Record
	// next is the first trial that is not measured yet, or nil; attempt is the number of its next attempt.
	next    *plan.Trial
	attempt int
}

func progressOf(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record) progress {
	g := progress{Progress: analysis.ProgressOf(run, p, records)}
	last := 0
	if len(g.Left) > 0 {
		g.next = g.Left[0]
	}
	for _, r := range records {
		if g.next != nil && r.Trial == g.next.Number {
			last = max(last, r.Attempt)
		}
		if r.Outcome == result.OutcomeFailed && g.failed == nil {
			g.failed = r
		}
	}
	if g.next != nil {
		g.attempt = last + 1
	}
	return g
}
