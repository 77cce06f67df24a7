// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func newTestBulkInsert(t testing.TB, change func(*Parameters)) *bulkInsert {
	t.Helper()
	p := &Parameters{
		Table: "FileList", Tables: 1, Rows: 10, RowsPerStatement: 3, StatementsPerTransaction: 2, Clients: 1, StorageEngine: "InnoDB",
	}
	change(p)
	w, err := New(&result.Config{Seed: 42, Workload: workloadtest.Load(Definition, p)})
	if err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff(want, s.Statements); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{6, 10}, s.Commits); diff != "" {
		t.Errorf("rows at each commit (-want +got):\n%s", diff)
	}
}

// Whatever the number of clients and whatever stops them, the rows are those from 1 on, each once, and all committed.
func TestLoadDispensesEachRowOnce(t *testing.T) {
	for _, clients := range []int{1, 3, 8} {
		for _, limit := range []time.Duration{0, 20 * time.Millisecond} {
			w := newTestBulkInsert(t, func(p *Parameters) {
				narrowTable(p)
				p.Rows, p.RowsPerStatement, p.StatementsPerTransaction, p.Clients = 1001, 7, 3, clients
			})
			scripts := make([]*workloadtest.Script, clients)
			stops := make([]result.StoppedBy, clients)
			var working sync.WaitGroup
			for i := range scripts {
				scripts[i] = &workloadtest.Script{}
				working.Go(func() {
					var err error
					client := &workload.Client{Index: i, Session: scripts[i], Recorder: scripts[i], Limit: limit}
					if stops[i], err = w.Measure(t.Context(), client); err != nil {
						t.Error(err)
					}
				})
			}
			working.Wait()
			rows := sent(t, scripts)
			for i, n := range rows {
				if n != int64(i+1) {
					t.Fatalf("%d clients: row %d is sent in place of %d", clients, n, i+1)
				}
			}
			whole := len(rows) == 1001
			if limit == 0 && !whole {
				t.Errorf("%d clients sent %d rows", clients, len(rows))
			}
			if limit > 0 && !whole && !slices.Contains(stops, result.StoppedBySeconds) {
				t.Errorf("%d clients: stopped by %v after %d rows", clients, stops, len(rows))
			}
			if limit > 0 && clients == 1 && (whole || stops[0] != result.StoppedBySeconds) {
				t.Errorf("one client sent %d rows within its limit, stopped by %s", len(rows), stops[0])
			}
		}
	}
}

var narrowID = regexp.MustCompile(`\((\d+),`)

// sent are the rows of all clients in order; each client must have committed its own.
func sent(t *testing.T, scripts []*workloadtest.Script) []int64 {
	t.Helper()
	var rows []int64
	for i, s := range scripts {
		for _, statement := range s.Statements {
			for _, match := range narrowID.FindAllStringSubmatch(statement, -1) {
				n, err := strconv.ParseInt(match[1], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, n)
			}
		}
		if n := len(s.Commits); n > 0 && s.Commits[n-1] != s.Rows {
			t.Errorf("client %d committed %d of %d rows", i, s.Commits[n-1], s.Rows)
		}
	}
	slices.Sort(rows)
	return rows
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

func TestLoadsDoNotAllocatePerRow(t *testing.T) {
	for _, rows := range []int64{10_000, 100_000} {
		for _, table := range []string{"FileList", "Narrow"} {
			w := newTestBulkInsert(t, func(p *Parameters) { p.Table, p.Rows, p.RowsPerStatement = table, rows, 1000 })
			allocs := testing.AllocsPerRun(1, func() {
				w.load.Taken.Store(0)
				if _, err := w.Measure(t.Context(), &workload.Client{Session: workloadtest.Silence{}, Recorder: workloadtest.Silence{}}); err != nil {
					t.Error(err)
				}
			})
			if allocs > 40 {
				t.Errorf("%s: %g allocations for %d rows", table, allocs, rows)
			}
		}
	}
}

func BenchmarkAppendRow(b *testing.B) {
	for _, table := range []string{"FileList", "Narrow"} {
		b.Run(table, func(b *testing.B) {
			w := newTestBulkInsert(b, func(p *Parameters) {
				p.Table, p.Rows, p.RowsPerStatement = table, int64(b.N), 2000
			})
			b.ReportAllocs()
			if _, err := w.Measure(b.Context(), &workload.Client{Session: workloadtest.Silence{}, Recorder: workloadtest.Silence{}}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
