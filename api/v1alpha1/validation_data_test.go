//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

// from is an overlay of a workload with the data of a claim, and what else is said of them.
func from(more string) string {
	return spec("workload: {dataFrom: {persistentVolumeClaim: mine, path: a/b.csv" + more + "}}")
}

// own is the same with a schema of the user's.
func own(more string) string {
	return spec("workload: {schemaFrom: {name: mine, key: a.sql}, dataFrom: {persistentVolumeClaim: mine, path: a/b.csv" + more + "}}")
}

// TestEnvtestDataRules asks a real API server about each rule of dataFrom and schemaFrom.
func TestEnvtestDataRules(t *testing.T) {
	const schema = "workload: {schemaFrom: {name: mine, key: a.sql}}"
	checkRules(t, minimalBulkInsert, map[string]rule{
		"path": {
			allowed: []string{from(""), from(", path: ."), from(", path: a..b/.c/d"), from(", path: \"ä b\"")},
			refused: []string{from(", path: /a"), from(", path: ../a"), from(", path: a/../b"), from(", path: a/..")},
			says:    "path is relative to the volume: it begins without / and has no ..",
		},
		"path is needed":  {refused: []string{from(", path: null"), from(`, path: ""`)}, says: "path"},
		"claim is needed": {refused: []string{spec("workload: {dataFrom: {path: a}}")}, says: "persistentVolumeClaim: Required value"},
		"claim":           {refused: []string{from(", persistentVolumeClaim: a/b")}, says: "persistentVolumeClaim in body should match"},
		"format": {
			allowed: []string{from(", format: TSV"), from(", format: CSV")}, refused: []string{from(", format: JSON")},
			says: `supported values: "TSV", "CSV"`,
		},
		"separator": {
			allowed: []string{
				from(`, separator: ";"`), from(`, separator: "|"`), from(`, separator: "\t"`), from(`, separator: " "`), from(`, separator: "^"`),
				from(`, separator: "["`), from(`, separator: "]"`), from(`, separator: "-"`), from(`, separator: "~"`), from(", separator: '`'"),
			},
			refused: []string{from(`, separator: "a"`), from(`, separator: "0"`), from(`, separator: "\\"`), from(`, separator: "\""`), from(`, separator: "'"`), from(`, separator: "\n"`), from(`, separator: "ß"`)},
			says:    "separator is one ASCII character",
		},
		"empty fields": {
			allowed: []string{from(`, emptyIs: "NULL"`), from(", emptyIs: EmptyString")},
			refused: []string{from(`, emptyIs: "null"`), from(`, emptyIs: ""`)}, says: `supported values: "EmptyString", "NULL"`,
		},
		"separator's length": {refused: []string{from(`, separator: "||"`)}, says: "may not be more than 1"},
		"header": {
			allowed: []string{from(", headerLines: 0"), from(", headerLines: 100")},
			refused: []string{from(", headerLines: -1"), from(", headerLines: 101")}, says: "headerLines",
		},
		"table": {
			allowed: []string{own(", table: Own_1")},
			refused: []string{own(", table: a.b"), own(`, table: "a b"`)}, says: "table in body should match",
		},
		"table needs schema": {refused: []string{from(", table: own")}, says: "dataFrom.table needs schemaFrom"},
		"loader's tables":    {refused: []string{own(", table: benchrun_attempts")}, says: "names that begin with benchrun_"},
		"columns": {
			allowed: []string{from(", columns: [a, b_1, c$]")},
			refused: []string{from(", columns: [a-b]"), from(", columns: ['a`']")}, says: "columns[0] in body should match",
		},
		"columns are different": {refused: []string{from(", columns: [a, b, a]")}, says: "Duplicate value"},
		"one pod": {
			allowed: []string{from("") + "\n"},
			refused: []string{spec("loader: {pods: 2}, workload: {dataFrom: {persistentVolumeClaim: mine, path: a}}")},
			says:    "one Pod reads a file of dataFrom",
		},
		"schema": {
			allowed: []string{spec(schema)},
			refused: []string{spec("workload: {schemaFrom: {name: mine}}"), spec("workload: {schemaFrom: {key: a.sql}}")}, says: "Required value",
		},
	})
	checkRules(t, tprochMinimal, map[string]rule{
		"options of files": {
			allowed: []string{from("")},
			refused: []string{
				from(", format: CSV"), from(`, separator: "|"`), from(`, emptyIs: "NULL"`), from(", headerLines: 1"), own(", table: own"), from(", columns: [a]"),
			},
			says: "TPROCHLoad reads files as HammerDB writes them",
		},
		"staged": {
			refused: []string{spec("loader: {scratch: {}}, workload: {tprochLoad: {data: Staged}, dataFrom: {persistentVolumeClaim: mine, path: a}}")},
			says:    "data: Staged is for generated data",
		},
		"keys": {
			allowed: []string{spec(schema), own("")},
			refused: []string{spec("workload: {tprochLoad: {indexes: After}, schemaFrom: {name: mine, key: a.sql}}")},
			says:    "with schemaFrom, its SQL defines all keys",
		},
		"scale": {
			allowed: []string{spec("workload: {tprochLoad: {sweep: {loadMode: [OneStatement]}}, dataFrom: {persistentVolumeClaim: mine, path: a}}")},
			later: []string{
				spec(`workload: {tprochLoad: {sweep: {scaleFactor: ["1"]}}, dataFrom: {persistentVolumeClaim: mine, path: a}}`),
				spec(`workload: {tprochLoad: {points: [{scaleFactor: "1"}]}, dataFrom: {persistentVolumeClaim: mine, path: a}}`),
			},
			says: "scaleFactor cannot be swept with dataFrom",
		},
	})
	for says, overlay := range map[string]string{
		"dataFrom is for BulkInsert and TPROCHLoad":   from(""),
		"schemaFrom is for BulkInsert and TPROCHLoad": spec(schema),
	} {
		for _, base := range []string{minimal, minimalIIBench, minimalCustom} {
			checkRules(t, base, map[string]rule{"other workloads": {refused: []string{overlay}, says: says}})
		}
	}
}
