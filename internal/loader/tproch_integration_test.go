//go:build integration

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

func newTPROCHLoad(t testing.TB, change func(*tprochload.Parameters)) *trial {
	t.Helper()
	p := &tprochload.Parameters{
		ScaleFactor: "0.01", Data: "Streamed", LoadMode: "OneStatement", ForeignKeyChecks: true, UniqueChecks: true, Indexes: "Before",
	}
	change(p)
	tr := newTrialOf(t, tprochload.Definition, p)
	tr.cfg.Scratch = t.TempDir()
	return tr
}

// rowsAtScale are the rows of each table for scale 0.01 and seed 42.
var rowsAtScale = map[string]int64{
	"REGION": 5, "NATION": 25, "SUPPLIER": 100, "CUSTOMER": 1500, "PART": 2000, "PARTSUPP": 8000, "ORDERS": 15000, "LINEITEM": 59630,
}

const (
	allRows  = 86260
	allBytes = 387 + 2174 + 13589 + 239175 + 231700 + 1133179 + 1645122 + 7136187
)

func TestIntegrationTPROCHLoad(t *testing.T) {
	schemaOrder := []string{"REGION", "NATION", "SUPPLIER", "CUSTOMER", "PART", "PARTSUPP", "ORDERS", "LINEITEM"}
	all := []string{"connect", "readback", "prepare", "quiesce", "measure", "verify"}
	for name, tc := range map[string]struct {
		change     func(*tprochload.Parameters)
		statements int64
		phases     []string
		// order of the tables, if it is certain.
		order []string
	}{
		"streamed": {func(*tprochload.Parameters) {}, 8, all, schemaOrder},
		"staged": {
			func(p *tprochload.Parameters) { p.Data = "Staged" },
			8,
			[]string{"connect", "readback", "prepare", "stage", "quiesce", "measure", "verify"},
			schemaOrder,
		},
		// One statement each for REGION, NATION, SUPPLIER, CUSTOMER and PART, 4 for PARTSUPP, 8 for ORDERS, 30 for LINEITEM.
		"chunked":                 {func(p *tprochload.Parameters) { p.LoadMode, p.RowsPerChunk = "Chunked", 2000 }, 5 + 4 + 8 + 30, all, schemaOrder},
		"chunked, staged":         {func(p *tprochload.Parameters) { p.LoadMode, p.RowsPerChunk, p.Data = "Chunked", 59630, "Staged" }, 8, nil, schemaOrder},
		"parallel, parents first": {func(p *tprochload.Parameters) { p.LoadMode, p.Clients = "Parallel", ptr.To(8) }, 8, all, nil},
		"parallel, largest first": {func(p *tprochload.Parameters) {
			p.LoadMode, p.Clients, p.ForeignKeyChecks = "Parallel", ptr.To(3), false
		}, 8, all, nil},
		"parallel, one stream": {func(p *tprochload.Parameters) { p.LoadMode, p.Clients = "Parallel", ptr.To(1) }, 8, all, schemaOrder},
		"no checks":            {func(p *tprochload.Parameters) { p.ForeignKeyChecks, p.UniqueChecks = false, false }, 8, all, schemaOrder},
		"as an article": {
			func(p *tprochload.Parameters) { p.AsPublished, p.ForeignKeyChecks = "MariaDBOrg", false },
			8, all, slices.Sorted(slices.Values(schemaOrder)),
		},
		"indexes after, with checks":    {func(p *tprochload.Parameters) { p.Indexes = "After" }, 8, slices.Insert(slices.Clone(all), 5, "index"), nil},
		"indexes after, without checks": {func(p *tprochload.Parameters) { p.Indexes, p.ForeignKeyChecks = "After", false }, 8, nil, nil},
		"analyze": {
			func(p *tprochload.Parameters) { p.Indexes, p.Analyze = "After", true },
			8, slices.Insert(slices.Clone(all), 5, "index", "analyze"), nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTPROCHLoad(t, tc.change)
			summary, doc := tr.mustRun(t)
			want := result.Totals{
				Rows: allRows, Bytes: allBytes, Transactions: tc.statements, Statements: tc.statements, Micros: doc.Totals.Micros,
				StoppedBy: result.StoppedByRows,
			}
			must.Same(t, "totals", want, doc.Totals)
			sums(t, doc)
			var order, phases []string
			for _, load := range doc.Tables {
				order = append(order, load.Name)
			}
			if tc.order != nil && !slices.Equal(order, tc.order) {
				t.Errorf("tables in the order %v, want %v", order, tc.order)
			}
			for _, p := range doc.Phases {
				phases = append(phases, p.Name)
			}
			if tc.phases != nil && !slices.Equal(phases, tc.phases) {
				t.Errorf("phases %v, want %v", phases, tc.phases)
			}
			checkTables(t, doc)
			checkSchema(t)
			if len(summary.Latencies) != 1 || summary.Latencies[0].Operation != "load" || summary.Latencies[0].Count != tc.statements {
				t.Errorf("latencies %+v", summary.Latencies)
			}
			if len(summary.Metrics) != len(doc.Metrics) || summary.Metrics[0].Name != "totalSeconds" || len(doc.Checks) != 3 {
				t.Errorf("the summary has the metrics %+v, checks are %+v", summary.Metrics, doc.Checks)
			}
		})
	}
}

// checkTables checks what is said about each table against the others and the totals.
func checkTables(t *testing.T, doc *result.Document) {
	t.Helper()
	var sum result.TableLoad
	rows := map[string]int64{}
	metrics := metricsOf(doc)
	p := must.Get(workload.Decode[tprochload.Parameters](&doc.Config))(t)
	for _, load := range doc.Tables {
		rows[load.Name] = load.Rows
		sum.Rows += load.Rows
		sum.Bytes += load.Bytes
		sum.Statements += load.Statements
		if load.Micros < 1 || load.StartMicros < 0 || load.StartMicros+load.Micros > doc.Totals.Micros || load.Warnings != 0 {
			t.Errorf("%+v of %d µs", load, doc.Totals.Micros)
		}
		must.Same(t, load.Name+"Seconds", float64(load.Micros)/1e6, metrics[strings.ToLower(load.Name)+"Seconds"])
		if staged := p.Data == "Staged"; staged != (len(load.FileSHA256) == 64) {
			t.Errorf("%s: checksum %q of the file", load.Name, load.FileSHA256)
		}
	}
	must.Same(t, "rows", rowsAtScale, rows)
	if sum.Bytes != doc.Totals.Bytes || sum.Statements != doc.Totals.Statements {
		t.Errorf("tables sum up to %+v, totals are %+v", sum, doc.Totals)
	}
	micros := doc.Totals.Micros
	for _, p := range doc.Phases {
		if p.Name == "index" || p.Name == "analyze" {
			micros += p.Micros
		}
	}
	must.Same(t, "totalSeconds", float64(micros)/1e6, metrics["totalSeconds"])
	must.Same(t, "megabytesPerSecond", float64(allBytes)/float64(micros), metrics["megabytesPerSecond"])
}

// checkSchema asks the server for what it must have in the end, whenever indexes were made.
func checkSchema(t *testing.T) {
	t.Helper()
	for query, want := range map[string]int{
		"SELECT COUNT(*) FROM information_schema.table_constraints WHERE table_schema = 'bench' AND constraint_type = 'FOREIGN KEY'":                                                    8,
		"SELECT COUNT(DISTINCT table_name, index_name) FROM information_schema.statistics WHERE table_schema = 'bench' AND index_name = 'PRIMARY' AND table_name NOT LIKE 'benchrun%'":  8,
		"SELECT COUNT(DISTINCT table_name, index_name) FROM information_schema.statistics WHERE table_schema = 'bench' AND index_name <> 'PRIMARY' AND table_name NOT LIKE 'benchrun%'": 8,
		"SELECT COUNT(*) FROM bench.LINEITEM l JOIN bench.PARTSUPP ps ON l.L_PARTKEY = ps.PS_PARTKEY AND l.L_SUPPKEY = ps.PS_SUPPKEY":                                                   59630,
		"SELECT COUNT(*) FROM bench.LINEITEM JOIN bench.ORDERS ON L_ORDERKEY = O_ORDERKEY JOIN bench.CUSTOMER ON O_CUSTKEY = C_CUSTKEY":                                                 59630,
	} {
		var got int
		if err := other(t).QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, want %d, %v", query, got, want, err)
		}
	}
}

func TestIntegrationTPROCHSessionsAreAsRequested(t *testing.T) {
	tr := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.ForeignKeyChecks, p.UniqueChecks = false, false })
	_, doc := tr.mustRun(t)
	if s := doc.Server.Session; s["foreign_key_checks"] != "OFF" || s["unique_checks"] != "OFF" {
		t.Errorf("session %v", s)
	}
	_, doc = newTPROCHLoad(t, func(*tprochload.Parameters) {}).mustRun(t)
	if s := doc.Server.Session; s["foreign_key_checks"] != "" || s["unique_checks"] != "" {
		t.Errorf("session %v", s)
	}
}

func TestIntegrationTPROCHHeadlineOfASweptScale(t *testing.T) {
	tr := newTPROCHLoad(t, func(*tprochload.Parameters) {})
	tr.cfg.Parameters = map[string]string{"scaleFactor": "0.01"}
	if summary, _ := tr.mustRun(t); summary.Metrics[0].Name != "megabytesPerSecond" || summary.Metrics[1].Name != "totalSeconds" {
		t.Errorf("metrics %+v", summary.Metrics)
	}
}

// What follows the measured phase may take hours: a client that reads a table holds up its indexes here, for longer than any
// rounding of the server's uptime.
func TestIntegrationTPROCHIndexesTakeTime(t *testing.T) {
	db := other(t)
	must.Get(db.Exec("DROP DATABASE IF EXISTS bench"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- holdUp(ctx, db) }()
	_, doc := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.Indexes, p.ForeignKeyChecks = "After", false }).mustRun(t)
	cancel() // nothing is left to be held up
	if err := <-done; err != nil {
		t.Errorf("nothing was held up: %v", err)
	}
	for _, p := range doc.Phases {
		if p.Name == "index" && p.Micros < 3e6 {
			t.Errorf("indexes took %d µs", p.Micros)
		}
	}
}

// holdUp reads a table as soon as it is loaded, and ends the transaction when a statement has waited 4 s for that.
func holdUp(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, query := range []string{
		"SELECT COUNT(*) = 25 FROM bench.NATION",
		"SELECT MAX(time) >= 4 FROM information_schema.processlist WHERE state LIKE '%metadata lock%'",
	} {
		for yes := false; !yes; time.Sleep(10 * time.Millisecond) {
			// No such table yet, or nothing that waits, is no error.
			if err := tx.QueryRowContext(ctx, query).Scan(&yes); ctx.Err() != nil {
				return errors.Join(ctx.Err(), err)
			}
		}
	}
	return nil
}

func TestIntegrationLocalInfileOff(t *testing.T) {
	db := other(t)
	setGlobal := func(value string) {
		must.Get(db.Exec("SET GLOBAL local_infile = " + value))(t)
	}
	setGlobal("OFF")
	t.Cleanup(func() { setGlobal("ON") })
	newTPROCHLoad(t, func(*tprochload.Parameters) {}).mustFail(t.Context(), t, result.CauseConfiguration, "local_infile=ON")
}

// spoiler is a workload whose staged files are spoilt before they are loaded.
type spoiler struct {
	workload.Workload
	spoil func()
}

func (s spoiler) Prepare(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	plan, err := s.Workload.Prepare(ctx, db)
	stage := plan.Stage
	plan.Stage = func(ctx context.Context) error {
		err := stage(ctx)
		s.spoil()
		return err
	}
	return plan, err
}

// A row that the server leaves out or changes is no error of LOAD DATA LOCAL, but it is no result.
func TestIntegrationTPROCHSpoiltFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		table, from, to string
		reason          result.Cause
		words           []string
	}{
		"a value that does not fit": {
			"part", "|901.00|", "|cheap|", result.CauseCheckFailed, []string{"warnings: PART: 1, the first: ", "P_RETAILPRICE"},
		},
		"a key that is there twice": {
			"nation", "\n1|", "\n0|", result.CauseCheckFailed,
			[]string{"warnings: NATION: ", "Duplicate entry '0'", "rows: NATION: 25 sent, 24 written, 24 in the table"},
		},
		"another text":     {"region", "AFRICA", "AFRIKA", result.CauseCheckFailed, []string{"checksum: REGION: the table has rows=5"}},
		"a column too few": {"region", "|AFRICA|", "|", result.CauseCheckFailed, []string{"warnings: REGION: 2, the first: "}},
		"no parent for a row": {
			"nation", "|ALGERIA|0|", "|ALGERIA|7|", result.CauseCheckFailed, []string{"warnings: NATION: 1, the first: ", "foreign key"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.Data = "Staged" })
			out := progress.Start(io.Discard)
			defer out.Finish()
			a, w, err := newAttempt(&Input{Config: tr.encoded(t), Identity: tr.id}, out)
			must.Do(t, err)
			defer a.close()
			spoilt := spoiler{w, func() { replaceInFile(t, filepath.Join(tr.cfg.Scratch, tc.table+".tbl"), tc.from, tc.to) }}
			r := newRole(a, spoilt, &clientLoad{attempt: a, workload: spoilt})
			err = r.run(t.Context())
			if left := r.release(); len(left) > 0 {
				t.Error(left)
			}
			why := failure.Describe(t.Context(), err)
			must.Same(t, "reason of "+why.Message, tc.reason, why.Reason)
			for _, word := range tc.words {
				if !strings.Contains(why.Message, word) {
					t.Errorf("message %q, want %q in it", why.Message, word)
				}
			}
		})
	}
}

func replaceInFile(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), from) {
		t.Fatalf("%v, %q is not there", err, from)
	}
	must.Write(t, path, strings.Replace(string(text), from, to, 1))
}

func TestIntegrationTPROCHScratchIsFull(t *testing.T) {
	tr := newTPROCHLoad(t, func(p *tprochload.Parameters) { p.Data = "Staged" })
	// Every write to this device says that it is full.
	must.Do(t, os.Symlink("/dev/full", filepath.Join(tr.cfg.Scratch, "customer.tbl")))
	tr.mustFail(t.Context(), t, result.CauseConfiguration, "staging CUSTOMER on the scratch volume", "no space left on device")
}

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
				got := want // until all of it is scanned
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
		"a field too few": {"region.tbl", "|AFRICA|", "|", result.CauseConfiguration, []string{"region.tbl, line 1: 2 fields for 3 columns"}},
		"a row twice": {
			"nation.tbl", "\n1|", "\n0|", result.CauseCheckFailed, []string{"NATION: 1, the first: Duplicate entry '0'", "25 sent, 24 written"},
		},
		"dates of two sorts": {"orders.tbl", "1996-", "96/", result.CauseCheckFailed, []string{"warnings: ORDERS: "}},
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
