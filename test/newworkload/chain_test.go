//go:build newworkload

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package newworkload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/loader"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// TestChain takes the workload through the whole chain: specification, plan, validation, Job, configuration, loader.
func TestChain(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Repetitions(1).Obj()
	specify(t, run, `{"type": "Example", "example": {"rows": 10, "start": 5, "sweep": {"rows": [20, 7]}}}`)
	plan, err := validation.PlanRun(run)
	if err != nil || len(plan.Points) != 2 {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	for _, planned := range plan.Trials {
		job, err := trial.Job(run, trial.Attempt{Trial: planned, Point: plan.Points[planned.Point], Number: 1, Instance: 1}, podutil.Images{})
		if err != nil {
			t.Fatal(err)
		}
		config, err := result.ParseConfig([]byte(job.Spec.Template.Spec.Containers[0].Env[0].Value))
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(config.Workload)
		if err != nil {
			t.Fatal(err)
		}
		report, err := loader.Noop(t.Context(), string(encoded), config.Seed, 0)
		if want := []int64{20, 7}[planned.Point]; err != nil || report.Rows != want || report.Statements != want {
			t.Errorf("trial %d: %+v, %v, want %d rows", planned.Number, report, err, want)
		}
	}
	specify(t, run, `{"type": "Example", "example": {"rows": 10, "points": [{"rows": 12}, {"rows": 13}]}}`)
	const want = "workload Example: rows is 13, which brings bad luck (rows=13)"
	if _, err := validation.PlanRun(run); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func specify(t *testing.T, run *v1alpha1.BenchmarkRun, workload string) {
	t.Helper()
	run.Spec.Workload = v1alpha1.WorkloadSpec{}
	decoder := json.NewDecoder(strings.NewReader(workload))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&run.Spec.Workload); err != nil {
		t.Fatal(err)
	}
}
