// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package frozen_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// TestFrozenObjects: the plan, the objects of the server and the Jobs of every sample and small publication.
func TestFrozenObjects(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			for _, run := range s.runs() {
				name := s.name
				if variant := run.Labels[v1alpha1.LabelVariant]; variant != "" {
					name += "." + variant
				}
				p, err := validation.PlanRun(run)
				if err != nil {
					t.Fatal(err)
				}
				frozen.Check(t, "plans/"+name+".txt", planned(p))
				frozen.Check(t, "objects/"+name+".yaml", objects(t, run, p))
			}
		})
	}
}

// planned is a line for each trial.
func planned(p *plan.Plan) []byte {
	var b bytes.Buffer
	for _, trial := range p.Trials {
		fmt.Fprintln(&b, trial.Number, "round", trial.Round, stats.Label(p.Points[trial.Point].Parameters))
	}
	return b.Bytes()
}

// objects of the first server, and the Jobs of the first and the last trial.
func objects(t *testing.T, run *v1alpha1.BenchmarkRun, p *plan.Plan) []byte {
	t.Helper()
	list, err := database.Objects(run, 1, "node", images)
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, o := range append(list, database.Implied(run, 1)...) {
		all = append(all, o)
	}
	for i, of := range []plan.Trial{p.Trials[0], p.Trials[len(p.Trials)-1]} {
		if i > 0 && len(p.Trials) == 1 {
			break
		}
		job, err := trial.Job(run, trial.Attempt{
			Trial: of, Point: p.Points[of.Point], Number: 1, Instance: 1, Prime: i == 0, Nodes: []string{"node"}, Address: "10.0.0.1",
		}, images)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, job)
	}
	return testutil.YAML(t, all...)
}
