// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if got := w.load.StatementBytes(); got != int64(len(want[0]))+1 {
		t.Errorf("the longest statement is said to have %d bytes, want %d", got, len(want[0])+1)
	}
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
		if _, err := newTestFileInsert(t, "", change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A file whose format is not said is as SELECT … INTO OUTFILE writes it.
func TestFileInsertIsTSVByDefault(t *testing.T) {
	w := mustFileInsert(t, "1\tone\\\ttwo\n", func(_ *Parameters, d *result.Data) { d.Format = "" })
	must.Do(t, w.Plan().Stage(t.Context()))
	s := &workloadtest.Script{}
	must.Get(w.Measure(t.Context(), workloadtest.Client(0, s)))(t)
	if want := "INSERT INTO narrow (id, k) VALUES ('1','one\ttwo')"; s.Statements[0] != want {
		t.Errorf("statement %s, want %s", s.Statements[0], want)
	}
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
	if err := mustFileInsert(t, "1,2\n", asItIs).Plan().Stage(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("error of an attempt that was told to stop: %v", err)
	}
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
			if sum.Rows != 3 {
				t.Errorf("checksum of 3 rows: %s", sum)
			}
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
