// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

// BulkInsert are the parameters of the workload of that name.
type BulkInsert struct {
	// Table is FileList or Narrow.
	Table string `json:"table"`
	// Tables of that kind; connection c, from 0, writes to table c modulo Tables.
	Tables                   int   `json:"tables"`
	Rows                     int64 `json:"rows"`
	RowsPerStatement         int64 `json:"rowsPerStatement"`
	StatementsPerTransaction int64 `json:"statementsPerTransaction"`
	// Concurrency is the number of connections.
	Concurrency   int    `json:"concurrency"`
	StorageEngine string `json:"storageEngine"`
}

// IIBench are the parameters of the workload of that name.
type IIBench struct {
	// Schema is InsertBenchmark or Tokutek2008.
	Schema           string `json:"schema"`
	Rows             int64  `json:"rows"`
	RowsPerCommit    int64  `json:"rowsPerCommit"`
	RowsPerStatement int64  `json:"rowsPerStatement"`
	StorageEngine    string `json:"storageEngine"`
	// SecondaryIndexes is 0 to 3; IndexesAt is Start or End.
	SecondaryIndexes int    `json:"secondaryIndexes"`
	IndexesAt        string `json:"indexesAt"`
	InsertThreads    int    `json:"insertThreads"`
	QueryThreads     int    `json:"queryThreads,omitempty"`
	// KeepRows is the number of rows from which on as many of the oldest are deleted as are inserted; 0 is never.
	KeepRows        int64 `json:"keepRows,omitempty"`
	ReportEveryRows int64 `json:"reportEveryRows"`
	// Rules is empty or Contest2008.
	Rules string `json:"rules,omitempty"`
}
