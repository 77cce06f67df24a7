// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// Of many variables that differ, a few are named, and no value is longer than a person reads.
func TestManyDifferences(t *testing.T) {
	s := testutil.Pair()
	p := planOfComparison(t, s)
	runs := measuredRuns(s, p, 2)
	runs.Variables = []map[string]string{{}, {}}
	for i := range 20 {
		name := fmt.Sprintf("v%02d", i)
		runs.Variables[0][name], runs.Variables[1][name] = "1", strings.Repeat("x", 1000)
	}
	others := OfComparison(s, p, runs, Verdicts{}).Variants[1].Others
	text := others.String()
	if others.Differing != 20 || len(others.Differ) != maxOthers || !strings.Contains(text, "20 of the other 20") || !strings.HasSuffix(text, "and 8 more: `kubectl benchrun report -o variables` has all") ||
		len(text) > 1500 || !strings.Contains(text, "v11 (1 → xxx") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}
