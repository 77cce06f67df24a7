// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/loader/process"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

func TestSysbenchTPCC(t *testing.T) {
	for _, compat := range []string{"None", "SysbenchTPCC"} {
		t.Run(compat, func(t *testing.T) { tpccAddsUp(t, compat) })
	}
}

func tpccAddsUp(t *testing.T, compat string) {
	t.Helper()
	tr := newSysbenchTrial(t, sysbench.Parameters{
		Script: "tpcc", Compat: compat, Threads: 2, Scale: ptr.To[int32](2), Seconds: 3, WarmupSeconds: 1,
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
		Script: "tpcc", Threads: 3, Scale: ptr.To[int32](2),
	})
	mustExec(t, "DROP DATABASE IF EXISTS "+sysbenchSchema, "CREATE DATABASE "+sysbenchSchema)
	l, err := newToolLoad(&attempt{cfg: tr.config()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close() })
	run := func(phase workload.ToolPhase) []result.Check {
		var all []result.Check
		for _, command := range l.tool.Commands(phase) {
			e, err := process.Execute(t.Context(), command, nil)
			if err != nil {
				t.Fatal(err)
			}
			checks, err := l.tool.Judge(phase, &e.Execution)
			if err != nil {
				t.Fatal(err)
			}
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
		if err := other(t).QueryRow(query).Scan(&rows, &sum); err != nil {
			t.Fatal(err)
		}
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
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Errorf("failed checks (-want +got):\n%s", diff)
	}
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
