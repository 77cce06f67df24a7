//go:build integration && sysbench

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

// counted is by how much a counter of the server has grown around what was measured.
func counted(t *testing.T, doc *result.Document, name string) int64 {
	t.Helper()
	before, errBefore := strconv.ParseInt(doc.Server.StatusBefore[name], 10, 64)
	after, errAfter := strconv.ParseInt(doc.Server.StatusAfter[name], 10, 64)
	if errBefore != nil || errAfter != nil {
		t.Fatal(name, errBefore, errAfter)
	}
	return after - before
}

// sentBy are the statements of a load of so many events on two tables.
func sentBy(t *testing.T, script string, events int64) []string {
	t.Helper()
	db := generalLog(t)
	mustExec(t, "TRUNCATE TABLE mysql.general_log")
	newKeptTrial(t, sysbench.Parameters{
		Script: script, Events: events, Tables: ptr.To[int32](2), TableSize: ptr.To(microbenchmarkRows),
	}).mustRun(t)
	all := loggedLoad(t, db)
	if int64(len(all)) != events {
		t.Fatalf("%s: %d statements in %d events", script, len(all), events)
	}
	return all
}

// Hot points are the first hundred rows of either table; one row is the first of the first table.
func TestSysbenchHotRows(t *testing.T) {
	keptData(t)
	var hundred []string
	for i := range 100 {
		hundred = append(hundred, strconv.Itoa(i+1))
	}
	hot := map[string]bool{}
	for _, text := range sentBy(t, "hot-points", 20) {
		hot[text] = true
		if !strings.HasSuffix(text, " WHERE id IN ("+strings.Join(hundred, ", ")+")") {
			t.Errorf("%.300s", text)
		}
	}
	if len(hot) != 2 {
		t.Errorf("%d statements", len(hot))
	}
	for _, text := range sentBy(t, "update-one", 20) {
		if !strings.HasPrefix(text, "UPDATE sbtest1 ") || !strings.HasSuffix(text, " WHERE id=1") {
			t.Errorf("%.300s", text)
		}
	}
}

// Of 300 rows that are drawn of 40,000, one is drawn twice if all are as likely. By Zipf's distribution with the exponent 0.8, one
// in 32 is the first row of 20,000, nine or ten of 300.
func TestSysbenchZipf(t *testing.T) {
	keptData(t)
	row := regexp.MustCompile(`^UPDATE (sbtest\d).* WHERE id(?:=| IN \()(\d+)\)?$`)
	drawn := func(script string) (distinct, first int) {
		rows := map[string]bool{}
		for _, text := range sentBy(t, script, 300) {
			match := row.FindStringSubmatch(text)
			if match == nil {
				t.Fatalf("%.300s", text)
			}
			rows[match[1]+" "+match[2]] = true
			if match[2] == "1" {
				first++
			}
		}
		return len(rows), first
	}
	if distinct, first := drawn("update-nonindex"); distinct < 290 || first > 3 {
		t.Errorf("%d rows, %d times the first", distinct, first)
	}
	if distinct, first := drawn("update-zipf"); distinct > 280 || first < 2 || first > 22 {
		t.Errorf("%d rows by Zipf's distribution, %d times the first", distinct, first)
	}
}

// Statements are prepared unless the option says that they are not, those of Benchrun's scripts as those of sysbench's.
func TestSysbenchPreparedStatements(t *testing.T) {
	keptData(t)
	const events = 100
	for _, script := range []string{"random-points-10", "update-inlist", "oltp_point_select"} {
		for mode, prepared := range map[string]bool{"": true, "auto": true, "disable": false} {
			p := sysbench.Parameters{Script: script, Events: events}
			if mode != "" {
				p.Options = map[string]string{"db-ps-mode": mode}
			}
			_, doc := newKeptTrial(t, p).mustRun(t)
			// The loader executes a few itself.
			if n := counted(t, doc, "Com_stmt_execute"); (n >= events) != prepared || n > events+20 || doc.Totals.Statements != events {
				t.Errorf("%s, %q: %d statements were executed as prepared ones, totals %+v", script, mode, n, doc.Totals)
			}
		}
	}
}

// One thread does some twenty transactions a second of the hundred that are due. That is said beside the number, and shows in
// the latencies, which count from when each transaction was due and not from when its turn came, 50 ms before its end.
func TestSysbenchRateNotReached(t *testing.T) {
	tr := newSysbenchTrial(t, sysbench.Parameters{RatePerSecond: 100, Seconds: 3})
	tr.ownScript(t, `
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT SLEEP(0.05)") end
`)
	_, doc := tr.mustRun(t)
	if all := strings.Join(finding.Texts(doc.Findings), "\n"); !strings.Contains(all, "the rate of 100 transactions/s was not reached") ||
		!strings.Contains(all, "were still queued at the end") {
		t.Errorf("warnings %q", doc.Findings)
	}
	if l := doc.Latencies[0]; l.P50Micros < 500_000 {
		t.Errorf("half of the transactions took no more than %d µs from when they were due", l.P50Micros)
	}
}

// Two Pods with a warm-up each: what both did is in the tables, in the histogram and in the numbers.
func TestSysbenchPods(t *testing.T) {
	for name, p := range map[string]sysbench.Parameters{
		"oltp_insert": {Script: "oltp_insert", Clients: 3, Tables: ptr.To[int32](2), TableSize: ptr.To[int64](500), Seconds: 2, WarmupSeconds: 1},
		"events":      {Script: "oltp_read_write", Clients: 2, TableSize: ptr.To[int64](500), Events: 301},
		"tpcc":        {Script: "tpcc", Clients: 2, Scale: ptr.To[int32](1), Seconds: 2, WarmupSeconds: 1},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newSysbenchTrial(t, p)
			doc := tr.mustLoad(t, 2)
			toolPodsAddUp(t, doc)
			if p.Events > 0 && (doc.Totals.Transactions != p.Events || doc.Totals.StoppedBy != result.StoppedByRows) {
				t.Errorf("totals %+v, want %d events", doc.Totals, p.Events)
			}
			if p.Seconds > 0 && (doc.Totals.Micros < int64(p.Seconds)*1_000_000 || doc.Totals.Micros > int64(p.Seconds)*1_000_000+3_000_000) {
				t.Errorf("%d µs for %d s", doc.Totals.Micros, p.Seconds)
			}
			seeds := map[string]bool{}
			for _, c := range doc.Tool.Commands {
				i := slices.IndexFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--rand-seed=") })
				if strings.HasPrefix(c.Phase, "measure") {
					seeds[c.Args[i]] = true
				}
			}
			if len(seeds) != 2 || !strings.Contains(doc.ToolOutput["measure of Pod 1"], "Threads fairness:") {
				t.Errorf("seeds %v, outputs of %v", seeds, len(doc.ToolOutput))
			}
			if name == "tpcc" {
				sameConstants(t, doc)
			}
		})
	}
}

var tpccConstants = regexp.MustCompile(`(?m)^constants: c_last=(\d+) (c_id=\d+ i_id=\d+)$`)

// sameConstants checks that the hot rows of tpcc are the same ones in whatever was executed, and that last names are asked for by
// another constant than they were loaded by.
func sameConstants(t *testing.T, doc *result.Document) {
	t.Helper()
	seen := map[string]int{}
	for _, phase := range []string{"warmup", "measure", "warmup of Pod 1", "measure of Pod 1"} {
		for _, m := range tpccConstants.FindAllString(doc.ToolOutput[phase], -1) {
			seen[m]++
		}
	}
	running := tpccConstants.FindStringSubmatch(doc.ToolOutput["measure"])
	loading := tpccConstants.FindStringSubmatch(doc.ToolOutput["prepare"])
	if len(seen) != 1 || loading == nil || running == nil || seen[running[0]] != 4 || loading[2] != running[2] || loading[1] == running[1] {
		t.Errorf("constants in runs %v, when loading %q", seen, loading)
	}
}

// toolPodsAddUp checks that the parts of two Pods are the whole.
func toolPodsAddUp(t *testing.T, doc *result.Document) {
	t.Helper()
	var parts, series int64
	for _, p := range doc.Pods {
		parts += p.Transactions
		if p.Transactions < 1 || p.Clients < 1 || p.Client.UserMicros < 1 {
			t.Errorf("Pod %d is %+v", p.Pod, p)
		}
	}
	for _, i := range doc.Series {
		series += i.Transactions
	}
	n := doc.Totals.Transactions
	if len(doc.Pods) != 2 || parts != n || series != n || doc.Latencies[0].Count != n {
		t.Errorf("%d transactions, %d in the parts, %d in the series, %d latencies", n, parts, series, doc.Latencies[0].Count)
	}
	if rate := doc.Metrics[0].Value * float64(doc.Totals.Micros) / 1e6; fmt.Sprintf("%.0f", rate) != fmt.Sprint(n) {
		t.Errorf("the headline stands for %g transactions, there were %d", rate, n)
	}
}

// newKeptTrial is a short trial of a run that keeps its data.
func newKeptTrial(t testing.TB, p sysbench.Parameters) *trial {
	t.Helper()
	if p.TableSize == nil {
		p.TableSize = ptr.To[int64](700)
	}
	tr := newSysbenchTrial(t, p)
	tr.cfg.KeepData = true
	return tr
}

// keptData makes the trials that follow begin without a schema, and removes it at the end.
func keptData(t *testing.T) {
	t.Helper()
	mustExec(t, "DROP DATABASE IF EXISTS "+sysbenchSchema)
	t.Cleanup(func() { mustExec(t, "DROP DATABASE IF EXISTS "+sysbenchSchema) })
}

// verbs are the commands that were executed, and where the data of the trial come from.
func verbs(doc *result.Document) []string {
	all := []string{string(doc.Tool.Data)}
	for _, c := range doc.Tool.Commands {
		all = append(all, c.Args[len(c.Args)-1])
	}
	return all
}

func TestSysbenchKeepsData(t *testing.T) {
	keptData(t)
	prepared, kept := []string{"Prepared", "cleanup", "prepare", "run"}, []string{"Kept", "run"}
	for i, step := range []struct {
		p    sysbench.Parameters
		want []string
	}{
		{sysbench.Parameters{Script: "oltp_read_only"}, prepared},
		{sysbench.Parameters{Script: "oltp_read_only", Options: map[string]string{"db-ps-mode": "disable"}}, kept},
		{sysbench.Parameters{Script: "scan"}, kept},
		{sysbench.Parameters{Script: "update-index"}, kept}, // and has spent them
		{sysbench.Parameters{Script: "points-covered-si"}, prepared},
		{sysbench.Parameters{Script: "insert"}, kept},
		{sysbench.Parameters{Script: "delete"}, prepared},
		{sysbench.Parameters{Script: "delete"}, prepared},
		{sysbench.Parameters{Script: "point-query"}, prepared},
		{sysbench.Parameters{Script: "scan"}, kept},
		{sysbench.Parameters{Script: "scan", TableSize: ptr.To[int64](800)}, prepared},
	} {
		step.p.Events = 20
		_, doc := newKeptTrial(t, step.p).mustRun(t)
		must.Same(t, fmt.Sprintf("trial %d, %s", i+1, step.p.Script), step.want, verbs(doc))
		if !slices.ContainsFunc(doc.Checks, func(c result.Check) bool { return c.Name == "rows" && c.Passed }) {
			t.Errorf("trial %d, %s: checks %+v", i+1, step.p.Script, doc.Checks)
		}
	}
}

// What an interrupted load has written to is not taken for what was prepared.
func TestSysbenchKeepsNothingThatWasWrittenTo(t *testing.T) {
	keptData(t)
	read := sysbench.Parameters{Script: "point-query", Events: 20}
	newKeptTrial(t, read).mustRun(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	writes := newKeptTrial(t, sysbench.Parameters{Script: "update-index", Seconds: 60})
	whileSysbench(t, func(*sql.DB) { cancel(errors.New("SIGTERM")) })
	writes.mustFail(ctx, t, result.CauseInterrupted, "SIGTERM")
	_, doc := newKeptTrial(t, read).mustRun(t)
	must.Same(t, "", []string{"Prepared", "cleanup", "prepare", "run"}, verbs(doc))
}
