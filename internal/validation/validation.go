// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation plans runs, and says what is wrong with one that the API server accepts and that cannot be
// carried out. The operator asks it before it creates anything, and the plugin without a cluster.
package validation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
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
	if err := cmp.Or(checkServer(run), checkBytes(p.Bytes)); err != nil {
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
	return p, judge.CheckRun(run, p)
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

// checkServer finds what the engine's servers cannot do, or do not have.
func checkServer(run *v1alpha1.BenchmarkRun) error {
	db := &run.Spec.Database
	e, err := plan.EngineOf(db)
	switch {
	case err != nil:
		return err
	case db.Provisioner == v1alpha1.ProvisionerMariaDBOperator && e.Name != string(v1alpha1.EngineMariaDB):
		return fmt.Errorf("database.provisioner MariaDBOperator makes MariaDB servers: with engine %s it must be StatefulSet or "+
			"External", e.Name)
	case !e.Image.Certificate && db.External == nil && db.TLS.Mode != "" && db.TLS.Mode != v1alpha1.TLSDisabled:
		return fmt.Errorf("database.tls: a server of engine %s that Benchrun makes has no certificate: leave it out", e.Name)
	case e.Image.SeveralProcesses() && plan.CopiesData(run):
		return fmt.Errorf("trials.data: Restore copies the data of a server that is one process: with engine %s it must be Recreate "+
			"or Keep", e.Name)
	}
	return checkSettings(e, db)
}

// checkSettings finds settings that the engine does not have, and variables that are not written as its servers take them.
func checkSettings(e *engine.Engine, db *v1alpha1.DatabaseSpec) error {
	s, named := &db.Settings, e.Options.Named()
	asked := map[string]bool{
		"bufferPoolSize": s.BufferPoolSize != nil, "redoLogSize": s.RedoLogSize != nil, "binaryLog": s.BinaryLog != nil,
		"flushLogAtTrxCommit": s.FlushLogAtTrxCommit != nil, "synchronousCommit": s.SynchronousCommit != "",
	}
	maps.DeleteFunc(asked, func(_ string, is bool) bool { return !is })
	for _, setting := range slices.Sorted(maps.Keys(asked)) {
		variable, has := named[setting]
		if !has {
			return fmt.Errorf("database.settings.%s is not of engine %s, which has %s", setting, e.Name,
				strings.Join(slices.Sorted(maps.Keys(named)), ", "))
		}
		if _, twice := db.Variables[variable]; twice {
			return fmt.Errorf("database.settings.%s sets %s: set one of them", setting, variable)
		}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(db.Variables)) {
		if wrong := e.Miswritten(name, string(db.Variables[name])); wrong != "" {
			all = append(all, name+": "+wrong)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New("database.variables: " + strings.Join(all, "; "))
}

// checkExternal refuses a variant that asks for other settings than the baseline on the same external server: they are not set
// there, so that both would be measured with the same ones.
func checkExternal(c *judge.Compared) error {
	baseline := &c.Variants[c.Baseline].Run.Spec
	for i := range c.Variants {
		spec := &c.Variants[i].Run.Spec
		fromHost, fromPort := plan.External(&baseline.Database)
		host, port := plan.External(&spec.Database)
		if host == "" || host != fromHost || port != fromPort {
			continue
		}
		differences, err := plan.SettingDifferences(baseline, spec)
		if err != nil {
			return err
		}
		if len(differences) > 0 {
			return fmt.Errorf("variant %s: %s: it has the external server of the baseline, %s:%d, where Benchrun sets no variable; "+
				"compare settings on servers that Benchrun creates, or on two external servers", c.Variants[i].Name,
				plan.List(differences), host, port)
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
	case w.Pgbench != nil && w.Pgbench.ScriptFrom != nil:
		program = "workload.pgbench.scriptFrom"
	case w.Statements != nil:
		program = "workload.statements"
	}
	if program == "" {
		return ""
	}
	return fmt.Sprintf("%s runs a program of yours on a server that was there before: give its user rights on the schemas "+
		"benchrun\\_%% alone, because only these rights keep it from other schemas", program)
}

func planVariants(run *v1alpha1.BenchmarkRun) (*plan.Plan, error) {
	begun := len(run.Status.Conditions) > 0
	if !begun {
		if err := checkSides(run); err != nil {
			return new(plan.Plan), err
		}
	}
	chosen, reason, err := alternationOf(run)
	if err != nil {
		return new(plan.Plan), err
	}
	p, err := plan.New(run, chosen)
	if err == nil && p.Uneven && chosen == v1alpha1.AlternateSlices {
		if reason = "the variants are measured at different points"; run.Spec.Alternation == v1alpha1.AlternateSlices {
			return new(plan.Plan), fmt.Errorf(notInSlices, reason)
		}
		p, err = plan.New(run, v1alpha1.AlternateTrials)
	}
	if err != nil {
		return new(plan.Plan), err
	}
	p.AlternationReason = reason
	if begun {
		return p, nil
	}
	if err := checkBytes(p.Bytes); err != nil {
		return p, err
	}
	compared, err := judge.PlanVariants(run, PlanRun)
	if err != nil {
		return p, err
	}
	return p, cmp.Or(checkExternal(compared), compared.CheckClaims())
}

func checkSides(run *v1alpha1.BenchmarkRun) error {
	first := &plan.Side(run, 0, 1).Spec.Database
	if run.Spec.Trials.Precision != nil {
		return errors.New("trials.precision is for runs without variants: rounds.atMost and rounds.until say how often all are " +
			"measured")
	}
	if err := plan.CheckRemoved(run); err != nil {
		return err
	}
	for i, v := range run.Spec.Variants {
		if v.Workload != nil && v.Workload.Type != "" && v.Workload.Type != run.Spec.Workload.Type {
			return fmt.Errorf("variant %s: workload.type must be %s, as that of the run: numbers of different workloads cannot be "+
				"compared", v.Name, run.Spec.Workload.Type)
		}
		if db := &plan.Side(run, i, 1).Spec.Database; db.Provisioner != first.Provisioner {
			return fmt.Errorf("variant %s: database.provisioner is %s, but that of variant %s is %s: all variants have the same",
				v.Name, db.Provisioner, run.Spec.Variants[0].Name, first.Provisioner)
		}
	}
	return nil
}

// alternationOf a run with variants, and why that is not slices if it may choose; or the error if it cannot have what it asks
// for. A choice stays.
func alternationOf(run *v1alpha1.BenchmarkRun) (chosen v1alpha1.Alternation, reason string, err error) {
	if before := run.Status.Alternation; before != "" {
		return before, run.Status.AlternationReason, nil
	}
	apart, whole := notTogetherIn(run)
	switch asked := run.Spec.Alternation; asked {
	case v1alpha1.AlternateRuns:
		return asked, "", nil
	case v1alpha1.AlternateTrials, v1alpha1.AlternateSlices:
		switch {
		case apart != "":
			err = fmt.Errorf("alternation: %s: %s; use alternation: Runs", asked, apart)
		case asked == v1alpha1.AlternateSlices && whole != "":
			err = fmt.Errorf(notInSlices, whole)
		}
		return asked, "", err
	case v1alpha1.AlternateAutomatic:
	}
	switch {
	case apart != "":
		return v1alpha1.AlternateRuns, apart, nil
	case whole != "":
		return v1alpha1.AlternateTrials, whole, nil
	case tooShort(run):
		return v1alpha1.AlternateTrials, fmt.Sprintf("the program is measured for less than %d s, and the first and the last "+
			"of its slices do not count", minSlicedSeconds), nil
	}
	return v1alpha1.AlternateSlices, "", nil
}

// minSlicedSeconds of sysbench have been shown to find in slices what is to be found (docs/statistics.md).
const minSlicedSeconds = 10

// tooShort says whether a variant measures sysbench for less.
func tooShort(run *v1alpha1.BenchmarkRun) bool {
	for i := range run.Spec.Variants {
		w := &plan.Side(run, i, 1).Spec.Workload
		if s := w.Sysbench; s != nil && s.Seconds != nil && *s.Seconds < minSlicedSeconds {
			return true
		}
		if limit := w.Limits.Seconds; w.Pgbench != nil && limit != nil && *limit < minSlicedSeconds {
			return true
		}
	}
	return false
}

// notTogetherIn says why the servers of all variants cannot be up together, and why one loader cannot measure all; each is empty
// if it can be.
func notTogetherIn(run *v1alpha1.BenchmarkRun) (apart, whole string) {
	for i, v := range run.Spec.Variants {
		spec := &plan.Side(run, i, 1).Spec
		if why := trial.NotBeside(spec); why != "" {
			apart = cmp.Or(apart, fmt.Sprintf("variant %s: %s", v.Name, why))
		}
		if why := trial.NotASide(spec); why != "" {
			whole = cmp.Or(whole, fmt.Sprintf("variant %s: %s", v.Name, why))
		}
	}
	switch latency := trial.JudgedLatency(&run.Spec); {
	case whole != "":
	case (run.Spec.Workload.Sysbench != nil || run.Spec.Workload.Pgbench != nil) && latency != "":
		whole = "metric is " + latency + ", and the program's latencies contain its pauses"
	case slices.ContainsFunc(run.Spec.Variants, func(v v1alpha1.Variant) bool { return v.Loader != nil }):
		whole = "the variants have loaders of their own"
	case !trial.SameFiles(run):
		whole = "the variants read different files, and one loader measures all"
	}
	return apart, whole
}

const notInSlices = "alternation: Slices: %s; use alternation: Trials"
