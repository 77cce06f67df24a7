//go:build newworkload || newparameter

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/loader"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// inserts plans a run, makes its Jobs, and has the loader insert as their configurations say: so many rows at each point.
func inserts(t *testing.T, run *v1alpha1.BenchmarkRun, rows ...int64) {
	t.Helper()
	plan, err := validation.PlanRun(run)
	if err != nil || len(plan.Points) != len(rows) {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	for _, planned := range plan.Trials {
		job := must.Get(trial.Job(run, trial.Attempt{Trial: planned, Point: plan.Points[planned.Point], Number: 1, Instance: 1}, podutil.Images{}))(t)
		config := must.Get(result.ParseConfig([]byte(job.Spec.Template.Spec.Containers[0].Env[0].Value)))(t)
		encoded := must.Get(json.Marshal(config.Workload))(t)
		report, err := loader.Noop(t.Context(), string(encoded), config.Seed, 0)
		if want := rows[planned.Point]; err != nil || report.Rows != want {
			t.Errorf("trial %d: %+v, %v, want %d rows", planned.Number, report, err, want)
		}
	}
}

func specify(t *testing.T, run *v1alpha1.BenchmarkRun, workload string) {
	t.Helper()
	run.Spec.Workload = v1alpha1.WorkloadSpec{}
	decoder := json.NewDecoder(strings.NewReader(workload))
	decoder.DisallowUnknownFields()
	must.Do(t, decoder.Decode(&run.Spec.Workload))
}
