// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// A name of somebody else's object is in the way of a run only if that needs it next.
func TestNamesThatARunNeeds(t *testing.T) {
	for name, needed := range map[string]bool{
		"run-results": true, "run-t2-a1": true, "run-db1": true, "run-db1-0": true, "data-run-db1-0": true, "storage-run-db1-0": true,
		"run-t1-a1": false, "run-t2-a2": false, "run-t2-a1-2": false, "run-t3-a1": false, "run-t999-a1": false, "run-db2": false,
		"run-db11": false, "data-run-db11-0": false, "run-db0": false,
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 3)
			seen := &Observed{
				Blockers: Blockers{Strangers: []string{name}}, Records: records(1), Instances: []Instance{instanceOf(1, "db-pod")},
			}
			d := next(t, run, seen, now)
			if taken := d.Failure != nil && d.Failure.Reason == v1alpha1.ReasonNameTaken; taken != needed {
				t.Errorf("decision is %+v", d)
			}
		})
	}
}

// The same of a comparison: all runs of its plan are its.
func TestNamesThatAComparisonNeeds(t *testing.T) {
	for name, needed := range map[string]bool{
		"s-results": true, "s-r1-a": true, "s-r2-b": true, "s-db1": true, "s-r1-c": false, "s-r99-a": false, "s-db2": false,
	} {
		t.Run(name, func(t *testing.T) {
			comparison := testutil.MakeComparison("s", "ns", "a", "b").Rounds(6).Obj()
			p, err := validation.PlanComparison(comparison)
			if err != nil {
				t.Fatal(err)
			}
			seen := &ComparisonObserved{Blockers: Blockers{Strangers: []string{name}}, ComparisonRuns: membersOf(p)}
			d := NextOfComparison(comparison, p, seen, now)
			if taken := d.Failure != nil && d.Failure.Reason == v1alpha1.ReasonNameTaken; taken != needed {
				t.Errorf("decision is %+v", d)
			}
		})
	}
}
