// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// large is 64 threads on so many tables.
func large(script string, tables int32, options map[string]string) *Parameters {
	return &Parameters{Script: script, Threads: 64, Tables: ptr.To(tables), Percentile: 95, RandType: "uniform", Options: options}
}

func TestSysbenchPreparedStatements(t *testing.T) {
	for _, tc := range []struct {
		name string
		p    *Parameters
		want int64
	}{
		{"nine of a table", large("oltp_read_write", 32, nil), 64 * 32 * 9},
		{"without ranges", large("oltp_read_write", 32, map[string]string{"range-selects": "off"}), 64 * 32 * 5},
		{"sent as text", large("oltp_read_write", 32, map[string]string{"db-ps-mode": "disable"}), 0},
		{"reads", large("oltp_read_only", 32, nil), 64 * 32 * 5},
		{"writes", large("oltp_write_only", 32, nil), 64 * 32 * 4},
		{"points", large("oltp_point_select", 32, nil), 64 * 32},
		{"inserts are text", large("oltp_insert", 32, nil), 0},
		{"a name for another", large("read-write-10", 32, nil), 64 * 32 * 9},
		{"one table", large("update-one", 32, nil), 64},
		{"a script of Benchrun's", large("scan", 32, nil), 64 * 32},
		{"tpcc is text", &Parameters{Script: scriptTPCC, Threads: 64, Tables: ptr.To[int32](32)}, 0},
		{"no tables", &Parameters{Script: "oltp_read_write", Threads: 64}, 64 * 9},
		{"churn", &Parameters{Script: "oltp_insert", Threads: 64, Tables: ptr.To[int32](32), Churn: 1}, 64 * 32 * 4},
		{"nobody knows", &Parameters{ScriptFrom: &ScriptFrom{Name: "a", Key: "b"}, Threads: 64, Tables: ptr.To[int32](32)}, 0},
	} {
		if got := tc.p.prepares(); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

// Each script is in the list of those that prepare statements, or is known to prepare none.
func TestSysbenchPreparedStatementsOfEveryScript(t *testing.T) {
	none := map[string]bool{scriptInsert: true, scriptBulkInsert: true, tpccFile: true}
	for name, s := range allScripts {
		if (statements[s.lua] > 0) == none[s.lua] {
			t.Errorf("%s executes %s, which prepares %d statements", name, s.lua, statements[s.lua])
		}
	}
}

func TestSysbenchRefusesMoreStatementsThanTheServerKeeps(t *testing.T) {
	set := func(name, value string) []result.Setting { return []result.Setting{{Name: name, Value: value}} }
	for name, tc := range map[string]struct {
		tables   int32
		settings []result.Setting
		borrowed bool
		refused  bool
	}{
		"more than servers keep":         {32, nil, false, true},
		"fewer":                          {16, nil, false, false},
		"it is set to more":              {32, set("max_prepared_stmt_count", "20000"), false, false},
		"it is set to fewer":             {32, set("max_prepared_stmt_count", "18431"), false, true},
		"spelled as an option":           {16, set("Max-Prepared-Stmt-Count", "100"), false, true},
		"a server of the user's":         {32, nil, true, false},
		"a server of the user's, if set": {32, set("max_prepared_stmt_count", "16382"), true, true},
	} {
		err := Definition.Validate(&result.Config{
			Workload: workloadtest.Load(Definition, large("oltp_read_write", tc.tables, nil)), Settings: tc.settings,
			Server: result.Server{Borrowed: tc.borrowed},
		})
		if (err != nil) != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
		if tc.tables == 32 && err != nil && !strings.Contains(err.Error(), "set max_prepared_stmt_count in database.variables to 18560 or more") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
