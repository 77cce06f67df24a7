// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// throttledFrom is the part of the measured phase from which on being held back is said.
const throttledFrom = 0.01

// heldBack is the warning of a trial whose server was held back at its CPU limit; empty if it was not, or if nobody knows.
func heldBack(s *result.Summary) string {
	share := s.Throttled()
	if share < throttledFrom {
		return ""
	}
	return fmt.Sprintf("the server was held back at its CPU limit for %.0f %% of the measured phase: the number is also that of "+
		"the limit", 100*share)
}
