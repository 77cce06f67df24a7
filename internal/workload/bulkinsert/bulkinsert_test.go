// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import (
	"regexp"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func newTestBulkInsert(t testing.TB, change func(*Parameters)) *bulkInsert {
	t.Helper()
	p := &Parameters{
		Table: "FileList", Tables: 1, Rows: 10, RowsPerStatement: 3, StatementsPerTransaction: 2, Clients: 1, StorageEngine: "InnoDB",
	}
	change(p)
	w := must.Get(New(&result.Config{Seed: 42, Workload: workloadtest.Load(Definition, p)}))(t)
	return w.(*bulkInsert)
}

func narrowTable(p *Parameters) { p.Table = "Narrow" }

// The data of a seed never changes: results of different releases would not be comparable.
func TestBulkInsertGolden(t *testing.T) {
	for _, tc := range []struct{ table, row, checksum string }{
		{
			"FileList",
			"('/s2o11tv0subxlbi/ituezzkwt/ix5bd53ro4bvdmogka3y/p0yw4kwg1mzm/pc1xx3nc411/o1pbkdkorydshwqw/egiewiysauzg4g/" +
				"ulae15zxvrybgycer/qj5cgvm/emzgn5hgbbv0/JI9Q3ZRP58RAT98B677O.dat','2019-05-28 04:26:21.536790',447)",
			"rows=1000 xor=3573bc07 sum=2156756916661",
		},
		{"Narrow", "(1000,9403573)", "rows=1000 xor=410dec04 sum=2108463125022"},
	} {
		w := newTestBulkInsert(t, func(p *Parameters) { p.Table, p.Rows = tc.table, 1000 })
		if got := string(w.load.AppendRow(nil, 1000)); got != tc.row {
			t.Errorf("row 1000 of %s is %s, want %s", tc.table, got, tc.row)
		}
		if got := w.table.Checksum(w.load.Sent([]int64{1000})).String(); got != tc.checksum {
			t.Errorf("checksum of %s is %s, want %s", tc.table, got, tc.checksum)
		}
	}
}

func TestBulkInsertStatements(t *testing.T) {
	s := &workloadtest.Script{}
	w := newTestBulkInsert(t, narrowTable)
	stopped, err := w.Measure(t.Context(), workloadtest.Client(0, s))
	if err != nil || stopped != result.StoppedByRows {
		t.Fatalf("%v, %v", stopped, err)
	}
	insert := func(rows ...int64) string {
		var values []string
		for _, n := range rows {
			values = append(values, string(w.load.AppendRow(nil, n)))
		}
		return "INSERT INTO narrow (id, k) VALUES " + strings.Join(values, ",")
	}
	want := []string{insert(1, 2, 3), insert(4, 5, 6), "COMMIT", insert(7, 8, 9), insert(10), "COMMIT"}
	must.Same(t, "statements", want, s.Statements)
	must.Same(t, "rows at each commit", []int64{6, 10}, s.Commits)
}

func TestBulkInsertErrors(t *testing.T) {
	w := newTestBulkInsert(t, narrowTable)
	second := "INSERT INTO narrow (id, k) VALUES " + string(w.load.AppendRow(nil, 4)) + "," +
		string(w.load.AppendRow(nil, 5)) + "," + string(w.load.AppendRow(nil, 6))
	for refuse, want := range map[string]string{
		second:   "inserting rows 4 to 6: refused",
		"COMMIT": "committing after row 6: refused",
	} {
		s := &workloadtest.Script{Refuse: refuse}
		w := newTestBulkInsert(t, narrowTable)
		if _, err := w.Measure(t.Context(), workloadtest.Client(0, s)); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestNewBulkInsertRefuses(t *testing.T) {
	for want, change := range map[string]func(*Parameters){
		`table is "x" but must be FileList or Narrow`: func(p *Parameters) { p.Table = "x" },
		"rows is 0":                     func(p *Parameters) { p.Rows = 0 },
		"rowsPerStatement is 0":         func(p *Parameters) { p.RowsPerStatement = 0 },
		"statementsPerTransaction is 0": func(p *Parameters) { p.StatementsPerTransaction = 0 },
		"tables is 0":                   func(p *Parameters) { p.Tables = 0 },
		"clients is 0":                  func(p *Parameters) { p.Clients = 0 },
		`storageEngine is "a;b"`:        func(p *Parameters) { p.StorageEngine = "a;b" },
	} {
		p := newTestBulkInsert(t, narrowTable).params
		change(&p)
		if _, err := New(&result.Config{Workload: workloadtest.Load(Definition, p)}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestFileListRows(t *testing.T) {
	form := regexp.MustCompile(`^\('((?:/[a-z0-5]+)+)/[A-Z0-9]{20}\.dat','201\d-[01]\d-[0-3]\d [0-2]\d:[0-5]\d:[0-5]\d\.\d{6}',\d{1,13}\)$`)
	data, bytes, folders := newFileList(7), 0, map[string]bool{}
	const n = 20_000
	for i := int64(1); i <= n; i++ {
		row := string(data.appendRow(nil, i))
		match := form.FindStringSubmatch(row)
		if match == nil || len(row)+1 > maxFileRow {
			t.Fatalf("row %d is %s", i, row)
		}
		bytes += len(row) + 1
		folders[match[1]] = true
	}
	if mean := bytes / n; mean < 180 || mean > 200 {
		t.Errorf("a row takes %d bytes on average", mean)
	}
	if len(folders) < 200 || len(folders) > n>>filesPerFolderLog+1 {
		t.Errorf("%d folders", len(folders))
	}
	for i := range data.folders {
		if length := len(data.folders[i]); length < minFolder || length > maxFolder || strings.Contains(data.folders[i], "//") {
			t.Errorf("folder %s", data.folders[i])
		}
	}
	if string(newFileList(7).appendRow(nil, 5)) == string(newFileList(8).appendRow(nil, 5)) {
		t.Error("two seeds have the same rows")
	}
}
