//go:build newparameter

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// TestChain takes a swept parameter through the whole chain: specification, plan, validation, Job, configuration, and the loader,
// which refuses parameters that it does not know.
func TestChain(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Repetitions(1).Obj()
	specify(t, run, `{"type": "CommitSize", "commitSize": {"rows": 10, "rowsPerCommit": 1, "sweep": {"spare": [3, 4]}}}`)
	plan, err := validation.PlanRun(run)
	if err != nil || len(plan.Points) != 2 || plan.Points[0].Parameters["spare"] != "3" || plan.Points[1].Parameters["spare"] != "4" {
		t.Errorf("plan %+v, %v", plan, err)
	}
	inserts(t, run, 10, 10)
}
