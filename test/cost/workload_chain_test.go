//go:build newworkload

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// TestChain takes the workload through the whole chain: specification, plan, validation, Job, configuration, loader.
func TestChain(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Repetitions(1).Obj()
	specify(t, run, `{"type": "Example", "example": {"rows": 10, "start": 5, "sweep": {"rows": [20, 7]}}}`)
	inserts(t, run, 20, 7)
	specify(t, run, `{"type": "Example", "example": {"rows": 10, "points": [{"rows": 12}, {"rows": 13}]}}`)
	const want = "workload Example: rows is 13, which brings bad luck (rows=13)"
	if _, err := validation.PlanRun(run); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
