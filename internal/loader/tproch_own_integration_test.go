// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

var isoDate = regexp.MustCompile(`(?m)(^|\|)(\d{4}-\d\d-\d\d)(\|)`)

// tprochTexts are all tables' files for seed 7, the dates as HammerDB writes them and LINEITEM in two pieces.
var tprochTexts = sync.OnceValue(func() map[string][]byte {
	texts := map[string][]byte{}
	data := tproch.New(7, 1)
	for _, table := range tproch.Tables() {
		name := strings.ToLower(table.String())
		var text []byte
		for unit := range data.Units(table) {
			text = data.Append(text, table, unit)
		}
		for range 2 { // neighbours share a separator
			text = isoDate.ReplaceAllFunc(text, func(found []byte) []byte {
				m := isoDate.FindSubmatch(found)
				day, err := time.Parse(time.DateOnly, string(m[2]))
				if err != nil {
					panic(err)
				}
				return []byte(string(m[1]) + strings.ToUpper(day.Format("2006-Jan-02")) + string(m[3]))
			})
		}
		texts[name+".tbl"] = text
	}
	text := texts["lineitem.tbl"]
	half := slices.Index(text[len(text)/2:], '\n') + len(text)/2
	// The first piece lacks its last line feed.
	texts["lineitem_1.tbl"], texts["lineitem_2.tbl"] = text[:half], text[half+1:]
	delete(texts, "lineitem.tbl")
	return texts
})

func tprochFolder(t testing.TB) *result.Data {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tprochTexts() {
		must.Write(t, filepath.Join(dir, name), text)
	}
	return &result.Data{Root: dir, Path: "."}
}

// tprochSchema makes the eight tables without keys, with one column of another type and one more.
func tprochSchema(t testing.TB, engine string) string {
	t.Helper()
	sql := strings.Join(tproch.Schema(), ";\n")
	sql = regexp.MustCompile(`,\s+PRIMARY KEY \([A-Z_, ]+\)`).ReplaceAllString(sql, "")
	sql = strings.ReplaceAll(sql, "ENGINE=InnoDB", "ENGINE="+engine)
	sql = strings.Replace(sql, "PS_SUPPLYCOST INT NOT NULL", "PS_SUPPLYCOST DECIMAL(15,2), MORE INT DEFAULT 5", 1)
	path := filepath.Join(t.TempDir(), "tproch.sql")
	must.Write(t, path, sql)
	return path
}

func TestIntegrationTPROCHOwnFiles(t *testing.T) {
	for name, change := range map[string]func(*tprochload.Parameters){
		"one after another": func(*tprochload.Parameters) {},
		"in chunks":         func(p *tprochload.Parameters) { p.LoadMode, p.RowsPerChunk, p.Indexes = "Chunked", 10_000, "After" },
		"parallel": func(p *tprochload.Parameters) {
			p.LoadMode, p.Clients, p.ForeignKeyChecks = "Parallel", ptr.To(4), false
		},
	} {
		t.Run(name, func(t *testing.T) {
			setGlobal(t, "lc_time_names", "de_DE")
			tr := newTPROCHLoad(t, change)
			tr.cfg.Workload.Data = tprochFolder(t)
			summary, doc := tr.mustRun(t)
			var names []string
			rows := int64(0)
			for _, in := range doc.Inputs {
				text, err := os.ReadFile(filepath.Join(tr.cfg.Workload.Data.Root, in.Name))
				if err != nil || in.SHA256 != sumOf(string(text)) {
					t.Errorf("%+v: %v, the file has %s", in, err, sumOf(string(text)))
				}
				names, rows = append(names, in.Name), rows+in.Rows
			}
			if len(names) != 9 || rows != doc.Totals.Rows || !slices.Contains(names, "lineitem_2.tbl") {
				t.Errorf("%d rows of %v, %d were loaded", rows, names, doc.Totals.Rows)
			}
			sums(t, doc)
			if len(summary.Inputs) != 1 || summary.Inputs[0].Rows != rows || summary.Inputs[0].Name != "9 files" {
				t.Errorf("inputs of the summary %+v", summary.Inputs)
			}
			if len(doc.Checks) != 3 || !checkNamed(t, doc, "input").Passed {
				t.Errorf("checks %+v", doc.Checks)
			}
			// Dates were understood: the table is what it would be, had Benchrun made the rows.
			for _, table := range []tproch.Table{tproch.Orders, tproch.LineItem} {
				want := tproch.New(7, 1).Checksum(table)
				var got tproch.Checksum
				query := "SELECT COUNT(*), BIT_XOR(crc), SUM(crc) FROM (SELECT CRC32(CONCAT_WS('|', " + strings.Join(table.Columns(), ", ") +
					")) AS crc FROM bench." + table.String() + ") AS r"
				if err := other(t).QueryRow(query).Scan(&got.Rows, &got.Xor, &got.Sum); err != nil || got != want {
					t.Errorf("%s has %s, want %s, %v", table, got, want, err)
				}
			}
		})
	}
}

func TestIntegrationTPROCHOwnFilesThatAreNoGood(t *testing.T) {
	for name, tc := range map[string]struct {
		file, from, to string
		reason         result.Cause
		words          []string
	}{
		"a field too few": {
			"region.tbl", "|AFRICA|", "|", result.CauseConfiguration, []string{"region.tbl, line 1: 2 fields for 3 columns"},
		},
		"a row twice": {
			"nation.tbl", "\n1|", "\n0|", result.CauseCheckFailed, []string{"NATION: 1, the first: Duplicate entry '0'", "25 sent, 24 written"},
		},
		"dates of two sorts": {
			"orders.tbl", "1996-", "96/", result.CauseCheckFailed, []string{"warnings: ORDERS: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.ForeignKeyChecks = false })
			tr.cfg.Workload.Data = tprochFolder(t)
			replaceInFile(t, filepath.Join(tr.cfg.Workload.Data.Root, tc.file), tc.from, tc.to)
			tr.mustFail(t.Context(), t, tc.reason, tc.words...)
		})
	}
}

func TestIntegrationTPROCHOwnSchema(t *testing.T) {
	for _, files := range []bool{false, true} {
		tr := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.Analyze = true })
		tr.cfg.Workload.SchemaFile = tprochSchema(t, "MyISAM")
		if files {
			tr.cfg.Workload.Data = tprochFolder(t)
		}
		_, doc := tr.mustRun(t)
		rows := checkNamed(t, doc, "rows").Detail
		if !files && rows != "all tables have all of their rows; PARTSUPP was only counted: PS_SUPPLYCOST is decimal(15,2)" {
			t.Errorf("rows: %s", rows)
		}
		if !files && checksum(doc) != "all rows of the other tables match the rows that were sent" {
			t.Errorf("checks %+v", doc.Checks)
		}
		var engines, keys int
		if err := other(t).QueryRow("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'bench' AND engine = 'MyISAM'").
			Scan(&engines); err != nil || engines != 8 {
			t.Errorf("%d tables of MyISAM, %v", engines, err)
		}
		if err := other(t).QueryRow("SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'bench' AND table_name NOT LIKE 'benchrun%'").
			Scan(&keys); err != nil || keys != 0 {
			t.Errorf("%d keys, %v", keys, err)
		}
	}
	tr := newTPROCHLoad(t, func(*tprochload.Parameters) {})
	path := filepath.Join(t.TempDir(), "some.sql")
	must.Write(t, path, "CREATE TABLE REGION (R_REGIONKEY INT); CREATE TABLE region (x INT)")
	tr.cfg.Workload.SchemaFile = path
	tr.mustFail(t.Context(), t, result.CauseConfiguration, "table REGION has no column R_NAME, R_COMMENT; there is no table NATION; ",
		"there is no table LINEITEM")
}
