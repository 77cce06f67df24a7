// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/userdata"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// writeFile writes a file into a new folder, which it returns.
func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, name), text)
	return dir
}

// newTestFileInsert inserts rows of a file with columns a and b.
func newTestFileInsert(t testing.TB, text string, change func(*Parameters, *result.Data)) (*bulkInsert, error) {
	t.Helper()
	p := &Parameters{
		Table: "Narrow", Tables: 1, Rows: 1_000_000, RowsPerStatement: 3, StatementsPerTransaction: 2, Clients: 1, StorageEngine: "InnoDB",
	}
	d := &result.Data{Root: writeFile(t, "rows.txt", text), Path: "rows.txt", Format: result.DataCSV}
	change(p, d)
	cfg := &result.Config{Seed: 42, Workload: workloadtest.Load(Definition, p)}
	cfg.Workload.Data = d
	w, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return w.(*bulkInsert), nil
}

func asItIs(*Parameters, *result.Data) {}

func mustFileInsert(t testing.TB, text string, change func(*Parameters, *result.Data)) *bulkInsert {
	t.Helper()
	w := must.Get(newTestFileInsert(t, text, change))(t)
	return w
}

func TestFileInsertStatements(t *testing.T) {
	const text = "id,k\n1,one\n2,\"it's\"\n3,\\N\n4,\"a\nb\"\n"
	w := mustFileInsert(t, text, func(_ *Parameters, d *result.Data) { d.HeaderLines = 1 })
	must.Do(t, w.Plan().Stage(t.Context()))
	s := &workloadtest.Script{}
	if stopped, err := w.Measure(t.Context(), workloadtest.Client(0, s)); err != nil || stopped != result.StoppedByRows {
		t.Fatalf("%v, %v", stopped, err)
	}
	want := []string{
		"INSERT INTO narrow (id, k) VALUES ('1','one'),('2','it''s'),('3',NULL)",
		"INSERT INTO narrow (id, k) VALUES ('4','a\nb')", "COMMIT",
	}
	must.Same(t, "statements", want, s.Statements)
	sum := sha256.Sum256([]byte(text))
	input := result.Input{Name: "rows.txt", Bytes: int64(len(text)), Rows: 4, SHA256: hex.EncodeToString(sum[:])}
	must.Same(t, "input", input, w.file.Before)
	// The buffer of a statement is as long as the longest one.
	must.Same(t, "bytes that the longest statement is said to have", int64(len(want[0]))+1, w.StatementBytes())
}

// numbered is a file of so many rows of different lengths.
func numbered(rows int) string {
	var b strings.Builder
	for i := 1; i <= rows; i++ {
		fmt.Fprintf(&b, "%d,%s\n", i, strings.Repeat("x", i%50))
	}
	return b.String()
}

// However many clients read the file at the same time, each row is sent once, with its own text.
func TestFileInsertSendsEachRowOnce(t *testing.T) {
	const rows = 3*userdata.IndexStride + 77
	for _, clients := range []int{1, 2, 7} {
		for _, perStatement := range []int64{1, 10, 2 * userdata.IndexStride} {
			w := mustFileInsert(t, numbered(rows), func(p *Parameters, _ *result.Data) {
				p.Clients, p.RowsPerStatement, p.StatementsPerTransaction = clients, perStatement, 3
			})
			must.Do(t, w.Plan().Stage(t.Context()))
			scripts := make([]*workloadtest.Script, clients)
			var working sync.WaitGroup
			for i := range scripts {
				scripts[i] = &workloadtest.Script{}
				working.Go(func() {
					if _, err := w.Measure(t.Context(), workloadtest.Client(i, scripts[i])); err != nil {
						t.Error(err)
					}
				})
			}
			working.Wait()
			var sent []string
			for _, s := range scripts {
				for _, statement := range s.Statements {
					if values, found := strings.CutPrefix(statement, "INSERT INTO narrow (id, k) VALUES ("); found {
						sent = append(sent, strings.Split(strings.TrimSuffix(values, ")"), "),(")...)
					}
				}
			}
			var want []string
			for i := 1; i <= rows; i++ {
				want = append(want, fmt.Sprintf("'%d','%s'", i, strings.Repeat("x", i%50)))
			}
			slices.Sort(sent)
			slices.Sort(want)
			if diff := cmp.Diff(want, sent); diff != "" {
				t.Fatalf("%d clients, %d rows per statement (-want +got):\n%s", clients, perStatement, diff)
			}
		}
	}
}

func TestFileInsertRowsAreLimited(t *testing.T) {
	w := mustFileInsert(t, numbered(100), func(p *Parameters, _ *result.Data) { p.Rows = 40 })
	must.Do(t, w.Plan().Stage(t.Context()))
	s := &workloadtest.Script{}
	if _, err := w.Measure(t.Context(), workloadtest.Client(0, s)); err != nil || s.Rows != 40 {
		t.Errorf("%d rows, %v", s.Rows, err)
	}
	doc := &result.Document{Totals: result.Totals{Rows: 40, StoppedBy: result.StoppedBySeconds}}
	w.Report(doc)
	must.Same(t, "warnings", []string{"bulkInsert.rows uses only the first 40 of 100 rows of rows.txt"}, finding.Texts(doc.Findings))
	if len(doc.Inputs) != 1 || doc.Inputs[0].Rows != 100 || doc.Totals.StoppedBy != result.StoppedByRows {
		t.Errorf("inputs %+v, totals %+v", doc.Inputs, doc.Totals)
	}
}

func TestFileInsertRefusesParameters(t *testing.T) {
	for want, change := range map[string]func(*Parameters, *result.Data){
		`dataFrom.format is "XML" but must be TSV or CSV`:                       func(_ *Parameters, d *result.Data) { d.Format = "XML" },
		`dataFrom.separator is "ab" but must be one ASCII`:                      func(_ *Parameters, d *result.Data) { d.Separator = "ab" },
		`dataFrom.separator is "\\" but must be one ASCII`:                      func(_ *Parameters, d *result.Data) { d.Separator = `\` },
		`dataFrom.emptyIs is "null" but must be NULL or EmptyString`:            func(_ *Parameters, d *result.Data) { d.EmptyIs = "null" },
		"dataFrom.headerLines is -1":                                            func(_ *Parameters, d *result.Data) { d.HeaderLines = -1 },
		`dataFrom.table is "t", but there is no schemaFrom`:                     func(_ *Parameters, d *result.Data) { d.Table = "t" },
		"dataFrom names \"a`b\", but the name of a table or column has 1 to 64": func(_ *Parameters, d *result.Data) { d.Columns = []string{"a`b"} },
	} {
		must.Refused(newTestFileInsert(t, "", change))(t, want)
	}
}

// A file whose format is not said is as SELECT … INTO OUTFILE writes it.
func TestFileInsertIsTSVByDefault(t *testing.T) {
	w := mustFileInsert(t, "1\tone\\\ttwo\n", func(_ *Parameters, d *result.Data) { d.Format = "" })
	must.Do(t, w.Plan().Stage(t.Context()))
	s := &workloadtest.Script{}
	must.Get(w.Measure(t.Context(), workloadtest.Client(0, s)))(t)
	must.Same(t, "statement", "INSERT INTO narrow (id, k) VALUES ('1','one\ttwo')", s.Statements[0])
}

func TestFileInsertRefusesFiles(t *testing.T) {
	outside := writeFile(t, "secret", "1,2\n")
	for want, tc := range map[string]struct {
		text   string
		change func(*Parameters, *result.Data)
	}{
		"dataFrom: rows.txt, line 3: 3 fields for 2 columns":                                          {"1,2\n\"3\",4\n5,6,7\n", asItIs},
		"dataFrom: rows.txt, line 2: the quotation mark":                                              {"1,2\n3,\"4\n", asItIs},
		`rows.txt, line 1: 1 fields for 2 columns; is the separator ";"? Set dataFrom.separator`:      {"a;\"b\"\n", asItIs},
		`rows.txt, line 1: field 1 continues after its closing quotation mark; is the separator ";"?`: {"\"a\";\"b\"\n", asItIs},
		`1 fields for 2 columns; is the format CSV with the separator ","? Set dataFrom.format and separator`: {
			"1,2\n", func(_ *Parameters, d *result.Data) { d.Format = "TSV" },
		},
		"rows.txt, line 1: it ends with a carriage return":                                                  {"1\t2\r\n", func(_ *Parameters, d *result.Data) { d.Format = "TSV" }},
		"dataFrom: rows.txt is UTF-16, and must be text in UTF-8: convert it with iconv -f UTF-16 -t UTF-8": {"\xff\xfe1\x00,\x00", asItIs},
		"rows.txt is UTF-32":                                   {"\xff\xfe\x00\x001\x00\x00\x00", asItIs},
		"rows.txt is compressed by gzip":                       {"\x1f\x8b\x08\x00", asItIs},
		"rows.txt is a ZIP archive or a spread":                {"PK\x03\x04\x14\x00", asItIs},
		"rows.txt, line 1: there is a NUL byte":                {"1\x00,\x002\x00\n\x00", asItIs},
		"dataFrom: rows.txt has no rows":                       {"a,b\n", func(_ *Parameters, d *result.Data) { d.HeaderLines = 1 }},
		"dataFrom: reading no/such: no such file or directory": {"", func(_ *Parameters, d *result.Data) { d.Path = "no/such" }},
		"dataFrom: reading .: is a directory":                  {"", func(_ *Parameters, d *result.Data) { d.Path = "." }},
		"opening the volume of dataFrom: ":                     {"", func(_ *Parameters, d *result.Data) { d.Root = "/no/such" }},
		"dataFrom: reading link: path escapes from parent": {"", func(_ *Parameters, d *result.Data) {
			d.Path = "link"
			must.Do(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(d.Root, "link")))
		}},
	} {
		w := mustFileInsert(t, tc.text, tc.change)
		err := w.Plan().Stage(t.Context())
		if _, refused := errors.AsType[workload.Refused](err); !refused || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, mustFileInsert(t, "1,2\n", asItIs).Plan().Stage(ended), context.Canceled)
}

// A file that changes while it is loaded is found out, at once or at the latest when it is read again.
func TestFileInsertFindsAChangedFile(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"shorter":        {"1,2\n", "row 2 of rows.txt: the file has become shorter"},
		"another row":    {"1,2\n3\n5,6\n7,8\n", "row 2 of rows.txt: the file has changed: the row had 2 fields and now has 1"},
		"another number": {"1,2\n3,4\n5,6\n7,9\n", ""},
	} {
		w := mustFileInsert(t, "1,2\n3,4\n5,6\n7,8\n", asItIs)
		must.Do(t, w.Plan().Stage(t.Context()))
		must.Write(t, filepath.Join(w.file.Root, "rows.txt"), tc.text)
		s := &workloadtest.Script{}
		_, err := w.Measure(t.Context(), workloadtest.Client(0, s))
		if tc.want == "" {
			w.file.Comparison = userdata.NewComparison([]userdata.Column{{Name: "a", Kind: userdata.KindOf("int")}, {Name: "b", Kind: userdata.KindOf("int")}})
			now, sum, scanErr := w.file.Checksum(t.Context(), 3)
			check := userdata.Unchanged([]result.Input{w.file.Before}, []result.Input{now})
			if err != nil || scanErr != nil || check.Passed || !strings.Contains(check.Detail, "rows.txt had 16 bytes, sha256 "+w.file.Before.SHA256) {
				t.Errorf("%s: %v, %v, %+v", name, err, scanErr, check)
			}
			must.Same(t, "rows of the checksum "+sum.String(), int64(3), sum.Rows)
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || len(s.Commits) > 0 {
			t.Errorf("%s: error %v, want %s; %d commits", name, err, tc.want, len(s.Commits))
		}
	}
	same := []result.Input{{Name: "a", SHA256: "x"}}
	if check := userdata.Unchanged(same, same); !check.Passed {
		t.Errorf("%+v", check)
	}
}

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
				values := w.AppendRow(nil, n)
				longest = max(longest, len(values))
				got, rest := asText(t, protocol == "Bulk", types, values)
				if want := string(text.AppendRow(nil, n)); got != want || len(rest) > 0 {
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
					longest += int64(len(w.AppendRow(nil, n)))
				}
				if most := w.StatementBytes(); longest > most || most > 2*longest {
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
		must.Same(t, protocol, want, s.Prepared)
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
		must.Fail(t, withChange(t, change), want)
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
				must.Do(t, w.Ready(0, client.Session))
				allocs := testing.AllocsPerRun(1, func() {
					w.Taken.Store(0)
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
		must.Same(t, fmt.Sprintf("row 1000 of %s", tc.table), tc.row, string(w.AppendRow(nil, 1000)))
		must.Same(t, fmt.Sprintf("checksum of %s", tc.table), tc.checksum, w.table.Checksum(w.Sent([]int64{1000})).String())
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
			values = append(values, string(w.AppendRow(nil, n)))
		}
		return "INSERT INTO narrow (id, k) VALUES " + strings.Join(values, ",")
	}
	want := []string{insert(1, 2, 3), insert(4, 5, 6), "COMMIT", insert(7, 8, 9), insert(10), "COMMIT"}
	must.Same(t, "statements", want, s.Statements)
	must.Same(t, "rows at each commit", []int64{6, 10}, s.Commits)
}

func TestBulkInsertErrors(t *testing.T) {
	w := newTestBulkInsert(t, narrowTable)
	second := "INSERT INTO narrow (id, k) VALUES " + string(w.AppendRow(nil, 4)) + "," +
		string(w.AppendRow(nil, 5)) + "," + string(w.AppendRow(nil, 6))
	for refuse, want := range map[string]string{
		second:   "inserting rows 4 to 6: refused",
		"COMMIT": "committing after row 6: refused",
	} {
		s := &workloadtest.Script{Refuse: refuse}
		w := newTestBulkInsert(t, narrowTable)
		must.Same(t, "error", want, must.Text(must.Err(w.Measure(t.Context(), workloadtest.Client(0, s)))))
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
		must.Refused(New(&result.Config{Workload: workloadtest.Load(Definition, p)}))(t, want)
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
