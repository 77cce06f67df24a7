// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import "github.com/benchrun-dev/benchrun/internal/mysqlwire"

// Prepared is a statement with placeholders, which the server parses once for all of its executions.
type Prepared struct {
	SQL string
	// Types of the values of a row, in the order of their placeholders.
	Types []mysqlwire.Type
	// Rows is how many rows' placeholders SQL has, which is how many each execution inserts; 0 is one row's, for executions
	// with any number of rows by MariaDB's COM_STMT_BULK_EXECUTE.
	Rows int64
}
