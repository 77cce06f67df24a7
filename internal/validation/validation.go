// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation plans runs, and says what is wrong with one that the API server accepts and that cannot be
// carried out. The operator asks it before it creates anything, and the plugin without a cluster.
package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/workload/sqltext"
)

// PlanRun is the plan of a run, which is empty if there is none. The error is for the author of a run whose specification the API
// server accepts and that cannot be carried out: nothing has been created yet. The workload's parameters are checked as long as
// the run has no condition, because the specification cannot change afterwards.
func PlanRun(run *v1alpha1.BenchmarkRun) (*plan.Plan, error) {
	if len(run.Spec.Variants) > 0 {
		return planVariants(run)
	}
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		return new(plan.Plan), err
	}
	if len(run.Status.Conditions) > 0 {
		return p, nil
	}
	if err := checkVariables(run.Spec.Database.Variables); err != nil {
		return p, err
	}
	if err := checkBytes(p.Bytes); err != nil {
		return p, err
	}
	var points []plan.Point
	for i := 0; i < len(p.Points); i += max(1, p.Stages) {
		points = append(points, p.Points[i])
	}
	if wrong, err := trial.Validate(run, points...); err != nil {
		if swept := wrong.Swept(); len(swept) > 0 {
			err = fmt.Errorf("%w (%s)", err, stats.Label(swept))
		}
		return p, err
	}
	return p, analysis.CheckRun(run, p)
}

// maxBytes bounds what is looked at for one object, run, by the worker that also looks at everybody else's.
const maxBytes = 16 << 20

// checkBytes refuses more parameters than that, at all points and in all variants together.
func checkBytes(bytes int) error {
	if bytes <= maxBytes {
		return nil
	}
	return fmt.Errorf("the workload's parameters have %d bytes at all points together; at most %d are allowed: shorten the "+
		"workload's texts, put them into a file, or measure fewer points", bytes, maxBytes)
}

// checkVariables names all values that are as an option file has them, and no server takes.
func checkVariables(variables map[string]v1alpha1.VariableValue) error {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if _, _, wrong := engine.Meant(name, string(variables[name])); len(wrong) > 0 {
			all = append(all, name+": "+strings.Join(wrong, "; "))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("database.variables: %s", strings.Join(all, "; "))
}

// checkExternal refuses a variant that asks for other settings than the baseline on the same external server: they are not set
// there, so that both would be measured with the same ones.
func checkExternal(c *analysis.Compared) error {
	baseline := &c.Variants[c.Baseline].Run.Spec
	for i := range c.Variants {
		spec := &c.Variants[i].Run.Spec
		from, to := baseline.Database.External, spec.Database.External
		if from == nil || to == nil || from.Host != to.Host || from.Port != to.Port {
			continue
		}
		differences, err := plan.SettingDifferences(baseline, spec)
		if err != nil {
			return err
		}
		if len(differences) > 0 {
			return fmt.Errorf("variant %s: %s: it has the external server of the baseline, %s:%d, where Benchrun sets no variable; "+
				"compare settings on servers that Benchrun creates, or on two external servers", c.Variants[i].Name,
				plan.List(differences), to.Host, to.Port)
		}
	}
	return nil
}

// checkPilots refuses variants that ask for different numbers of rows if a pilot decides about those of all.
func checkPilots(c *analysis.Compared) error {
	if c.Run.Spec.Trials.MinSeconds == nil || len(c.Run.Status.Conditions) > 0 {
		return nil // what was accepted once stays so
	}
	rows := make([][]int64, len(c.Variants))
	for i, v := range c.Variants {
		rows[i] = trial.Rows(v.Run, v.Plan.Points...)
	}
	for _, pair := range c.Planned {
		if a, b := rows[pair.Variant][pair.Of], rows[c.Baseline][pair.With]; a != b {
			return fmt.Errorf("variant %s: rows is %d, but the baseline has %d: trials.minSeconds sets the number of rows for all "+
				"variants; make the numbers equal or leave out trials.minSeconds", c.Variants[pair.Variant].Name, a, b)
		}
	}
	return nil
}

// CheckSchema checks the SQL of a run's schemaFrom, as the loader does before it sends any of it.
func CheckSchema(run *v1alpha1.BenchmarkRun, script string) error {
	bounds := sqltext.Bounds{Schema: plan.Schema(run)}
	if w := run.Spec.Workload.BulkInsert; w != nil {
		bounds.Engine = string(w.StorageEngine)
	}
	if _, _, err := sqltext.Read(script, bounds); err != nil {
		return fmt.Errorf("workload.schemaFrom: %s: %w", run.Spec.Workload.SchemaFrom.Key, err)
	}
	return nil
}

// Warning is what the author of a run that can be carried out must know beforehand; empty if there is nothing. On a server of the
// author's, a program of the author's may do whatever the user in the database may do: what it sends is not inspected.
func Warning(spec *v1alpha1.BenchmarkRunSpec) string {
	program := ""
	switch w := &spec.Workload; {
	case spec.Database.External == nil:
	case w.Custom != nil:
		program = "workload.custom"
	case w.Sysbench != nil && w.Sysbench.ScriptFrom != nil:
		program = "workload.sysbench.scriptFrom"
	}
	if program == "" {
		return ""
	}
	return fmt.Sprintf("%s runs a program of yours on a server that was there before: give its user rights on the schemas "+
		"benchrun\\_%% alone, because only these rights keep it from other schemas", program)
}
