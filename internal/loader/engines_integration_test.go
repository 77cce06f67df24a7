// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

// The same workload and seed load the same rows, whatever the server. What is expected is written down here, and every layer of
// tests runs this against a server of its own: equal to this is equal to each other. The sums are the server's, over the text of
// all columns, and therefore not the loader's own checksum.
func TestIntegrationEveryEngineLoadsTheSameRows(t *testing.T) {
	for name, tc := range map[string]struct {
		trial *trial
		want  map[string]string
	}{
		"CommitSize": {newTrial(t, commitsize.Parameters{Rows: 1000, RowsPerCommit: 10}), map[string]string{
			"demo": "1000 rows, 2121539097290",
		}},
		"BulkInsert": {newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Concurrency = 1 }), map[string]string{
			"inserts": "10000 rows, 21701584346817",
		}},
		"IIBench": {newIIBench(t, func(*iibench.Parameters) {}), map[string]string{
			"purchases_index": "25000 rows, 53638041140431",
		}},
		"TPROCHLoad": {newTPROCHLoad(t, func(*tprochload.Parameters) {}), map[string]string{
			"REGION": "5 rows, 15675214009", "NATION": "25 rows, 51003782326",
			"SUPPLIER": "100 rows, 234493128447", "CUSTOMER": "1500 rows, 3309313090940",
			"PART": "2000 rows, 4254779744031", "PARTSUPP": "8000 rows, 17049063862898",
			"ORDERS": "15000 rows, 32239956411690", "LINEITEM": "59630 rows, 128256073971952",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, doc := tc.trial.mustRun(t)
			for _, c := range doc.Checks {
				if !c.Passed {
					t.Errorf("%+v", c)
				}
			}
			for table, want := range tc.want {
				if got := rowSum(t, table); got != want {
					t.Errorf("%s: %s, want %s", table, got, want)
				}
			}
		})
	}
}

// A server of another engine would be configured and read wrongly.
func TestIntegrationAnotherEngine(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 1, RowsPerCommit: 1})
	tr.cfg.Server.Engine = map[*engine.Engine]string{&engine.MariaDB: "MySQL", &engine.MySQL: "MariaDB"}[testedEngine(t)]
	tr.mustFail(t.Context(), t, result.CauseSettingNotEffective,
		"engine "+tr.cfg.Server.Engine+" was requested, but the server is "+globals(t)["version"])
}

// rowSum is the number of rows of a table and the sum of their checksums.
func rowSum(t testing.TB, table string) string {
	t.Helper()
	db := other(t)
	var columns, n, sum string
	const names = "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns" +
		" WHERE table_schema = 'bench' AND table_name = ?"
	if err := db.QueryRow(names, table).Scan(&columns); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	query := fmt.Sprintf("SELECT COUNT(*), SUM(CRC32(CONCAT_WS('|', %s))) FROM bench.%s", columns, table)
	if err := db.QueryRow(query).Scan(&n, &sum); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join([]string{n, sum}, " rows, ")
}
