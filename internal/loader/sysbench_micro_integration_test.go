// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"database/sql"
	"fmt"
	"io"
	"maps"
	osexec "os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
)

// statements are those of an event, with how many there are of each.
type statements map[string]int64

const (
	byID       = "SELECT c FROM sbtest WHERE id=N"
	inRange    = " FROM sbtest WHERE id BETWEEN N AND N+"
	setK       = "UPDATE sbtest SET k=k+1 WHERE id=N"
	setC       = "UPDATE sbtest SET c=S WHERE id=N"
	deleteByID = "DELETE FROM sbtest WHERE id=N"
	insertByID = "INSERT INTO sbtest (id, k, c, pad) VALUES (N, N, S, S)"
	insertNoID = "INSERT INTO sbtest (id, k, c, pad) VALUES (0, N, S, S)"
	kRange     = "k BETWEEN N AND N+"
	tenKRanges = "SELECT SUM(LENGTH(c)) FROM sbtest WHERE " + kRange + "4"
)

// microbenchmarkRows are those of a table: more than the longest range.
const microbenchmarkRows = int64(20_000)

// readOnly is a transaction of oltp_read_only with ranges of this last offset.
func readOnly(last string) statements {
	return statements{
		"BEGIN": 1, byID: 10, "SELECT c" + inRange + last: 1, "SELECT SUM(k)" + inRange + last: 1,
		"SELECT c" + inRange + last + " ORDER BY c": 1, "SELECT DISTINCT c" + inRange + last + " ORDER BY c": 1, "COMMIT": 1,
	}
}

var writeOnly = statements{"BEGIN": 1, setK: 1, setC: 1, deleteByID: 1, insertByID: 1, "COMMIT": 1}

// both is a transaction with the statements of two.
func both(a, b statements) statements {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// access is how a server reads what a statement asks for: by which index, and whether it reads a secondary index alone. InnoDB has
// the rows in the primary key, of which MySQL says that it is read alone, and MariaDB does not.
type access struct {
	key     string
	covered bool
}

var (
	byPK            = &access{"PRIMARY", false}
	bySI, bySIAlone = &access{"k_N", false}, &access{"k_N", true}
	byNone          = &access{"", false}
)

// microbenchmarks are what each sends, and how that is read if that is what it is about.
var microbenchmarks = map[string]struct {
	sends statements
	read  *access
}{
	"point-query":          {statements{byID: 1}, byPK},
	"random-points-10":     {statements{"SELECT * FROM sbtest WHERE id IN (10)": 1}, byPK},
	"random-points-100":    {statements{"SELECT * FROM sbtest WHERE id IN (100)": 1}, byPK},
	"random-points-1000":   {statements{"SELECT * FROM sbtest WHERE id IN (1000)": 1}, byPK},
	"hot-points":           {statements{"SELECT * FROM sbtest WHERE id IN (100)": 1}, byPK},
	"random-ranges":        {statements{tenKRanges + strings.Repeat(" OR "+kRange+"4", 9): 1}, bySI},
	"points-covered-pk":    {statements{"SELECT id FROM sbtest WHERE id IN (100)": 1}, byPK},
	"points-covered-si":    {statements{"SELECT k FROM sbtest WHERE k IN (100)": 1}, bySIAlone},
	"points-notcovered-pk": {statements{"SELECT c FROM sbtest WHERE id IN (100)": 1}, byPK},
	"points-notcovered-si": {statements{"SELECT c FROM sbtest WHERE k IN (100)": 1}, bySI},
	"range-covered-pk":     {statements{"SELECT id" + inRange + "99": 1}, byPK},
	"range-covered-si":     {statements{"SELECT k FROM sbtest WHERE " + kRange + "99": 1}, bySIAlone},
	"range-notcovered-pk":  {statements{"SELECT c" + inRange + "99": 1}, byPK},
	"range-notcovered-si":  {statements{"SELECT c FROM sbtest WHERE " + kRange + "99": 1}, bySI},
	"read-only-10":         {readOnly("9"), nil},
	"read-only-100":        {readOnly("99"), nil},
	"read-only-10000":      {readOnly("9999"), nil},
	"read-only-count":      {statements{"SELECT COUNT(*)" + inRange + "999": 1}, byPK},
	"read-only-distinct":   {statements{"SELECT DISTINCT c" + inRange + "999 ORDER BY c": 1}, byPK},
	"read-only-order":      {statements{"SELECT c" + inRange + "999 ORDER BY c": 1}, byPK},
	"read-only-simple":     {statements{"SELECT c" + inRange + "999": 1}, byPK},
	"read-only-sum":        {statements{"SELECT SUM(k)" + inRange + "999": 1}, byPK},
	"scan":                 {statements{"SELECT id FROM sbtest WHERE c = pad": 1}, byNone},
	"update-inlist":        {statements{"UPDATE sbtest SET c = S WHERE id IN (100)": 1}, nil},
	"update-index":         {statements{setK: 1}, nil},
	"update-nonindex":      {statements{setC: 1}, nil},
	"update-one":           {statements{setC: 1}, nil},
	"update-zipf":          {statements{"UPDATE sbtest SET c = S WHERE id IN (1)": 1}, nil},
	"write-only":           {writeOnly, nil},
	"read-write-10":        {both(readOnly("9"), writeOnly), nil},
	"read-write-100":       {both(readOnly("99"), writeOnly), nil},
	"insert":               {statements{insertNoID: 1}, nil},
	"delete":               {statements{deleteByID: 1}, nil},
}

// generalLog has the server write down in a table what it is sent.
func generalLog(t *testing.T) *sql.DB {
	t.Helper()
	mustExec(t, "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = ON")
	t.Cleanup(func() { mustExec(t, "SET GLOBAL general_log = OFF", "SET GLOBAL log_output = 'FILE'") })
	return other(t)
}

// loggedLoad are the statements of the load, with their values, since the log was emptied. What prepares tables and counts rows is
// left out.
func loggedLoad(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	rows := must.Get(db.Query("SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type IN ('Execute', 'Query')"))(t)
	defer rows.Close()
	for rows.Next() {
		var text string
		must.Do(t, rows.Scan(&text))
		if ofLoad.MatchString(text) && !countsRows.MatchString(text) {
			all = append(all, text)
		}
	}
	must.Do(t, rows.Err())
	return all
}

var (
	ofLoad     = regexp.MustCompile(`^(BEGIN|COMMIT)$|^(SELECT|UPDATE|DELETE) .*sbtest\d|^INSERT INTO sbtest\d+ \(id`)
	countsRows = regexp.MustCompile(`^SELECT COUNT\(\*\) FROM sbtest\d+$`)
	tables     = regexp.MustCompile(`sbtest\d+`)
	texts      = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	between    = regexp.MustCompile(`BETWEEN (\d+) AND (\d+)`)
	lists      = regexp.MustCompile(`IN \(([\d, ]+)\)`)
	ids        = regexp.MustCompile(`id=\d+`)
	inserted   = regexp.MustCompile(`VALUES \((\d+), \d+,`)
)

// form is a statement without its values: but for how long its lists and ranges are.
func form(text string) string {
	text = texts.ReplaceAllString(tables.ReplaceAllString(text, "sbtest"), "S")
	text = between.ReplaceAllStringFunc(text, func(s string) string {
		match := between.FindStringSubmatch(s)
		low, _ := strconv.Atoi(match[1])
		high, _ := strconv.Atoi(match[2])
		return fmt.Sprintf("BETWEEN N AND N+%d", high-low)
	})
	text = lists.ReplaceAllStringFunc(text, func(s string) string { return fmt.Sprintf("IN (%d)", strings.Count(s, ",")+1) })
	text = ids.ReplaceAllString(text, "id=N")
	return inserted.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "VALUES (0,") {
			return "VALUES (0, N,"
		}
		return "VALUES (N, N,"
	})
}

// explained is how the server reads what a statement asks for.
func explained(t *testing.T, db *sql.DB, statement string) access {
	t.Helper()
	rows, err := db.Query("EXPLAIN FORMAT=TRADITIONAL " + tables.ReplaceAllString(statement, sysbenchSchema+".$0"))
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	columns := must.Get(rows.Columns())(t)
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	of := func(name string) string {
		return values[slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(c, name) })].String
	}
	// A server may make a table of a long list, and join it.
	for rows.Next() {
		must.Do(t, rows.Scan(into...))
		if !tables.MatchString(of("table")) {
			continue
		}
		key := regexp.MustCompile(`^k_\d+$`).ReplaceAllString(of("key"), "k_N")
		return access{key, key != "PRIMARY" && slices.Contains(strings.Split(of("Extra"), "; "), "Using index")}
	}
	t.Fatalf("%.300s: the server does not say how it reads the table: %v", statement, rows.Err())
	return access{}
}

// Each microbenchmark runs without an error, by prepared statements, and sends what it is said to send. What is about an index is
// read by that one.
func TestSysbenchMicrobenchmarks(t *testing.T) {
	keptData(t)
	db := generalLog(t)
	for _, name := range slices.Sorted(maps.Keys(microbenchmarks)) {
		t.Run(name, func(t *testing.T) {
			const events = 5
			mustExec(t, "TRUNCATE TABLE mysql.general_log")
			_, doc := newKeptTrial(t, sysbench.Parameters{
				Script: name, Events: events, Tables: ptr.To[int32](2), TableSize: ptr.To(microbenchmarkRows),
			}).mustRun(t)
			want := microbenchmarks[name]
			sent, all := statements{}, int64(0)
			var last string
			for _, text := range loggedLoad(t, db) {
				sent[form(text)]++
				if strings.HasPrefix(text, "SELECT") {
					last = text
				}
			}
			for statement, n := range want.sends {
				all += n * events
				if sent[statement] != n*events {
					t.Errorf("%d times in %d events, want %d in each: %s", sent[statement], events, n, statement)
				}
			}
			if len(sent) != len(want.sends) || doc.Totals.Statements != all || doc.Totals.Transactions != events || doc.Totals.Errors != 0 {
				t.Errorf("sent %v, totals %+v", sent, doc.Totals)
			}
			// MySQL does not prepare BEGIN.
			if executed := counted(t, doc, "Com_stmt_execute"); name != "insert" && executed < all-sent["BEGIN"] {
				t.Errorf("%d statements were executed as prepared ones, of %d", executed, all)
			}
			if want.read != nil {
				must.Same(t, fmt.Sprintf("%.300s", last), *want.read, explained(t, db, last), cmp.AllowUnexported(access{}))
			}
		})
	}
}

// BenchmarkSysbench measures pairs: the same sysbench with the same options, as the loader executes it and as a person would.
// Both run at the same time against the same tables, so that whatever else the machine does meets
// both; the one that starts first is the other one in each next pair. It reports the ratio of their transactions per second: its
// median over all pairs, and from six pairs on the ends of its 95% interval by order statistics; and the same of the CPU time
// for a transaction.
func BenchmarkSysbench(b *testing.B) {
	tr := newSysbenchTrial(b, sysbench.Parameters{
		Script: "oltp_read_only", Clients: 1, TableSize: ptr.To[int64](10000), Seconds: 8,
	})
	mustExec(b, "DROP DATABASE IF EXISTS "+sysbenchSchema, "CREATE DATABASE "+sysbenchSchema)
	out := progress.Start(io.Discard)
	defer out.Finish()
	l := must.Get(newToolLoad(&attempt{cfg: tr.config(), progress: out, engine: testedEngine(b)}))(b)
	defer l.close()
	must.Do(b, l.executeAll(b.Context(), workload.PhasePrepare))
	command := l.tool.Commands(workload.PhaseMeasure)[0]
	var rates, costs []float64
	for b.Loop() {
		var loader, hand side
		sides := []func(){
			func() {
				e, err := l.execute(b.Context(), workload.PhaseMeasure, command)
				if err != nil {
					b.Error(err)
					return
				}
				loader = newSide(b, e.Output, e.User+e.System)
			},
			func() { hand = byHand(b, command) },
		}
		if len(rates)%2 == 1 {
			slices.Reverse(sides)
		}
		var running sync.WaitGroup
		for _, run := range sides {
			running.Go(run)
		}
		running.Wait()
		if b.Failed() {
			return
		}
		b.Logf("by the loader %.1f transactions/s, %.1f µs of CPU each; by hand %.1f, %.1f", loader.rate, loader.cost, hand.rate, hand.cost)
		rates, costs = append(rates, loader.rate/hand.rate), append(costs, loader.cost/hand.cost)
	}
	report(b, "rate", rates)
	report(b, "CPU", costs)
	b.ReportMetric(0, "ns/op")
	mustExec(b, "DROP DATABASE "+sysbenchSchema)
}

func newSide(b *testing.B, text string, cpu time.Duration) side {
	final := output.Parse(text).Final
	if final == nil || final.Events == 0 {
		b.Errorf("no report: %s", text)
		return side{}
	}
	return side{float64(final.Events) / *final.Seconds, float64(cpu.Microseconds()) / float64(final.Events)}
}

func byHand(b *testing.B, c workload.Command) side {
	var out strings.Builder
	cmd := osexec.CommandContext(b.Context(), c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Stdout = c.Env, &out
	if err := cmd.Run(); err != nil {
		b.Error(err)
		return side{}
	}
	return newSide(b, out.String(), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}
