// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// throttledSteps are the percentages between which a warning places how long a server was held back. Below the first there
// is none. Coarse steps, so that trials that are alike have the same warning; the metric serverThrottledPercent is exact.
var throttledSteps = []int{1, 5, 10, 25, 50, 75, 100}

// heldBack is the warning of a trial whose server was held back at its CPU limit; empty if it was not, or if nobody knows.
func heldBack(s *result.Summary) string {
	share := 100 * s.Throttled()
	for i := len(throttledSteps) - 2; i >= 0; i-- {
		if low, high := throttledSteps[i], throttledSteps[i+1]; share >= float64(low) {
			return fmt.Sprintf("the server was held back at its CPU limit for %d to %d %% of the measured phase: the number is also "+
				"that of the limit", low, high)
		}
	}
	return ""
}
