// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The sink swallows every workload that needs no answer but that all is well, statements of several packets too.
func TestNoop(t *testing.T) {
	for _, tc := range []struct {
		workload         string
		rows, statements int64
		bytes            int64
	}{
		{`{"type":"CommitSize","parameters":{"rows":100,"rowsPerCommit":10}}`, 100, 110, 100 * 60},
		{`{"type":"BulkInsert","parameters":{"table":"Narrow","tables":2,"rows":10000,"rowsPerStatement":30,"statementsPerTransaction":2,"concurrency":3,"storageEngine":"InnoDB"}}`, 10_000, 334 + 167, 10_000 * 14},
		{`{"type":"BulkInsert","parameters":{"table":"FileList","tables":1,"rows":200000,"rowsPerStatement":200000,"statementsPerTransaction":1,"concurrency":1,"storageEngine":"InnoDB"}}`, 200_000, 2, 200_000 * 170},
		{`{"type":"BulkInsert","parameters":{"table":"FileList","tables":2,"rows":10000,"rowsPerStatement":30,"statementsPerTransaction":2,"concurrency":3,"storageEngine":"InnoDB","protocol":"Prepared"}}`, 10_000, 334 + 167, 10_000 * 150},
		{`{"type":"BulkInsert","parameters":{"table":"Narrow","tables":1,"rows":2000000,"rowsPerStatement":2000000,"statementsPerTransaction":1,"concurrency":1,"storageEngine":"InnoDB","protocol":"Bulk","commit":"Autocommit"}}`, 2_000_000, 1, 2_000_000 * 10},
		{`{"type":"IIBench","parameters":{"schema":"Tokutek2008","rows":5000,"rowsPerCommit":1000,"rowsPerStatement":500,"storageEngine":"InnoDB","secondaryIndexes":3,"indexesAt":"Start","insertThreads":2,"reportEveryRows":1000}}`, 5000, 15, 5000 * 40},
		{`{"type":"TPROCHLoad","parameters":{"scaleFactor":"0.01","data":"Streamed","loadMode":"Chunked","rowsPerChunk":2000,"foreignKeyChecks":true,"uniqueChecks":true,"indexes":"Before"}}`, 86260, 47, 10_401_513},
		{`{"type":"TPROCHLoad","parameters":{"scaleFactor":"0.01","data":"Streamed","loadMode":"Parallel","streams":8,"foreignKeyChecks":true,"uniqueChecks":true,"indexes":"Before"}}`, 86260, 8, 10_401_513},
	} {
		report, err := Noop(t.Context(), tc.workload, 42, 0)
		if err != nil {
			t.Fatal(err)
		}
		if report.Rows != tc.rows || report.Statements != tc.statements || report.Bytes < tc.bytes || report.RowsPerSecond <= 0 ||
			report.Seconds <= 0 || report.CPUMicrosPerRow < 0 {
			t.Errorf("%s: %+v", tc.workload, report)
		}
	}
}

// A file of the user's is surveyed and read as for a server.
func TestNoopReadsAFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rows.tsv"), []byte(strings.Repeat("/a\t2024-01-01\t17\n", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	const from = `{"type":"BulkInsert","parameters":{"table":"FileList","tables":1,"rows":9000,"rowsPerStatement":100,"statementsPerTransaction":1,"concurrency":2,"storageEngine":"InnoDB"},"data":{"root":%q,"path":"rows.tsv","format":"TSV"%s}%s}`
	report, err := Noop(t.Context(), fmt.Sprintf(from, dir, "", ""), 42, 0)
	if err != nil || report.Rows != 5000 || report.Statements != 100 || report.Bytes < 5000*25 {
		t.Errorf("%+v, %v", report, err)
	}
	_, err = Noop(t.Context(), fmt.Sprintf(from, dir, `,"table":"own"`, `,"schemaFile":"own.sql"`), 42, 0)
	if err == nil || !strings.Contains(err.Error(), "dataFrom.columns must name the columns") {
		t.Errorf("error %v", err)
	}
}

func TestNoopLimit(t *testing.T) {
	const endless = `{"type":"BulkInsert","parameters":{"table":"Narrow","tables":1,"rows":1000000000000,"rowsPerStatement":100,"statementsPerTransaction":1,"concurrency":2,"storageEngine":"InnoDB"}}`
	report, err := Noop(t.Context(), endless, 42, 50*time.Millisecond)
	if err != nil || report.Seconds < 0.05 || report.Seconds > 5 || report.Rows < 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestNoopRefuses(t *testing.T) {
	for workload, want := range map[string]string{
		`{`:                  "reading the workload",
		`{"typo":"x"}`:       "unknown field",
		`{"type":"Unknown"}`: "is unknown; use one of",
		`{"type":"CommitSize","parameters":{"rows":-1,"rowsPerCommit":1}}`: "rows is -1",
	} {
		if _, err := Noop(t.Context(), workload, 1, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", workload, err, want)
		}
	}
}
