// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
)

// TestFrozenRandomRuns: the last status and all records of runs in a world where things go wrong by chance.
func TestFrozenRandomRuns(t *testing.T) {
	for seed := range uint64(12) {
		w := newWorld(t, seed)
		for n := 0; !w.step(); n++ {
			if n > 2000 {
				t.Fatalf("seed %d has no end", seed)
			}
		}
		frozen.Check(t, fmt.Sprintf("scenarios/random-run-%d.json", seed), frozen.Stable(t, map[string]any{
			"spec": w.run.Spec, "status": w.run.Status, "records": w.seen.Records,
		}))
	}
}
