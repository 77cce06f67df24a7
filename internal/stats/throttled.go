// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// throttledFrom is the part of the measured phase from which on being held back is said.
const throttledFrom = 0.01

// heldBack is about a trial whose server was throttled at its CPU limit; none if it was not, or if nobody knows.
func heldBack(s *result.Summary) []finding.Finding {
	share := s.Throttled()
	if share < throttledFrom {
		return nil
	}
	return []finding.Finding{finding.HeldBack(100 * share)}
}
