// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/workload/sqltext"
)

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
