// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Staged is a Workload that is measured in stages, on the tables that its Prepare makes: each stage goes on where the one before
// ended. Its own Measure makes the load of the first stage, which primes a server. Its Verify comes after the last stage; the
// totals are the sums of all stages.
type Staged interface {
	Workload
	// Stages in their order.
	Stages() []Stage
}

// Stage is one of them: it is measured, or the server comes to rest.
type Stage struct {
	// Name of the stage, and of its phase.
	Name string
	// Load is measured as a workload that is measured by itself; its Prepare makes no table. Nil with Rest.
	Load Workload
	// Seconds ends the measured phase; 0 is no limit.
	Seconds int
	// Operations of the measured phase, of which there are a rate and costs: rows, or queries.
	Operations func(t *result.Totals) int64
	// Rest is what happens instead of a measured phase; nil with Load.
	Rest *Rest
}

// Rest has the server come to rest, after statements and for a time at least.
type Rest struct {
	Statements []string
	AtLeast    time.Duration
}
