// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
)

// The rows are the same however they are sent, in statements and transactions of the same sizes. The last statement is a shorter
// one.
func TestIntegrationProtocols(t *testing.T) {
	for _, table := range []string{"FileList", "Narrow"} {
		seen := map[string]string{}
		for _, protocol := range []string{"Text", "Prepared", "Bulk"} {
			_, doc := newBulkInsert(t, func(p *bulkinsert.Parameters) {
				p.Table, p.Tables, p.Protocol, p.Rows = table, 2, protocol, 10_001
			}).mustRun(t)
			want := result.Totals{
				Rows: 10_001, Transactions: 17, Statements: 34 + 17, Micros: doc.Totals.Micros, StoppedBy: result.StoppedByRows,
			}
			if diff := cmp.Diff(want, doc.Totals); diff != "" {
				t.Errorf("%s by %s: totals (-want +got):\n%s", table, protocol, diff)
			}
			sums(t, doc)
			seen[protocol] = checksum(doc)
		}
		if seen["Text"] == "" || seen["Prepared"] != seen["Text"] || seen["Bulk"] != seen["Text"] {
			t.Errorf("%s: the same seed gave %v", table, seen)
		}
	}
}
