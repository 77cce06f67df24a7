// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
)

// ownSchema has a column of each kind that text comes back from in its own way.
const ownSchema = `
-- made for the tests; in two statements
CREATE TABLE own (id INT PRIMARY KEY, name VARCHAR(60) CHARACTER SET utf8mb4, note TEXT CHARACTER SET latin1,
  price DECIMAL(8,2), ratio DOUBLE, day DATE, at DATETIME(3), raw VARBINARY(20), doubled INT AS (id * 2));
CREATE INDEX name ON own (name);
`

// ownRows are rows of it as CSV, with a header.
func ownRows(n int) string {
	var b strings.Builder
	b.WriteString("id,name,note,price,ratio,day,at,raw\r\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%d,\"it's \"\"%d\"\", ж\",C:\\new\\%d é,%d.50,1e%d,2024-01-%02d,2024-02-29 12:00:00.%03d,\"a\nb;\"\r\n",
			i, i, i, i, i%30, i%28+1, i%1000)
	}
	b.WriteString("0,\\N,,0.00,\\N,\\N,\\N,'\\'\r\n")
	return b.String()
}

// newOwn inserts rows of a file into own tables.
func newOwn(t testing.TB, schema, text string, change func(*bulkinsert.Parameters, *result.Data)) *trial {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"schema.sql": schema, "own.csv": text} {
		must.Write(t, filepath.Join(dir, name), content)
	}
	d := &result.Data{Root: dir, Path: "own.csv", Format: "CSV", HeaderLines: 1, Table: "own"}
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows = 1_000_000; change(p, d) })
	tr.cfg.Workload.Data = d
	if schema != "" {
		tr.cfg.Workload.SchemaFile = filepath.Join(dir, "schema.sql")
	}
	return tr
}

func asItIs(*bulkinsert.Parameters, *result.Data) {}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func checkNamed(t testing.TB, doc *result.Document, name string) result.Check {
	t.Helper()
	i := slices.IndexFunc(doc.Checks, func(c result.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no check %s: %+v", name, doc.Checks)
	}
	return doc.Checks[i]
}

// setGlobal sets a variable for the time of a test.
func setGlobal(t testing.TB, name, value string) {
	t.Helper()
	was := globals(t)[name]
	set := func(value string) {
		literal := "'" + value + "'"
		if _, err := strconv.Atoi(value); err == nil {
			literal = value
		}
		must.Get(other(t).Exec("SET GLOBAL " + name + " = " + literal))(t)
	}
	set(value)
	t.Cleanup(func() { set(was) })
}

// Whatever the server's sql_mode is, every value of a file is in the table as it stands in the file.
func TestIntegrationOwnFile(t *testing.T) {
	const rows = 3000
	text := ownRows(rows)
	for name, mode := range map[string]string{
		"default": "STRICT_TRANS_TABLES", "without backslashes": "NO_BACKSLASH_ESCAPES,ANSI_QUOTES", "nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			setGlobal(t, "sql_mode", mode)
			tr := newOwn(t, ownSchema, text, asItIs)
			summary, doc := tr.mustRun(t)
			want := result.Totals{
				Rows: rows + 1, Statements: 11 + 6, Transactions: 6, Micros: doc.Totals.Micros, StoppedBy: result.StoppedByRows,
			}
			must.Same(t, "totals", want, doc.Totals)
			sums(t, doc)
			inputs := []result.Input{
				{Name: "schema.sql", Bytes: int64(len(ownSchema)), SHA256: sumOf(ownSchema)},
				{Name: "own.csv", Bytes: int64(len(text)), Rows: rows + 1, SHA256: sumOf(text)},
			}
			must.Same(t, "inputs", inputs, doc.Inputs)
			must.Same(t, "inputs of the summary", inputs, summary.Inputs)
			if c := checkNamed(t, doc, "checksum"); !strings.HasSuffix(c.Detail,
				"; compared by their text: id, name, note, price, day, at, raw; not compared: ratio (its type is double)") {
				t.Errorf("compared was %+v", c)
			}
			for query, want := range map[string]string{
				"SELECT CONCAT_WS('/', name, note, price, ratio, day, at, doubled) FROM bench.own WHERE id = 7":       `it's "7", ж/C:\new\7 é/7.50/10000000/2024-01-08/2024-02-29 12:00:00.007/14`,
				"SELECT HEX(raw) FROM bench.own WHERE id = 7":                                                         "610A623B",
				"SELECT CONCAT(name IS NULL, note = '', ratio IS NULL, day IS NULL, raw) FROM bench.own WHERE id = 0": `1111'\'`,
			} {
				var got string
				if err := other(t).QueryRow(query).Scan(&got); err != nil || got != want {
					t.Errorf("%s: %q, want %q, %v", query, got, want, err)
				}
			}
		})
	}
}

// A file goes into the workload's own table too, in another order of columns and over several tables.
func TestIntegrationOwnFileIntoFileList(t *testing.T) {
	text := strings.Repeat("17\t/some/path\t2024-01-02 03:04:05.000006\n", 1000)
	for _, tables := range []int{1, 3} {
		tr := newOwn(t, "", text, func(p *bulkinsert.Parameters, d *result.Data) {
			d.Format, d.HeaderLines, d.Table, d.Columns = "TSV", 0, "", []string{"file_size", "path", "modification_time"}
			p.Tables, p.Rows = tables, 900
		})
		_, doc := tr.mustRun(t)
		if doc.Totals.Rows != 900 || len(doc.Inputs) != 1 || doc.Inputs[0].Rows != 1000 || len(doc.Checks) != 3 {
			t.Errorf("totals %+v, inputs %+v, checks %+v", doc.Totals, doc.Inputs, doc.Checks)
		}
		if !slices.Contains(finding.Texts(doc.Findings), "bulkInsert.rows uses only the first 900 of 1000 rows of own.csv") {
			t.Errorf("warnings %q", doc.Findings)
		}
		if c := checkNamed(t, doc, "checksum"); !strings.HasSuffix(c.Detail, "compared by their text: file_size, path, modification_time") {
			t.Errorf("%+v", c)
		}
	}
}

// What a limit leaves is the file's first rows, whichever of the clients sent them.
func TestIntegrationOwnFileLimit(t *testing.T) {
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "%d,%d\n", i, i*i)
	}
	tr := newOwn(t, "CREATE TABLE own (a INT PRIMARY KEY, b BIGINT)", text.String(), func(p *bulkinsert.Parameters, d *result.Data) {
		d.HeaderLines, p.RowsPerStatement, p.StatementsPerTransaction = 0, 1, 3
	})
	tr.cfg.LimitSeconds = 1
	_, doc := tr.mustRun(t)
	if doc.Totals.StoppedBy != result.StoppedBySeconds || doc.Totals.Rows < 10 || doc.Totals.Rows >= 300_000 {
		t.Errorf("totals %+v", doc.Totals)
	}
	var last int64
	if err := other(t).QueryRow("SELECT MAX(a) FROM bench.own").Scan(&last); err != nil || last != doc.Totals.Rows-1 {
		t.Errorf("the last row is %d of %d, %v", last, doc.Totals.Rows, err)
	}
	if c := checkNamed(t, doc, "checksum"); !strings.HasSuffix(c.Detail, "compared by their text: a, b") {
		t.Errorf("%+v", c)
	}
	if doc.Inputs[1].Rows != 300_000 {
		t.Errorf("inputs %+v", doc.Inputs)
	}
}

func TestIntegrationOwnFileThatIsNoGood(t *testing.T) {
	const two = "CREATE TABLE own (a INT, b VARCHAR(5));"
	for name, tc := range map[string]struct {
		schema, text string
		change       func(*bulkinsert.Parameters, *result.Data)
		reason       result.Cause
		words        []string
	}{
		"a value that does not fit": {
			two, "a,b\n1,x\n2,longer\n", asItIs, result.CauseSQL,
			[]string{"inserting own.csv, line 3, field 2 (column b), \"longer\": Error 1406", "Data too long for column 'b'"},
		},
		"a value of another type": {
			two, "a,b\none,x\n", asItIs, result.CauseSQL,
			[]string{"own.csv, line 2, field 1 (column a), \"one\": Error 1366", "Incorrect integer value: 'one'"},
		},
		"a value far behind": {
			"CREATE TABLE own (a INT, b DATE)", "a,b\n" + strings.Repeat("1,2026-02-28\n", 3000) + "2,02.02.2026\n", asItIs, result.CauseSQL,
			[]string{"own.csv, line 3002, field 2 (column b), \"02.02.2026\": Error 1292", "A date is written year-month-day"},
		},
		"an empty field": {
			"CREATE TABLE own (a INT, b DOUBLE, c INT)", "a,b,c\n1,2,3\n1,,3\n", asItIs, result.CauseSQL,
			[]string{"own.csv, line 3, field 2 (column b), \"\": Error", "An empty field is an empty text and not NULL: set dataFrom.emptyIs to \"NULL\""},
		},
		"NULL where there is none": {
			"CREATE TABLE own (a INT, b INT NOT NULL)", "a,b\n1,2\n1,\\N\n", asItIs, result.CauseSQL,
			[]string{"own.csv, line 3, field 2 (column b), NULL: Error 1048", "The file says NULL"},
		},
		"the same key twice": {
			"CREATE TABLE own (a INT PRIMARY KEY, b INT)", "a,b\n1,2\n2,3\n1,4\n", asItIs, result.CauseSQL,
			[]string{"inserting own.csv, lines 2 to 4: Error 1062", "Duplicate entry '1'"},
		},
		"a header": {
			two, "a,b\n1,x\n", func(_ *bulkinsert.Parameters, d *result.Data) { d.HeaderLines = 0 }, result.CauseSQL,
			[]string{"own.csv, line 1, field 1 (column a), \"a\": Error 1366", "Set dataFrom.headerLines to 1"},
		},
		"a text that is not UTF-8": {
			two, "a,b\n1,x\n2,\xfc\xdf\n", asItIs, result.CauseConfiguration,
			[]string{"own.csv, line 3: field 2 (column b): \"\\xfc\\xdf\" is not UTF-8"},
		},
		"a row too long": {
			"CREATE TABLE own (a INT, b LONGTEXT)", "a,b\n1,x\n2," + strings.Repeat("y", 3<<20) + "\n", asItIs, result.CauseConfiguration,
			[]string{"a statement of 2 rows takes up to 3145", "max_allowed_packet is 2097152", "set rowsPerStatement to at most 0"},
		},
		"an error of the schema": {
			two + "\nCREATE TABLE x (a INT, a INT);", "", asItIs, result.CauseSQL,
			[]string{"statement 2 of schemaFrom, line 2, CREATE TABLE x (a INT, a INT): Error 1060", "Duplicate column name 'a'"},
		},
		"no table": {"CREATE TABLE others (a INT)", "", asItIs, result.CauseConfiguration, []string{"there is no table own"}},
		"no column": {
			two, "", func(_ *bulkinsert.Parameters, d *result.Data) { d.Columns = []string{"a", "c", "d"} }, result.CauseConfiguration,
			[]string{"table own has no column c, d"},
		},
		"no second table": {
			two, "", func(p *bulkinsert.Parameters, _ *result.Data) { p.Tables = 2 }, result.CauseConfiguration, []string{"there is no table own_2"},
		},
		"unlike tables": {
			two + "CREATE TABLE own_2 (b INT, a INT)", "", func(p *bulkinsert.Parameters, _ *result.Data) { p.Tables = 2 },
			result.CauseConfiguration,
			[]string{"the columns of table own_2 are not those of table own"},
		},
		"another engine": {
			"CREATE TABLE own (a INT) ENGINE=MyISAM", "", asItIs, result.CauseConfiguration,
			[]string{"storage engine InnoDB was requested, but the server created the table with MyISAM"},
		},
		"no such engine": {
			two, "", func(p *bulkinsert.Parameters, _ *result.Data) { p.StorageEngine = "Nonsense" }, result.CauseSQL,
			[]string{"Unknown storage engine 'Nonsense'"},
		},
		"an empty schema": {"-- nothing\n", "", asItIs, result.CauseConfiguration, []string{"schemaFrom, there is no statement"}},
	} {
		t.Run(name, func(t *testing.T) {
			setGlobal(t, "sql_mode", "")
			setGlobal(t, "max_allowed_packet", "2097152")
			newOwn(t, tc.schema, tc.text, tc.change).mustFail(t.Context(), t, tc.reason, tc.words...)
		})
	}
}

// A third party's schema stays as it is, whatever the user's SQL says and whatever rights he has.
func TestIntegrationOwnSchemaOfOthers(t *testing.T) {
	db := other(t)
	const prepare = "CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY); INSERT INTO shop.orders VALUES (1), (2), (3); CREATE DATABASE t"
	drop := func() {
		for _, name := range []string{"shop", "t"} {
			must.Get(db.Exec("DROP DATABASE IF EXISTS " + name))(t)
		}
	}
	drop()
	t.Cleanup(drop)
	for statement := range strings.SplitSeq(prepare, ";") {
		must.Get(db.Exec(statement))(t)
	}
	const own = "CREATE TABLE own (a INT, b VARCHAR(5));"
	for script, words := range map[string]string{
		"DROP TABLE IF EXISTS shop.orders; " + own:                  "schemaFrom, statement 1, line 1: shop.orders names another schema, shop",
		own + "/*!50000 DROP TABLE shop . orders */":                "shop.orders names another schema",
		own + "CREATE VIEW v AS SELECT t.a FROM own AS t":           "the server has a schema t: use another alias",
		own + "SET @m = 'NO_BACKSLASH_ESCAPES'; SET sql_mode = @m;": "sql_mode NO_BACKSLASH_ESCAPES changes",
		own + "SET sql_mode = 'ANSI_QUOTES'; DROP TABLE own":        "sql_mode ANSI_QUOTES changes how the statements after it are read",
		own + "SET NAMES gbk;":                                      "character_set_client gbk changes",
		"\xff\xfeD\x00R\x00":                                        "schemaFrom is UTF-16, and must be text in UTF-8",
		own + "CREATE TABLE c (a INT, b TEXT); INSERT INTO c VALUES (1, '\\'); DELETE FROM shop.orders; -- ')": "",
	} {
		setGlobal(t, "sql_mode", "NO_BACKSLASH_ESCAPES,ANSI_QUOTES")
		tr := newOwn(t, script, "a,b\n1,x\n", asItIs)
		if words != "" {
			tr.mustFail(t.Context(), t, result.CauseConfiguration, words)
		} else {
			tr.mustRun(t)
		}
		var rows int
		if err := db.QueryRow("SELECT COUNT(*) FROM shop.orders").Scan(&rows); err != nil || rows != 3 {
			t.Errorf("%s: %d rows are left, %v", script, rows, err)
		}
	}
}

// Dumps of the server's own tool load as they are.
func TestIntegrationOwnSchemaIsADump(t *testing.T) {
	file := "mariadb-dump.sql"
	if testedEngine(t) == engine.MySQL {
		file = "mysqldump.sql"
	}
	dump := must.Get(os.ReadFile(filepath.Join("..", "workload", "sqltext", "testdata", file)))(t)
	newOwn(t, string(dump)+"CREATE TABLE loaded (a INT, b VARCHAR(5));", "a,b\n1,x\n", func(_ *bulkinsert.Parameters, d *result.Data) {
		d.Table = "loaded"
	}).mustRun(t)
	for query, want := range map[string]string{
		"SELECT GROUP_CONCAT(name ORDER BY id SEPARATOR '|') FROM bench.customers":           "it's \\ \"x\"; -- y /* z */|`a`.`b`\n#",
		"SELECT CONCAT_WS('|', total, twice, note, HEX(raw)) FROM bench.orders WHERE id = 1": "1.50|3.00|é|005C27",
		"SELECT CONCAT_WS('|', year, total) FROM bench.totals WHERE year = 2020 LIMIT 1":     "2020|3.00",
		"SELECT COUNT(*) FROM bench.log":                                                     "2",
	} {
		var got string
		if err := other(t).QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, want %q, %v", query, got, want, err)
		}
	}
}

// What a file says is what is stored: without its byte order mark, and with NULL where it is said that empty fields are that.
func TestIntegrationOwnFileIsKept(t *testing.T) {
	for text, tc := range map[string]struct {
		change func(*result.Data)
		want   string
	}{
		"\ufeffAdele,Bonn,\n":                   {func(d *result.Data) { d.EmptyIs = result.EmptyIsNull }, "Adele|Bonn|NULL"},
		"\ufeff\"Adele\",\"\",1.5\r\n":          {func(d *result.Data) { d.EmptyIs = result.EmptyIsNull }, "Adele||1.5"},
		"C:\\temp\\new\t^(?:AD)*(\\d{3})$\t1\n": {func(d *result.Data) { d.Separator = "\t" }, `C:\temp\new|^(?:AD)*(\d{3})$|1`},
		"C:\\\\temp\\\\new\ta\\\tb\t2\n":        {func(d *result.Data) { d.Format = "TSV" }, "C:\\temp\\new|a\tb|2"},
	} {
		tr := newOwn(t, "CREATE TABLE own (a VARCHAR(40), b VARCHAR(40), c DOUBLE)", text, func(_ *bulkinsert.Parameters, d *result.Data) {
			d.HeaderLines = 0
			tc.change(d)
		})
		tr.mustRun(t)
		var got string
		const query = "SELECT CONCAT(a, '|', b, '|', COALESCE(c, 'NULL')) FROM bench.own"
		if err := other(t).QueryRow(query).Scan(&got); err != nil || got != tc.want {
			t.Errorf("%q is stored as %q, %v", text, got, err)
		}
	}
}

// Tables that do not say their engine get the one that is asked for, and rows that Benchrun makes go into the user's table.
func TestIntegrationOwnSchema(t *testing.T) {
	for name, tc := range map[string]struct {
		schema string
		checks int
		detail string
	}{
		"of the same kinds": {
			"CREATE TABLE inserts (id INT AUTO_INCREMENT PRIMARY KEY, path VARCHAR(500), modification_time TIMESTAMP(6) NULL, file_size BIGINT, KEY (path(100)))",
			2, "2000 committed, 2000 in the table",
		},
		"of others": {
			"CREATE TABLE inserts (path VARCHAR(500), modification_time DATETIME, file_size DOUBLE)",
			1, "2000 committed, 2000 in the table; no values were compared: modification_time is datetime, file_size is double",
		},
	} {
		for _, engine := range []string{"InnoDB", "MyISAM"} {
			tr := newOwn(t, "CREATE VIEW leftover AS SELECT 1;"+tc.schema, "", func(p *bulkinsert.Parameters, _ *result.Data) {
				p.Rows, p.StorageEngine = 2000, engine
			})
			tr.cfg.Workload.Data = nil
			_, doc := tr.mustRun(t)
			if c := checkNamed(t, doc, "rows"); len(doc.Checks) != tc.checks || c.Detail != tc.detail {
				t.Errorf("%s, %s: %+v", name, engine, doc.Checks)
			}
			if len(doc.Inputs) != 1 || doc.Inputs[0].Name != "schema.sql" {
				t.Errorf("inputs %+v", doc.Inputs)
			}
		}
	}
}

// Pods that follow need not know what the leading one's SQL makes.
func TestIntegrationOwnSchemaForSeveralPods(t *testing.T) {
	tr := newOwn(t, "CREATE TABLE inserts (path VARCHAR(500), modification_time DATETIME(6), file_size BIGINT)", "",
		func(p *bulkinsert.Parameters, _ *result.Data) { p.Rows = 10_000 })
	tr.cfg.Workload.Data = nil
	doc := tr.mustLoad(t, 3)
	addUp(t, doc, 3)
	_, one := newBulkInsert(t, func(*bulkinsert.Parameters) {}).mustRun(t)
	if checksum(doc) != checksum(one) || checksum(one) == "" || len(doc.Inputs) != 1 {
		t.Errorf("three Pods load %s, one %s; inputs %+v", checksum(doc), checksum(one), doc.Inputs)
	}
}
