// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func bulkInsert(spec *v1alpha1.BulkInsertWorkload) *result.BulkInsert {
	return &result.BulkInsert{
		Table: string(spec.Table), Tables: int(spec.Tables), Rows: spec.Rows,
		RowsPerStatement: spec.RowsPerStatement, StatementsPerTransaction: spec.StatementsPerTransaction,
		Concurrency: int(spec.Concurrency), StorageEngine: spec.StorageEngine,
	}
}

func iiBench(spec *v1alpha1.IIBenchWorkload) *result.IIBench {
	p := &result.IIBench{
		Schema: string(spec.Schema), Rows: spec.Rows,
		RowsPerCommit: spec.RowsPerCommit, RowsPerStatement: spec.RowsPerStatement, StorageEngine: spec.StorageEngine,
		SecondaryIndexes: int(ptr.Deref(spec.SecondaryIndexes, 3)), IndexesAt: string(spec.IndexesAt),
		InsertThreads: int(spec.InsertThreads), QueryThreads: int(ptr.Deref(spec.QueryThreads, 0)),
		KeepRows: ptr.Deref(spec.KeepRows, 0), ReportEveryRows: spec.ReportEveryRows,
	}
	if spec.Rules != v1alpha1.IIBenchNoRules {
		p.Rules = string(spec.Rules)
	}
	return p
}
