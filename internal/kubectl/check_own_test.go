// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"strings"
	"testing"
)

// The SQL that stands beside a run is read before the cluster has it.
func TestValidateReadsTheSchema(t *testing.T) {
	const schema = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: schema}\ndata: {own.sql: 'CREATE TABLE inserts (a INT); DROP TABLE shop.orders'}\n---\n"
	const spec = "spec: {database: {}, workload: {type: BulkInsert, bulkInsert: {rows: 10}, schemaFrom: {name: schema, key: own.sql}}}"
	const run = "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: a}\n" + spec
	const comparison = "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkComparison\nmetadata: {name: a}\nspec: {template: {" + spec + "}, variants: " +
		"[{name: one}, {name: two, database: {settings: {flushLogAtTrxCommit: 0}}}]}"
	for text, want := range map[string]string{
		schema + run:        "BenchmarkRun a: spec.workload.schemaFrom: own.sql: statement 2, line 1: shop.orders names another schema",
		schema + comparison: "BenchmarkComparison a: spec.variants[one]: workload.schemaFrom: own.sql: statement 2",
		strings.ReplaceAll(schema, "shop.", "bench.") + run: "BenchmarkRun a: valid",
		run: "BenchmarkRun a: valid",
	} {
		if _, out, _ := runMain(t, text, "validate", "-f", "-"); !strings.Contains(out, want) {
			t.Errorf("%s\nthere is no %q in\n%s", text, want, out)
		}
	}
}

func TestValidateWarnsOfProgramsOnOtherServers(t *testing.T) {
	const run = "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: a}\nspec:\n" +
		"  database: {provisioner: External, external: {host: db, credentialsSecretName: bench}}\n" +
		"  workload: {type: Sysbench, sysbench: {scriptFrom: {name: scripts, key: a.lua}}}\n"
	code, out, _ := runMain(t, run, "validate", "-f", "-")
	if code != ExitFine || !strings.Contains(out, `; warning: workload.sysbench.scriptFrom runs a program of yours on a server that was there before`) {
		t.Errorf("%d: %s", code, out)
	}
}
