// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestCheckSchema(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{}
	run.Name = "my-run"
	run.Spec.Database.External = &v1alpha1.ExternalSpec{}
	run.Spec.Workload.SchemaFrom = &v1alpha1.ConfigMapFile{Name: "schema", Key: "own.sql"}
	for script, want := range map[string]string{
		"CREATE TABLE benchrun_my_run.inserts (id INT)": "",
		"\n DROP TABLE IF EXISTS shop.orders;":          "workload.schemaFrom: own.sql: statement 1, line 2: shop.orders names another schema",
		"CREATE TABLE a (b INT) ENGINE=Mroonga":         "storage engine Mroonga is not allowed",
		" -- nothing":                                   "own.sql: there is no statement",
	} {
		if err := CheckSchema(run, script); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
	}
	run.Spec.Workload.BulkInsert = &v1alpha1.BulkInsertWorkload{StorageEngine: "Mroonga"}
	must.Do(t, CheckSchema(run, "CREATE TABLE a (b INT) ENGINE=Mroonga"))
}

func TestWarning(t *testing.T) {
	external := v1alpha1.DatabaseSpec{External: &v1alpha1.ExternalSpec{}}
	custom := v1alpha1.WorkloadSpec{Custom: &v1alpha1.CustomWorkload{}}
	script := v1alpha1.WorkloadSpec{Sysbench: &v1alpha1.SysbenchWorkload{ScriptFrom: &v1alpha1.SysbenchScriptSource{}}}
	for want, spec := range map[string]v1alpha1.BenchmarkRunSpec{
		"workload.custom runs a program of yours":              {Database: external, Workload: custom},
		"workload.sysbench.scriptFrom runs a program of yours": {Database: external, Workload: script},
	} {
		if got := Warning(&spec); !strings.HasPrefix(got, want) || !strings.Contains(got, `benchrun\_% alone`) {
			t.Errorf("%q", got)
		}
	}
	for _, spec := range []v1alpha1.BenchmarkRunSpec{
		{Workload: custom}, {Workload: script}, {Database: external, Workload: v1alpha1.WorkloadSpec{Sysbench: &v1alpha1.SysbenchWorkload{}}},
	} {
		must.Same(t, "warning", "", Warning(&spec))
	}
}
