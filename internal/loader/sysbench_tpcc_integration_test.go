//go:build integration && sysbench

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/datacopy"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/loader/process"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
)

func TestSysbenchTPCC(t *testing.T) {
	for _, compat := range []string{"None", "SysbenchTPCC"} {
		t.Run(compat, func(t *testing.T) { tpccAddsUp(t, compat) })
	}
}

func tpccAddsUp(t *testing.T, compat string) {
	t.Helper()
	tr := newSysbenchTrial(t, sysbench.Parameters{
		Script: "tpcc", AsPublished: compat, Clients: 2, Scale: ptr.To[int32](2), Seconds: 3, WarmupSeconds: 1,
		Options: map[string]string{"enable_purge": "yes"},
	})
	_, doc := tr.mustRun(t)
	checks := map[string]bool{}
	for _, c := range doc.Checks {
		checks[c.Name] = c.Passed
	}
	for _, when := range []string{"before", "after"} {
		for _, n := range []string{"0", "1", "2", "3", "4", "5", "8", "9"} {
			if name := when + ": Check " + n + ", table set 1"; !checks[name] {
				t.Errorf("%s is missing in %v", name, checks)
			}
		}
	}
	var nopm float64
	for _, m := range doc.Metrics {
		if m.Name == "newOrdersPerMinute" {
			nopm = m.Value
		}
	}
	// 10 of 24 transactions, a hundredth of them rolled back.
	if share := nopm / 60 / doc.Metrics[0].Value; share < 0.3 || share > 0.55 {
		t.Errorf("%g NOPM at %g transactions/s", nopm, doc.Metrics[0].Value)
	}
	if !checks["mix"] {
		t.Errorf("checks %v", checks)
	}
}

// TestSysbenchTPCCData compares the rows of a seed with those that it has always had, and lets the check find what is wrong.
func TestSysbenchTPCCData(t *testing.T) {
	tr := newSysbenchTrial(t, sysbench.Parameters{
		Script: "tpcc", Clients: 3, Scale: ptr.To[int32](2),
	})
	mustExec(t, "DROP DATABASE IF EXISTS "+sysbenchSchema, "CREATE DATABASE "+sysbenchSchema)
	l := must.Get(newToolLoad(&attempt{cfg: tr.config(), engine: testedEngine(t)}))(t)
	t.Cleanup(func() { l.close() })
	run := func(phase workload.ToolPhase) []result.Check {
		var all []result.Check
		for _, command := range l.tool.Commands(phase) {
			e := must.Get(process.Execute(t.Context(), command, nil))(t)
			checks := must.Get(l.tool.Judge(phase, &e.Execution))(t)
			all = append(all, checks...)
		}
		return all
	}
	run(workload.PhasePrepare)
	for table, want := range map[string]struct {
		columns string
		rows    int64
		sum     uint64
	}{
		"item1":       {"i_id,i_im_id,i_name,i_price,i_data", 100000, goldenItems},
		"stock1":      {"s_w_id,s_i_id,s_quantity,s_dist_01,s_data", 200000, goldenStock},
		"customer1":   {"c_w_id,c_d_id,c_id,c_last,c_credit,c_discount,c_data", 60000, goldenCustomers},
		"order_line1": {"ol_w_id,ol_d_id,ol_o_id,ol_number,ol_i_id,ol_amount,ol_dist_info", goldenLineRows, goldenLines},
	} {
		var rows int64
		var sum uint64
		query := fmt.Sprintf("SELECT COUNT(*), SUM(CRC32(CONCAT_WS(':', %s))) FROM %s.%s", want.columns, sysbenchSchema, table)
		must.Do(t, other(t).QueryRow(query).Scan(&rows, &sum))
		if rows != want.rows || sum != want.sum {
			t.Errorf("%s has %d rows, sum %d; want %d, %d", table, rows, sum, want.rows, want.sum)
		}
	}
	mustExec(t, "DELETE FROM "+sysbenchSchema+".order_line1 WHERE ol_w_id = 2 AND ol_d_id = 3 AND ol_o_id = 7 AND ol_number = 1",
		"UPDATE "+sysbenchSchema+".warehouse1 SET w_ytd = w_ytd + 1 WHERE w_id = 1")
	var failed []string
	for _, c := range run(workload.PhaseVerify) {
		if !c.Passed {
			failed = append(failed, c.Name+c.Detail[strings.LastIndex(c.Detail, ";"):])
		}
	}
	want := []string{
		"after: Check 1, table set 1; 1 violations, the first: 1", "after: Check 4, table set 1; 1 violations, the first: 2/3",
		"after: Check 8, table set 1; 1 violations, the first: 1",
	}
	must.Same(t, "failed checks", want, failed)
	run(workload.PhaseCleanup)
	var left int
	query := "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?"
	if err := other(t).QueryRow(query, sysbenchSchema).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d tables are left, %v", left, err)
	}
}

// What seed 42 gives.
const (
	goldenItems     = 215179898706492
	goldenStock     = 430058445621173
	goldenCustomers = 128071092956206
	goldenLines     = 1289812243412982
	goldenLineRows  = 600666
)

// publishedStatement is one of the published script, as a digest, and how many there are for each thing of a kind.
type publishedStatement struct {
	per             string
	mean, deviation float64
	// counted of the published script.
	counted int64
	digest  string
}

// published are the statements of the published script.
func published(t *testing.T) []publishedStatement {
	t.Helper()
	text := must.Get(os.ReadFile("testdata/sysbench-tpcc.tsv"))(t)
	var all []publishedStatement
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 5)
		mean, errMean := strconv.ParseFloat(f[1], 64)
		deviation, errDeviation := strconv.ParseFloat(f[2], 64)
		counted, errCounted := strconv.ParseInt(f[3], 10, 64)
		if errMean != nil || errDeviation != nil || errCounted != nil {
			t.Fatalf("line %q", line)
		}
		all = append(all, publishedStatement{f[0], mean, deviation, counted, f[4]})
	}
	return all
}

// of says whether so many were sent when there were n of what the statement comes with: within five standard deviations.
func (s *publishedStatement) of(n, sent int64) bool {
	return math.Abs(float64(sent)-s.mean*float64(n)) <= 5*s.deviation*math.Sqrt(float64(n))
}

// kindsOf are what the statements of a number of transactions come with, by the script's own count.
func kindsOf(transactions int64, mix map[string]int64) map[string]int64 {
	kinds := maps.Clone(mix)
	kinds["connection"], kinds["transaction"] = 1, transactions
	kinds["rolled_back"] = mix["new_order_rolled_back"]
	kinds["committed"] = transactions - kinds["rolled_back"]
	kinds["new_order"] += kinds["rolled_back"]
	kinds["customer"] = mix["payment"] + mix["order_status"]
	return kinds
}

var oneDistrict = regexp.MustCompile(`s_dist_\d\d`)

// digests are what sysbench sent since they were truncated, in the form of the published statements.
func digests(t *testing.T) map[string]int64 {
	t.Helper()
	rows, err := other(t).Query(
		"SELECT DIGEST_TEXT, COUNT_STAR FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = ?", sysbenchSchema)
	must.Do(t, err)
	defer rows.Close()
	sent := map[string]int64{}
	for rows.Next() {
		var text string
		var n int64
		must.Do(t, rows.Scan(&text, &n))
		text = strings.TrimSpace(strings.ReplaceAll(text, "`", ""))
		sent[oneDistrict.ReplaceAllString(text, "s_dist_?")] += n
	}
	must.Do(t, rows.Err())
	return sent
}

// TestSysbenchMariaDBTPCCCompat compares what the server has counted with what it counted of the published script, and both with
// how many statements of each kind there should be.
func TestSysbenchMariaDBTPCCCompat(t *testing.T) {
	const transactions = 5000
	want := published(t)
	isolation := slices.IndexFunc(want, func(s publishedStatement) bool { return strings.HasPrefix(s.digest, "SET SESSION") })
	variables := globals(t)
	if variables["performance_schema"] != "ON" {
		t.Fatal("the server needs --performance-schema=ON: see hack/test.sh")
	}
	if _, known := variables["transaction_isolation"]; !known {
		want[isolation].digest = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"
	}

	tr := newSysbenchTrial(t, sysbench.Parameters{
		Script: "tpcc", AsPublished: "SysbenchTPCC", Scale: ptr.To[int32](1), Events: transactions,
	})
	mustExec(t, "DROP DATABASE IF EXISTS "+sysbenchSchema, "CREATE DATABASE "+sysbenchSchema)
	l := must.Get(newToolLoad(&attempt{cfg: tr.config(), engine: testedEngine(t)}))(t)
	t.Cleanup(func() {
		l.close()
		mustExec(t, "DROP DATABASE "+sysbenchSchema)
	})
	var report *output.Report
	for _, phase := range []workload.ToolPhase{workload.PhasePrepare, workload.PhaseMeasure} {
		mustExec(t, "TRUNCATE performance_schema.events_statements_summary_by_digest")
		for _, command := range l.tool.Commands(phase) {
			e := must.Get(process.Execute(t.Context(), command, nil))(t)
			must.Get(l.tool.Judge(phase, &e.Execution))(t)
			report = output.Parse(e.Output)
		}
	}
	sent := digests(t)

	counted := map[string]int64{
		"new_order": 2155, "new_order_rolled_back": 23, "payment": 2183, "order_status": 231, "delivery": 210, "stock_level": 198,
	}
	if errors := report.Final.SQL.IgnoredErrors; errors != report.Counts["new_order_rolled_back"] {
		t.Errorf("%d ignored errors, mix %v", errors, report.Counts)
	}
	for name, mix := range map[string]map[string]int64{"of the published script": counted, "sent": report.Counts} {
		kinds := kindsOf(transactions, mix)
		for kind, share := range map[string]float64{
			"new_order": 10. / 23, "rolled_back": .1 / 23, "payment": 10. / 23, "order_status": 1. / 23, "delivery": 1. / 23, "stock_level": 1. / 23,
		} {
			s := publishedStatement{mean: share, deviation: math.Sqrt(share * (1 - share))}
			if !s.of(transactions, kinds[kind]) {
				t.Errorf("%s: %d of %s in %d transactions, want %.0f", name, kinds[kind], kind, transactions, share*transactions)
			}
		}
		for _, s := range want {
			n := s.counted
			if name == "sent" {
				n = sent[s.digest]
				delete(sent, s.digest)
			}
			if !s.of(kinds[s.per], n) {
				t.Errorf("%s: %d for %d of %s, want %g each: %s", name, n, kinds[s.per], s.per, s.mean, s.digest)
			}
		}
	}
	for digest, n := range sent {
		t.Errorf("%d times, and not by the published script: %s", n, digest)
	}
}

// newCopiedTrial is a short trial of a run that has a copy of its data put aside, by an observer of a process that stands for the
// server's, which may run in another machine.
func newCopiedTrial(t *testing.T, script string, copyTo string) *trial {
	t.Helper()
	name, data := filepath.Join(t.TempDir(), "standin"), t.TempDir()
	must.Do(t, os.Symlink("/bin/sleep", name))
	must.Write(t, filepath.Join(data, "ibdata1"), "data")
	standin := exec.CommandContext(t.Context(), name, "600")
	must.Do(t, standin.Start())
	t.Cleanup(func() { _ = standin.Process.Kill(); _ = standin.Wait() })
	tr := newKeptTrial(t, sysbench.Parameters{Script: script, Events: 20})
	tr.cfg.CopyData, tr.cfg.Server.ObserverPort = true, freePort(t)
	o := &observer.Observer{
		Port: tr.cfg.Server.ObserverPort, Processes: []string{"standin"}, Data: data, Copy: copyTo,
		PasswordFile: tr.cfg.Server.PasswordFile, Proc: "/proc",
	}
	go o.Run(t.Context())
	return tr
}

// A copy is made of what was prepared, and not of what a trial has written; data that are there already are what the copy has.
func TestSysbenchCopiesData(t *testing.T) {
	keptData(t)
	for _, step := range []struct {
		script string
		want   []string
		copied bool
	}{
		{"update-index", []string{"Prepared", "cleanup", "prepare", "run"}, true}, // and has spent them
		{"scan", []string{"Prepared", "cleanup", "prepare", "run"}, true},
		{"scan", []string{"Kept", "run"}, false},
	} {
		at := t.TempDir()
		_, doc := newCopiedTrial(t, step.script, at).mustRun(t)
		must.Same(t, step.script, step.want, verbs(doc))
		if got := datacopy.Whole(at); got != step.copied {
			t.Errorf("%s, %s: copied is %t", step.script, step.want[0], got)
		}
	}
}

// Without a copy the number is what it is, and a finding says what the next server lacks.
func TestSysbenchWithoutACopy(t *testing.T) {
	keptData(t)
	_, doc := newCopiedTrial(t, "scan", filepath.Join(t.TempDir(), "missing", "folder")).mustRun(t)
	if !slices.ContainsFunc(doc.Findings, func(f finding.Finding) bool { return f.Code == finding.DataNotCopied }) {
		t.Errorf("findings %+v", doc.Findings)
	}
}
