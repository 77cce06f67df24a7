// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/loader/process"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
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
	text, err := os.ReadFile("testdata/sysbench-tpcc.tsv")
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	sent := map[string]int64{}
	for rows.Next() {
		var text string
		var n int64
		if err := rows.Scan(&text, &n); err != nil {
			t.Fatal(err)
		}
		text = strings.TrimSpace(strings.ReplaceAll(text, "`", ""))
		sent[oneDistrict.ReplaceAllString(text, "s_dist_?")] += n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
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
		Script: "tpcc", Compat: "SysbenchTPCC", Scale: ptr.To[int32](1), Events: transactions,
	})
	mustExec(t, "DROP DATABASE IF EXISTS "+sysbenchSchema, "CREATE DATABASE "+sysbenchSchema)
	l, err := newToolLoad(&attempt{cfg: tr.config()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.close()
		mustExec(t, "DROP DATABASE "+sysbenchSchema)
	})
	var report *output.Report
	for _, phase := range []workload.ToolPhase{workload.PhasePrepare, workload.PhaseMeasure} {
		mustExec(t, "TRUNCATE performance_schema.events_statements_summary_by_digest")
		for _, command := range l.tool.Commands(phase) {
			e, err := process.Execute(t.Context(), command, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.tool.Judge(phase, &e.Execution); err != nil {
				t.Fatal(err)
			}
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
