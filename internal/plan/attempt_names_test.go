// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// The name of an attempt says which one it is, and no other name does.
func TestAttemptOf(t *testing.T) {
	run := testutil.MakeRun("run-t1-a1", "").Obj()
	for _, want := range [][2]int{{1, 1}, {12, 3}, {5000, 10}} {
		trial, attempt, found := plan.AttemptOf(run, plan.AttemptName(run, want[0], want[1]))
		if !found || trial != want[0] || attempt != want[1] {
			t.Errorf("%v is trial %d, attempt %d, %t", want, trial, attempt, found)
		}
	}
	for _, name := range []string{
		"", "run-t1-a1", "run-t1-a1-t1", "run-t1-a1-t1-a", "run-t1-a1-t1-a1-x", "run-t1-a1-t01-a1", "run-t1-a1-t+1-a1", "-t1-a1", "other-t1-a1",
	} {
		if trial, attempt, found := plan.AttemptOf(run, name); found {
			t.Errorf("%q is trial %d, attempt %d", name, trial, attempt)
		}
	}
}
