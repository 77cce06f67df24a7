// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tprochload

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/userdata"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// tprochConfig is a valid configuration, changed.
func tprochConfig(change func(*result.Config, *Parameters)) *result.Config {
	p := &Parameters{
		ScaleFactor: "0.01", Data: dataStreamed, LoadMode: loadOneStatement, ForeignKeyChecks: true, UniqueChecks: true,
		Indexes: indexesBefore,
	}
	cfg := &result.Config{Seed: 42}
	change(cfg, p)
	w := workloadtest.Load(Definition, p)
	cfg.Workload.Type, cfg.Workload.Parameters = w.Type, w.Parameters
	return cfg
}

func newTestTPROCHLoad(t *testing.T, change func(*result.Config, *Parameters)) *tprochLoad {
	t.Helper()
	w := must.Get(New(tprochConfig(change)))(t)
	return w.(*tprochLoad)
}

func TestTPROCHLoadRefuses(t *testing.T) {
	for want, change := range map[string]func(*result.Config, *Parameters){
		`scaleFactor is "0.005" but must be 0.01 to`:                         func(_ *result.Config, p *Parameters) { p.ScaleFactor = "0.005" },
		`data is "" but must be Staged or Streamed`:                          func(_ *result.Config, p *Parameters) { p.Data = "" },
		"no scratch volume for the files: set loader.":                       func(_ *result.Config, p *Parameters) { p.Data = dataStaged },
		`loadMode is "Serial" but must be OneStatement, Chunked or Parallel`: func(_ *result.Config, p *Parameters) { p.LoadMode = "Serial" },
		"rowsPerChunk is 0 but must be at least 1":                           func(_ *result.Config, p *Parameters) { p.LoadMode = loadChunked },
		"clients is 0 but must be 1 to 8":                                    func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients = loadParallel, ptr.To(0) },
		"clients is 9 but must be 1 to 8":                                    func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients = loadParallel, ptr.To(9) },
		`indexes is "Later" but must be Before or After`:                     func(_ *result.Config, p *Parameters) { p.Indexes = "Later" },
		"scaleFactor cannot be swept with dataFrom: every point would load": func(c *result.Config, _ *Parameters) {
			c.Workload.Data, c.Parameters = &result.Data{}, map[string]string{"scaleFactor": "0.01"}
		},
		`asPublished is "Article" but must be None or MariaDBOrg`:       func(_ *result.Config, p *Parameters) { p.AsPublished = "Article" },
		"asPublished MariaDBOrg goes with loadMode OneStatement and fo": func(_ *result.Config, p *Parameters) { p.AsPublished = asPublishedMariaDBOrg },
		"MariaDBOrg goes with loadMode OneStatement and foreignKe": func(_ *result.Config, p *Parameters) {
			p.AsPublished, p.ForeignKeyChecks, p.LoadMode, p.RowsPerChunk = asPublishedMariaDBOrg, false, loadChunked, 1
		},
		"leave out dataFrom and schemaFrom": func(c *result.Config, p *Parameters) {
			p.AsPublished, p.ForeignKeyChecks, c.Workload.SchemaFile = asPublishedMariaDBOrg, false, "own.sql"
		},
		"limits.seconds is not for TPROCHLoad": func(c *result.Config, _ *Parameters) { c.LimitSeconds = 5 },
	} {
		must.Refused(New(tprochConfig(change)))(t, want)
	}
}

// The scale of Benchrun's own data may be swept, and with the user's files everything else.
func TestTPROCHLoadTakesSweeps(t *testing.T) {
	for _, change := range []func(*result.Config, *Parameters){
		func(c *result.Config, _ *Parameters) { c.Parameters = map[string]string{"scaleFactor": "0.01"} },
		func(c *result.Config, _ *Parameters) {
			c.Workload.Data, c.Parameters = &result.Data{}, map[string]string{"loadMode": "OneStatement"}
		},
	} {
		must.Do(t, Definition.Validate(tprochConfig(change)))
	}
}

// Clients are for one mode, and may be left out there.
func TestTPROCHLoadStreams(t *testing.T) {
	for _, tc := range []struct {
		mode    string
		clients *int
		want    int
	}{
		{loadParallel, nil, defaultClients},
		{loadParallel, ptr.To(8), 8},
		{loadOneStatement, nil, 1},
		{loadOneStatement, ptr.To(8), 1},
		{loadChunked, ptr.To(0), 1},
	} {
		w := newTestTPROCHLoad(t, func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients, p.RowsPerChunk = tc.mode, tc.clients, 1 })
		must.Same(t, fmt.Sprintf("%s with %d clients", tc.mode, ptr.Deref(tc.clients, -1)), tc.want, w.Plan().Clients)
	}
}

// The article loads tables in the order of their names, with statements that name neither columns nor a character set.
func TestTPROCHLoadCompat(t *testing.T) {
	w, b := newTestTPROCHLoad(t, func(_ *result.Config, p *Parameters) {
		p.AsPublished, p.ForeignKeyChecks = asPublishedMariaDBOrg, false
	}), &bulk{}
	must.Do(t, b.measure(t, w, 1))
	want := []string{"CUSTOMER", "LINEITEM", "NATION", "ORDERS", "PART", "PARTSUPP", "REGION", "SUPPLIER"}
	must.Same(t, "order", want, b.begun)
	must.Same(t, "it sends", "INTO TABLE PARTSUPP FIELDS TERMINATED BY '|'", w.clause(tproch.PartSupp))
	own := newTestTPROCHLoad(t, func(*result.Config, *Parameters) {}).clause(tproch.Region)
	if own != "INTO TABLE REGION CHARACTER SET latin1 FIELDS TERMINATED BY '|' (R_REGIONKEY, R_NAME, R_COMMENT)" {
		t.Errorf("without compat it sends %s", own)
	}
}

func TestTPROCHLoadSendsEveryTable(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		change     func(*result.Config, *Parameters)
		clients    int
		statements int
	}{
		"streamed": {func(*result.Config, *Parameters) {}, 1, 8},
		"staged":   {func(c *result.Config, p *Parameters) { c.Scratch, p.Data = dir, dataStaged }, 1, 8},
		"chunked":  {func(_ *result.Config, p *Parameters) { p.LoadMode, p.RowsPerChunk = loadChunked, 5000 }, 1, 5 + 2 + 3 + 12},
		"parallel": {func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients = loadParallel, ptr.To(5) }, 5, 8},
		"parallel, without checks": {
			func(_ *result.Config, p *Parameters) {
				p.LoadMode, p.Clients, p.ForeignKeyChecks = loadParallel, ptr.To(8), false
			}, 8, 8,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := newTestTPROCHLoad(t, tc.change), &bulk{}
			if w.stage != nil {
				must.Do(t, w.stage.run(t.Context()))
			}
			must.Do(t, b.measure(t, w, tc.clients))
			data := tproch.New(42, 1)
			for _, table := range tproch.Tables() {
				text := must.Get(io.ReadAll(data.Reader(table, 0, data.Units(table))))(t)
				if b.text[table.String()] != string(text) {
					t.Errorf("%s: %d bytes were sent, want the table's %d", table, len(b.text[table.String()]), len(text))
				}
			}
			if len(b.begun) != tc.statements || b.sent != 86260 {
				t.Errorf("%d statements and %d rows, want %d and 86260", len(b.begun), b.sent, tc.statements)
			}
			if w.params.ForeignKeyChecks && len(b.missing) > 0 {
				t.Errorf("begun too early: %v", b.missing)
			}
		})
	}
}

// The largest table must not be the last one to begin.
func TestTPROCHLoadOrder(t *testing.T) {
	parallel := func(checks bool) func(*result.Config, *Parameters) {
		return func(_ *result.Config, p *Parameters) {
			p.LoadMode, p.Clients, p.ForeignKeyChecks = loadParallel, ptr.To(1), checks
		}
	}
	inOrder := names(tproch.Tables())
	backwards := slices.Clone(inOrder)
	slices.Reverse(backwards)
	for _, tc := range []struct {
		checks bool
		want   []string
	}{{true, inOrder}, {false, backwards}} {
		b := &bulk{}
		must.Do(t, b.measure(t, newTestTPROCHLoad(t, parallel(tc.checks)), 1))
		must.Same(t, fmt.Sprintf("order with checks %t", tc.checks), tc.want, b.begun)
	}
}

// A client that waits for a table that will never be loaded is released.
func TestTPROCHLoadEndsWithTheFirstError(t *testing.T) {
	w := newTestTPROCHLoad(t, func(_ *result.Config, p *Parameters) { p.LoadMode, p.Clients = loadParallel, ptr.To(8) })
	b := &bulk{refuse: "NATION"}
	must.Same(t, "error", "loading NATION: refused", must.Text(b.measure(t, w, 8)))
	if slices.Contains(b.begun, "LINEITEM") {
		t.Error("LINEITEM was begun, though it depends on what failed")
	}
}

func TestTPROCHStageRecordsChecksums(t *testing.T) {
	dir := t.TempDir()
	w := newTestTPROCHLoad(t, func(c *result.Config, p *Parameters) { c.Scratch, p.Data = dir, dataStaged })
	must.Do(t, w.stage.run(t.Context()))
	for _, table := range tproch.Tables() {
		text := must.Get(os.ReadFile(filepath.Join(dir, strings.ToLower(table.String())+".tbl")))(t)
		must.Same(t, fmt.Sprintf("%s: recorded checksum", table), fmt.Sprintf("%x", sha256.Sum256(text)), w.stage.sums[table])
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, w.stage.run(ended), context.Canceled)
}

func TestTPROCHLoadReadsNoBrokenFile(t *testing.T) {
	w := newTestTPROCHLoad(t, func(c *result.Config, p *Parameters) { c.Scratch, p.Data = t.TempDir(), dataStaged })
	err := (&bulk{}).measure(t, w, 1)
	if _, ok := errors.AsType[workload.Refused](err); !ok || !strings.Contains(err.Error(), "opening the staged file") {
		t.Errorf("error %v", err)
	}
}

func TestTPROCHPlans(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*result.Config, *Parameters)
		want   []workload.Phase
	}{
		"nothing afterwards": {func(*result.Config, *Parameters) {}, nil},
		"analyze": {func(_ *result.Config, p *Parameters) { p.Analyze = true }, []workload.Phase{{Name: phaseAnalyze, Statements: []string{
			"ANALYZE TABLE REGION, NATION, SUPPLIER, CUSTOMER, PART, PARTSUPP, ORDERS, LINEITEM",
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "phases", tc.want, newTestTPROCHLoad(t, tc.change).after())
		})
	}
	w := newTestTPROCHLoad(t, func(_ *result.Config, p *Parameters) { p.Indexes, p.ForeignKeyChecks = indexesAfter, false })
	phases := w.after()
	want := slices.Concat([]string{"SET autocommit=1, foreign_key_checks=0, unique_checks=1"}, tproch.Keys())
	must.Same(t, "phases", []workload.Phase{{Name: phaseIndex, Statements: want}}, phases)
}

// tprochFolder has all tables' files, in a folder sf of a volume, as Benchrun would make them for a seed; changed by name.
func tprochFolder(t testing.TB, change map[string]string) *result.Data {
	t.Helper()
	d := &result.Data{Root: t.TempDir(), Path: "sf"}
	must.Do(t, os.Mkdir(filepath.Join(d.Root, "sf"), 0o700))
	files := map[string]string{"readme.tbl": "not a table", "region.txt": "another file"}
	data := tproch.New(42, 1)
	for _, table := range tproch.Tables() {
		text := must.Get(io.ReadAll(data.Reader(table, 0, min(100, data.Units(table)))))(t)
		files[strings.ToLower(table.String())+".tbl"] = string(text)
	}
	for name, text := range change {
		if files[name] = text; text == "" {
			delete(files, name)
		}
	}
	for name, text := range files {
		must.Write(t, filepath.Join(d.Root, "sf", name), text)
	}
	return d
}

func newTestTPROCHFiles(t *testing.T, change map[string]string) *tprochLoad {
	t.Helper()
	return newTestTPROCHLoad(t, func(c *result.Config, _ *Parameters) { c.Workload.Data = tprochFolder(t, change) })
}

const pieceOne, pieceTwo, pieceTen = "0|A|x\n1|B|y", "2|C|z\n", "3|D|w"

func TestTPROCHFilesAreLoadedInPieces(t *testing.T) {
	w := newTestTPROCHFiles(t, map[string]string{
		"region.tbl": "", "region_1.tbl": pieceOne, "region_10.tbl": pieceTen, "region_2.tbl": pieceTwo, "region_x.tbl": "no piece",
	})
	must.Do(t, w.Plan().Stage(t.Context()))
	b := &bulk{}
	must.Do(t, b.measure(t, w, 1))
	// A piece without a line feed at its end gets one, so that its last row is one of its own.
	must.Same(t, "REGION was loaded from", pieceOne+"\n"+pieceTwo+pieceTen+"\n", b.text["REGION"])
	if got := w.files.rows[tproch.Region]; got != 4 || w.files.rows[tproch.Nation] != 25 || w.files.rows[tproch.Orders] != 100 {
		t.Errorf("rows %v", w.files.rows)
	}
	var names []string
	for _, in := range w.files.inputs() {
		names = append(names, in.Name)
	}
	want := []string{
		"sf/region_1.tbl", "sf/region_2.tbl", "sf/region_10.tbl", "sf/nation.tbl", "sf/supplier.tbl", "sf/customer.tbl", "sf/part.tbl",
		"sf/partsupp.tbl", "sf/orders.tbl", "sf/lineitem.tbl",
	}
	must.Same(t, "inputs", want, names)
	if check, err := w.files.check(t.Context()); err != nil || !check.Passed {
		t.Errorf("%+v, %v", check, err)
	}
	must.Write(t, filepath.Join(w.files.root, "sf/part.tbl"), "1|2\n")
	if check, err := w.files.check(t.Context()); err != nil || check.Passed || !strings.Contains(check.Detail, "sf/part.tbl had") {
		t.Errorf("%+v, %v", check, err)
	}
}

func TestTPROCHFilesSayHowDatesAreWritten(t *testing.T) {
	const order = "1996-JAN-02|1|2|1-URGENT|0|Clerk#1|O|12.50|text\n"
	w := newTestTPROCHFiles(t, map[string]string{"orders.tbl": order})
	must.Do(t, w.Plan().Stage(t.Context()))
	for table, want := range map[tproch.Table]string{
		tproch.Orders: "INTO TABLE ORDERS CHARACTER SET utf8mb4 FIELDS TERMINATED BY '|' (@O_ORDERDATE, O_ORDERKEY, O_CUSTKEY, " +
			"O_ORDERPRIORITY, O_SHIPPRIORITY, O_CLERK, O_ORDERSTATUS, O_TOTALPRICE, O_COMMENT) " +
			"SET O_ORDERDATE = STR_TO_DATE(@O_ORDERDATE, '%Y-%b-%d')",
		tproch.Region: "INTO TABLE REGION CHARACTER SET utf8mb4 FIELDS TERMINATED BY '|' (R_REGIONKEY, R_NAME, R_COMMENT)",
	} {
		must.Same(t, table.String(), want, w.clause(table))
	}
	must.Lack(t, w.clause(tproch.LineItem), "STR_TO_DATE")
}

func TestTPROCHFilesRefuses(t *testing.T) {
	for want, change := range map[string]map[string]string{
		"dataFrom: the folder sf: REGION has neither region.tbl nor region_1.tbl, …; PART has neither": {"region.tbl": "", "part.tbl": ""},
		"REGION has region.tbl and region_3.tbl: use one file or pieces, not both":                     {"region_3.tbl": pieceOne},
		"dataFrom: sf/region.tbl, line 2: 4 fields for 3 columns":                                      {"region.tbl": "0|A|x\n1|B|y|\n"},
	} {
		err := newTestTPROCHFiles(t, change).Plan().Stage(t.Context())
		if _, refused := errors.AsType[workload.Refused](err); !refused || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	w := newTestTPROCHFiles(t, nil)
	w.files.folder = "elsewhere"
	must.Same(t, "error", "dataFrom: reading elsewhere: no such file or directory", must.Text(w.Plan().Stage(t.Context())))
	for want, change := range map[string]func(*result.Config, *Parameters){
		"data is Staged, which is for generated data": func(c *result.Config, p *Parameters) {
			c.Workload.Data, c.Scratch, p.Data = &result.Data{}, "/scratch", dataStaged
		},
		"indexes is After, which is for Benchrun's own tables": func(c *result.Config, p *Parameters) {
			c.Workload.SchemaFile, p.Indexes = "x.sql", indexesAfter
		},
	} {
		must.Refused(New(tprochConfig(change)))(t, want)
	}
}

// A warning names the file and the row in it, whatever the statement and the piece.
func TestWarningsAreLocated(t *testing.T) {
	f := &files{}
	for i, rows := range []int64{10, 5} {
		p := piece{File: userdata.File{Name: fmt.Sprintf("tpch/orders_%d.tbl", i+1)}}
		p.Rows = rows
		f.pieces[tproch.Orders] = append(f.pieces[tproch.Orders], p)
	}
	for _, tc := range []struct {
		warning string
		before  int64
		want    string
	}{
		{"Data truncated for column 'O_X' at row 3", 0, "tpch/orders_1.tbl, row 3: Data truncated for column 'O_X'"},
		{"Data truncated for column 'O_X' at row 3", 10, "tpch/orders_2.tbl, row 3: Data truncated for column 'O_X'"},
		{"Data truncated for column 'O_X' at row 4", 8, "tpch/orders_2.tbl, row 2: Data truncated for column 'O_X'"},
		{"Data truncated for column 'O_X' at row 9", 8, "Data truncated for column 'O_X' at row 9"},
		{"Duplicate entry '0' for key 'x'", 0, "Duplicate entry '0' for key 'x'"},
	} {
		must.Same(t, "where it is", tc.want, f.located(tproch.Orders, tc.warning, tc.before))
	}
}

// pieces reads a text in pieces of so many lines, into a buffer of so many bytes.
func pieces(t *testing.T, src io.Reader, lines int64, buffer int) (parts []string, passed, bytes int64, err error) {
	t.Helper()
	l := newLines(src, func(n, b int64) { passed += n; bytes += b })
	for more := true; more; more = l.more() {
		l.left = lines
		var part []byte
		p := make([]byte, buffer)
		for {
			n, err := l.Read(p)
			part = append(part, p[:n]...)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return parts, passed, bytes, l.err
			}
		}
		parts = append(parts, string(part))
	}
	return parts, passed, bytes, l.err
}

func TestLinesComeInPieces(t *testing.T) {
	long := strings.Repeat("x", 3*lineBuffer) + "\n"
	for name, tc := range map[string]struct {
		text  string
		lines int64
		want  []string
	}{
		"one by one":                  {"a\nbb\nccc\n", 1, []string{"a\n", "bb\n", "ccc\n"}},
		"some left":                   {"a\nbb\nccc\n", 2, []string{"a\nbb\n", "ccc\n"}},
		"exactly all":                 {"a\nbb\nccc\n", 3, []string{"a\nbb\nccc\n"}},
		"all":                         {"a\nbb\nccc\n", 1 << 62, []string{"a\nbb\nccc\n"}},
		"empty lines":                 {"\n\n\n", 2, []string{"\n\n", "\n"}},
		"longer than what is read":    {long + "b\n" + long, 1, []string{long, "b\n", long}},
		"no line feed at the end":     {"a\nb", 1, []string{"a\n", "b"}},
		"the end of the text is left": {"a\nb", 5, []string{"a\nb"}},
		"nothing":                     {"", 1, []string{""}},
	} {
		for _, buffer := range []int{1, 2, 3, 7, 16 << 10, 2 * lineBuffer} {
			for kind, src := range map[string]io.Reader{
				"whole": strings.NewReader(tc.text), "halves": iotest.HalfReader(strings.NewReader(tc.text)),
			} {
				got, passed, bytes, err := pieces(t, src, tc.lines, buffer)
				if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
					t.Errorf("%s, %s, %d bytes at a time: %v, %d pieces, want %d", name, kind, buffer, err, len(got), len(tc.want))
				}
				if passed != int64(strings.Count(tc.text, "\n")) || bytes != int64(len(tc.text)) {
					t.Errorf("%s: %d lines and %d bytes passed", name, passed, bytes)
				}
			}
		}
	}
}

func TestLinesKeepTheSourcesError(t *testing.T) {
	broken := errors.New("the disk is gone")
	src := io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(broken))
	for _, lines := range []int64{1, 2, 100} {
		if _, _, _, err := pieces(t, src, lines, 100); !errors.Is(err, broken) {
			t.Errorf("%d lines: the error is %v", lines, err)
		}
		src = io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(broken))
	}
}

// bulk is a server that takes all files, and the recorders of several clients.
type bulk struct {
	workloadtest.Silence
	mu sync.Mutex
	// begun and loaded are the tables in the order of their first statement and of the end of their last.
	begun, loaded []string
	text          map[string]string
	// missing has tables that were begun before one that they refer to was loaded.
	missing []string
	refuse  string
	clock   time.Duration
	sent    int64
}

func (b *bulk) Load(clause string, data io.Reader) (int64, int64, error) {
	table := strings.Fields(clause)[2]
	b.mu.Lock()
	b.begun = append(b.begun, table)
	for _, t := range tproch.Tables() {
		for _, parent := range t.Parents() {
			if t.String() == table && !slices.Contains(b.loaded, parent.String()) {
				b.missing = append(b.missing, table+" before "+parent.String())
			}
		}
	}
	b.mu.Unlock()
	text, err := io.ReadAll(data)
	if err != nil {
		return 0, 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if table == b.refuse {
		return 0, 0, errors.New("refused")
	}
	b.loaded = append(b.loaded, table)
	b.text[table] += string(text)
	return int64(strings.Count(string(text), "\n")), 0, nil
}

func (b *bulk) Now() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock += time.Millisecond
	return b.clock
}

func (b *bulk) Sent(_ time.Duration, rows, _ int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent += rows
}

// measure lets so many clients load. The first error ends the others, as the loader has it.
func (b *bulk) measure(t *testing.T, w workload.Workload, clients int) error {
	t.Helper()
	b.text = map[string]string{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs := make(chan error, clients)
	var working sync.WaitGroup
	for i := range clients {
		working.Go(func() {
			if _, err := w.Measure(ctx, &workload.Client{Index: i, Session: b, Recorder: b}); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	working.Wait()
	close(errs)
	return <-errs
}

func names(tables []tproch.Table) []string {
	var all []string
	for _, t := range tables {
		all = append(all, t.String())
	}
	return all
}
