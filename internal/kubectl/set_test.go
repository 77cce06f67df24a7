// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBuilt(t *testing.T) {
	got, err := built("CommitSize", "mariadb:11.8", []string{
		"workload.commitSize.rows=10000", "spec.workload.commitSize.sweep.rowsPerCommit=1,16,256", "database.storage.size=2Gi",
		"database.variables.innodb_flush_method=O_DIRECT", "database.settings.binaryLog=false",
		"database.resources.limits.memory=1Gi", "trials.repetitions=6", "database.nodeSelector.kubernetes.io/hostname=a",
		"claims=[{name: best, bestAt: {at: {parameters: {rowsPerCommit: '16'}}}}]",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"database": map[string]any{
			"image": "mariadb:11.8", "storage": map[string]any{"size": "2Gi"}, "settings": map[string]any{"binaryLog": false},
			"variables":    map[string]any{"innodb_flush_method": "O_DIRECT"},
			"resources":    map[string]any{"limits": map[string]any{"memory": "1Gi"}},
			"nodeSelector": map[string]any{"kubernetes.io/hostname": "a"},
		},
		"workload": map[string]any{"type": "CommitSize", "commitSize": map[string]any{
			"rows": int64(10000), "sweep": map[string]any{"rowsPerCommit": []any{int64(1), int64(16), int64(256)}},
		}},
		"trials": map[string]any{"repetitions": int64(6)},
		"claims": []any{map[string]any{"name": "best", "bestAt": map[string]any{"at": map[string]any{
			"parameters": map[string]any{"rowsPerCommit": "16"},
		}}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSetErrors: a mistake is answered by what is allowed there.
func TestSetErrors(t *testing.T) {
	for setting, says := range map[string]string{
		"workload.commitsize.rows=1": `spec.workload has no field "commitsize"; it has bulkInsert, commitSize, custom, dataFrom, iiBench, limits, ` +
			"schemaFrom, sysbench, tprochLoad, type",
		"workload.commitSize.row=1":                 `spec.workload.commitSize has no field "row"; it has commit, compat, points, rampSeconds, ratePerSecond, rows, rowsPerCommit, sweep`,
		"workload.commitSize.rows=many":             "spec.workload.commitSize.rows is a number: cannot unmarshal string",
		"workload.commitSize.rows=":                 "spec.workload.commitSize.rows is a number: a value is missing",
		"workload.commitSize.rows.more=1":           "spec.workload.commitSize.rows has no fields: spec.workload.commitSize.rows.more is too long",
		"workload.commitSize.sweep.rowsPerCommit=a": "spec.workload.commitSize.sweep.rowsPerCommit is a list, for example 1,2,3, each a number",
		"workload.commitSize=1":                     "spec.workload.commitSize is an object with the fields commit, compat, points, rampSeconds, ratePerSecond, rows, rowsPerCommit, sweep",
		"workload.commitSize.points=[{rows: 1}]":    `a list of objects with the fields commit, ratePerSecond, rowsPerCommit: unknown field "rows"`,
		"database.storage.size=much":                "spec.database.storage.size is a quantity",
		"database.storage.size.x=1":                 "spec.database.storage.size has no fields",
		"database.settings.binaryLog=maybe":         "spec.database.settings.binaryLog is true or false",
		"database.variables=1":                      "spec.database.variables is a map: write the key after a dot",
		"seed":                                      "write PATH=VALUE",
		"=1":                                        `spec has no field ""`,
	} {
		if _, err := built("CommitSize", "", []string{setting}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v does not say %q", setting, err, says)
		}
	}
	const types = "use one of CommitSize, BulkInsert, IIBench, TPROCHLoad, Sysbench, Custom"
	if _, err := built("commitsize", "", nil); err == nil || !strings.Contains(err.Error(), "use one of BulkInsert, CommitSize, Custom, IIBench, Sysbench, TPROCHLoad") {
		t.Errorf("%v does not say %q", err, types)
	}
}
