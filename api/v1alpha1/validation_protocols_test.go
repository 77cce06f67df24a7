//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import "testing"

func encrypted(s string) string {
	return spec("database: {tls: {mode: Required}}, workload: {bulkInsert: {" + s + "}}")
}

func onMySQL(s string) string {
	return spec("database: {engine: MySQL}, workload: {bulkInsert: {" + s + "}}")
}

func fromFile(s string) string {
	return spec("workload: {dataFrom: {persistentVolumeClaim: rows, path: a.csv}, bulkInsert: {" + s + "}}")
}

func commitSize(s string) string { return spec("workload: {commitSize: {" + s + "}}") }

// TestEnvtestProtocolRules asks a real API server how rows may be sent, and how transactions may end.
func TestEnvtestProtocolRules(t *testing.T) {
	for name, r := range map[string]struct {
		base             string
		allowed, refused []string
		says             string
	}{
		"protocol": {
			minimalBulkInsert,
			[]string{
				bulk("protocol: Text"), bulk("protocol: Prepared"), bulk("sweep: {protocol: [Text, Prepared, Bulk]}"),
				bulk("points: [{protocol: Bulk}, {protocol: Text}]"), encrypted("protocol: Bulk"),
			},
			[]string{bulk("protocol: Binary"), bulk("sweep: {protocol: [bulk]}"), bulk("points: [{protocol: X}]")},
			`supported values: "Text", "Prepared", "Bulk"`,
		},
		"protocols of MySQL": {
			minimalBulkInsert,
			[]string{
				onMySQL(""), onMySQL("protocol: Prepared"), onMySQL("sweep: {protocol: [Text, Prepared]}"),
				onMySQL("points: [{protocol: Prepared}, {concurrency: 2}]"),
			},
			[]string{
				onMySQL("protocol: Bulk"), onMySQL("sweep: {protocol: [Text, Bulk]}"), onMySQL("points: [{concurrency: 2}, {protocol: Bulk}]"),
			},
			"bulkInsert.protocol must be Text or Prepared with engine MySQL",
		},
		"protocols of files": {
			minimalBulkInsert,
			[]string{fromFile(""), fromFile("sweep: {protocol: [Text]}"), fromFile("points: [{protocol: Text}, {concurrency: 2}]")},
			[]string{
				fromFile("protocol: Bulk"), fromFile("sweep: {protocol: [Text, Prepared]}"), fromFile("points: [{concurrency: 2}, {protocol: Bulk}]"),
			},
			"dataFrom goes with protocol Text",
		},
		"bulkInsert's commit": {
			minimalBulkInsert,
			[]string{
				bulk("commit: Explicit, statementsPerTransaction: 2"), bulk("commit: Autocommit"),
				bulk("sweep: {commit: [Explicit, Autocommit], statementsPerTransaction: [1]}"),
				bulk("commit: Autocommit, statementsPerTransaction: 2, points: [{statementsPerTransaction: 1}, {commit: Explicit}]"),
			},
			[]string{
				bulk("commit: Autocommit, statementsPerTransaction: 2"), bulk("commit: Autocommit, sweep: {statementsPerTransaction: [1, 2]}"),
				bulk("sweep: {commit: [Explicit, Autocommit], statementsPerTransaction: [2]}"),
				bulk("statementsPerTransaction: 2, sweep: {commit: [Autocommit]}"),
				bulk("points: [{commit: Autocommit, statementsPerTransaction: 2}]"), bulk("commit: Autocommit, points: [{statementsPerTransaction: 2}]"),
			},
			"statementsPerTransaction must be 1",
		},
		"modes of commit": {minimalBulkInsert, nil, []string{bulk("commit: Auto")}, `supported values: "Explicit", "Autocommit"`},
		"commitSize's commit": {
			minimal,
			[]string{
				commitSize("commit: Autocommit"), commitSize("commit: Explicit, rowsPerCommit: 2"),
				commitSize("sweep: {commit: [Explicit, Autocommit]}"), commitSize("points: [{rowsPerCommit: 2}, {commit: Autocommit}]"),
			},
			[]string{
				commitSize("commit: Autocommit, rowsPerCommit: 2"), commitSize("commit: Autocommit, sweep: {rowsPerCommit: [1, 2]}"),
				commitSize("rowsPerCommit: 2, sweep: {commit: [Autocommit]}"), commitSize("rowsPerCommit: 2, points: [{commit: Autocommit}]"),
				commitSize("points: [{rowsPerCommit: 2, commit: Autocommit}]"),
			},
			"rowsPerCommit must be 1",
		},
	} {
		checkRules(t, r.base, map[string]rule{name: {allowed: r.allowed, refused: r.refused, says: r.says}})
	}
}
