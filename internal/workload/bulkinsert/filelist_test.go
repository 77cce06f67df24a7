// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// asText reads values as a server does, and returns the row as it is in a statement, and what follows.
func asText(t *testing.T, indicated bool, types []mysqlwire.Type, p []byte) (row string, rest []byte) {
	t.Helper()
	take := func(n int) []byte {
		if len(p) < n {
			t.Fatalf("%d bytes are missing", n-len(p))
		}
		taken := p[:n]
		p = p[n:]
		return taken
	}
	var fields []string
	for _, kind := range types {
		if indicated && take(1)[0] != 0 {
			t.Fatal("there is no value")
		}
		switch kind {
		case mysqlwire.TypeInt:
			fields = append(fields, fmt.Sprint(binary.LittleEndian.Uint32(take(4))))
		case mysqlwire.TypeUnsignedBigInt:
			fields = append(fields, fmt.Sprint(binary.LittleEndian.Uint64(take(8))))
		case mysqlwire.TypeBytes:
			fields = append(fields, "'"+string(take(int(take(1)[0])))+"'")
		case mysqlwire.TypeDatetime:
			d := take(int(take(1)[0]))
			fields = append(fields, fmt.Sprintf("'%04d-%02d-%02d %02d:%02d:%02d.%06d'",
				binary.LittleEndian.Uint16(d), d[2], d[3], d[4], d[5], d[6], binary.LittleEndian.Uint32(d[7:])))
		default:
			t.Fatalf("type %#x", kind)
		}
	}
	return "(" + strings.Join(fields, ",") + ")", p
}

// The values of a row are the same in all protocols, and as long as they are said to be at most.
func TestProtocolsHaveTheSameRows(t *testing.T) {
	for _, table := range []string{tableFileList, tableNarrow} {
		text := newTestBulkInsert(t, func(p *Parameters) { p.Table = table })
		types, most := fileTypes, maxFileValues
		if table == tableNarrow {
			types, most = narrowTypes, maxNarrowValues
		}
		for _, protocol := range []string{"Prepared", "Bulk"} {
			w := newTestBulkInsert(t, func(p *Parameters) { p.Table, p.Protocol = table, protocol })
			longest := 0
			for n := int64(1); n < 20_000; n += 7 {
				values := w.load.AppendRow(nil, n)
				longest = max(longest, len(values))
				got, rest := asText(t, protocol == "Bulk", types, values)
				if want := string(text.load.AppendRow(nil, n)); got != want || len(rest) > 0 {
					t.Fatalf("%s, row %d of %s: %s and %d bytes, want %s", protocol, n, table, got, len(rest), want)
				}
			}
			if longest > most {
				t.Errorf("%s: a row of %s takes %d bytes, %d were to be the most", protocol, table, longest, most)
			}
		}
	}
}

// No execution is longer than what is compared with the server's max_allowed_packet.
func TestExecutionsFit(t *testing.T) {
	for _, rows := range []int64{1, 2, 7, 1000} {
		for _, table := range []string{tableFileList, tableNarrow} {
			for _, protocol := range []string{"Prepared", "Bulk"} {
				w := newTestBulkInsert(t, func(p *Parameters) { p.Table, p.Protocol, p.Rows, p.RowsPerStatement = table, protocol, rows, rows })
				columns := int64(len(w.columns))
				longest := 7 + 2*columns
				if protocol == "Prepared" {
					longest = 11 + (rows*columns+7)/8 + 2*rows*columns
				}
				for n := int64(1); n <= rows; n++ {
					longest += int64(len(w.load.AppendRow(nil, n)))
				}
				if most := w.load.StatementBytes(); longest > most || most > 2*longest {
					t.Errorf("%d rows of %s by %s: %d bytes, said to be at most %d", rows, table, protocol, longest, most)
				}
			}
		}
	}
}

func TestPreparedStatements(t *testing.T) {
	for protocol, want := range map[string][]workload.Prepared{
		"Text": nil,
		"Prepared": {
			{SQL: "INSERT INTO narrow_2 (id, k) VALUES (?,?)", Types: narrowTypes, Rows: 1},
			{SQL: "INSERT INTO narrow_2 (id, k) VALUES (?,?),(?,?),(?,?)", Types: narrowTypes, Rows: 3},
		},
		"Bulk": {{SQL: "INSERT INTO narrow_2 (id, k) VALUES (?,?)", Types: narrowTypes}},
	} {
		w := newTestBulkInsert(t, func(p *Parameters) {
			narrowTable(p)
			p.Protocol, p.Tables, p.Clients, p.Commit = protocol, 2, 2, "Autocommit"
			p.StatementsPerTransaction = 1
		})
		s := &workloadtest.Script{}
		plan := w.Plan()
		must.Do(t, plan.Ready(1, s))
		must.Get(w.Measure(t.Context(), workloadtest.Client(1, s)))(t)
		if diff := cmp.Diff(want, s.Prepared); diff != "" {
			t.Errorf("%s (-want +got):\n%s", protocol, diff)
		}
		if diff := cmp.Diff([]string{"SET autocommit=1"}, plan.Setup); diff != "" || len(s.Statements) != 4 || s.Rows != 10 ||
			!slices.Equal(s.Commits, []int64{3, 6, 9, 10}) {
			t.Errorf("%s: %d statements, %d rows, commits at %v, set up (-want +got):\n%s", protocol, len(s.Statements), s.Rows, s.Commits, diff)
		}
	}
}

func TestProtocolIsRefused(t *testing.T) {
	type change = func(p *Parameters, cfg *result.Config)
	for want, change := range map[string]change{
		`protocol is "Binary" but must be Text, Prepared or Bulk`: func(p *Parameters, _ *result.Config) { p.Protocol = "Binary" },
		"rowsPerStatement is 32768: a prepared statement has at most 65535 placeholders, which are 32767 rows of Narrow": func(p *Parameters, _ *result.Config) {
			narrowTable(p)
			p.Protocol, p.Rows, p.RowsPerStatement = "Prepared", 1e6, 32768
		},
		"which are 21845 rows of FileList": func(p *Parameters, _ *result.Config) {
			p.Protocol, p.Rows, p.RowsPerStatement = "Prepared", 1e6, 21846
		},
		"rowsPerStatement is 32769: a prepared statement has at most": func(p *Parameters, _ *result.Config) {
			narrowTable(p)
			p.Protocol, p.Rows, p.RowsPerStatement, p.WarmupSeconds = "Prepared", 10, 32769, 1
		},
		"dataFrom goes with protocol Text": func(p *Parameters, cfg *result.Config) {
			p.Protocol, cfg.Workload.Data = "Prepared", &result.Data{Path: "a.tsv", Format: "TSV"}
		},
		"commit Autocommit makes each statement a transaction: statementsPerTransaction is 2": func(p *Parameters, _ *result.Config) {
			p.Commit = "Autocommit"
		},
	} {
		if err := withChange(t, change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for name, change := range map[string]change{
		"the most placeholders":             func(p *Parameters, _ *result.Config) { p.Protocol, p.Rows, p.RowsPerStatement = "Prepared", 1e6, 21845 },
		"more rows asked for than inserted": func(p *Parameters, _ *result.Config) { p.Protocol, p.RowsPerStatement = "Prepared", 1e6 },
		"bulk has no placeholders to spare": func(p *Parameters, _ *result.Config) { p.Protocol, p.Rows, p.RowsPerStatement = "Bulk", 1e6, 1e6 },
	} {
		if err := withChange(t, change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// withChange validates changed parameters.
func withChange(t *testing.T, change func(p *Parameters, cfg *result.Config)) error {
	t.Helper()
	p := newTestBulkInsert(t, func(*Parameters) {}).params
	cfg := &result.Config{Seed: 42}
	change(&p, cfg)
	data := cfg.Workload.Data
	cfg.Workload = workloadtest.Load(Definition, p)
	cfg.Workload.Data = data
	return Definition.Validate(cfg)
}

func TestLoadsDoNotAllocatePerRow(t *testing.T) {
	for _, rows := range []int64{10_000, 100_000} {
		for _, protocol := range []string{"Text", "Prepared", "Bulk"} {
			for _, table := range []string{tableFileList, tableNarrow} {
				w := newTestBulkInsert(t, func(p *Parameters) {
					p.Table, p.Rows, p.RowsPerStatement, p.Protocol = table, rows, 1000, protocol
				})
				client := &workload.Client{Session: workloadtest.Silence{}, Recorder: workloadtest.Silence{}}
				must.Do(t, w.load.Ready(0, client.Session))
				allocs := testing.AllocsPerRun(1, func() {
					w.load.Taken.Store(0)
					if _, err := w.Measure(t.Context(), client); err != nil {
						t.Error(err)
					}
				})
				if allocs > 40 {
					t.Errorf("%s by %s: %g allocations for %d rows", table, protocol, allocs, rows)
				}
			}
		}
	}
}

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
