// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package frozen_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// TestFrozenObjects: the plan, the objects of the server and the Jobs of every sample and small publication.
func TestFrozenObjects(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			frozen.Check(t, "plans/"+s.name+".txt", planned(s.plan))
			frozen.Check(t, "objects/"+s.name+".yaml", objects(t, s.run, s.plan))
		})
	}
}

// planned is a line for each trial.
func planned(p *plan.Plan) []byte {
	var b bytes.Buffer
	for _, trial := range p.Trials {
		fmt.Fprint(&b, trial.Number, " round ", trial.Round, " ", stats.Label(p.Points[trial.Point].Parameters))
		for _, side := range trial.Sides {
			fmt.Fprint(&b, " ", p.Variants[side])
		}
		fmt.Fprintln(&b)
	}
	return b.Bytes()
}

// objects of the first server of each variant, and the Jobs of the first and the last trial.
func objects(t *testing.T, run *v1alpha1.BenchmarkRun, p *plan.Plan) []byte {
	t.Helper()
	var all []any
	for variant := range plan.Sides(run) {
		list := must.Get(database.Objects(run, variant+1, "node", images))(t)
		for _, o := range append(list, database.Implied(plan.Side(run, variant, 1), variant+1)...) {
			all = append(all, o)
		}
	}
	for i, of := range []plan.Trial{p.Trials[0], p.Trials[len(p.Trials)-1]} {
		if i > 0 && len(p.Trials) == 1 {
			break
		}
		a := trial.Attempt{Trial: of, Point: p.Points[of.Point], Number: 1, Instance: 1, Metric: p.Metric, Prime: i == 0}
		a.Nodes, a.Address = []string{"node"}, "10.0.0.1"
		for _, side := range of.Sides {
			a.Sides = append(a.Sides, trial.Side{Variant: side, Instance: plan.InstanceIn(run, 1, side), Address: fmt.Sprint("10.0.0.", side+1)})
		}
		if len(a.Sides) > 0 {
			a.Instance, a.Address = a.Sides[0].Instance, a.Sides[0].Address
		}
		job := must.Get(trial.Job(run, a, images))(t)
		all = append(all, job)
	}
	return testutil.YAML(t, all...)
}

// TestFrozenRows: the checksums of generated rows, and what one client sends of each point of a sample whose rows are ours.
func TestFrozenRows(t *testing.T) {
	var b bytes.Buffer
	for _, seed := range []int64{-1, 0, 1, 42, 1 << 62} {
		fmt.Fprintln(&b, "rows of seed", seed, generate.NewRows(seed).Checksum(10_000))
	}
	for _, scale := range []string{"0.01", "0.02"} {
		parsed := must.Get(tproch.ParseScale(scale))(t)
		data := tproch.New(seed, parsed)
		for _, table := range tproch.Tables() {
			fmt.Fprintln(&b, "TPROCH, scale", scale, table, data.Checksum(table))
		}
	}
	for _, s := range samples(t) {
		run := plan.Side(s.run, 0, 1)
		p := must.Get(validation.PlanRun(run))(t)
		for i, point := range p.Points {
			cfg := must.Get(trial.Config(run, trial.Attempt{Trial: p.Trials[0], Point: point, Number: 1, Instance: 1}))(t)
			if text, ours := sent(t, cfg); ours {
				fmt.Fprintln(&b, "statements of", s.name, "point", i+1, text)
			}
		}
	}
	frozen.Check(t, "rows.txt", b.Bytes())
}

// sent is what the first client of an INSERT load of at most 20,000 rows sends.
func sent(t *testing.T, cfg *result.Config) (text string, ours bool) {
	t.Helper()
	switch cfg.Workload.Type {
	case "BulkInsert", "CommitSize", "IIBench":
	default:
		return "", false
	}
	var parameters map[string]any
	must.Do(t, json.Unmarshal(cfg.Workload.Parameters, &parameters))
	if cfg.Workload.Data != nil || parameters["protocol"] == "LocalInfile" {
		return "", false
	}
	parameters["rows"] = 20_000
	cfg.Workload.Parameters = must.Get(json.Marshal(parameters))(t)
	w, err := registry.New(cfg)
	if err != nil {
		return err.Error(), true // a statement of more rows than these
	}
	script := &workloadtest.Script{}
	if planned, ok := w.(workload.Planned); ok {
		if ready := planned.Plan().Ready; ready != nil {
			must.Do(t, ready(0, script))
		}
	}
	_, err = w.Measure(t.Context(), workloadtest.Client(0, script))
	return fmt.Sprintf("%d of %d rows, %x, %v", len(script.Statements), script.Rows,
		sha256.Sum256([]byte(strings.Join(script.Statements, "\n"))), err), true
}
