// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

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
	churned := []string{"Prepared", "cleanup", "prepare", "run", "run"}
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
		{sysbench.Parameters{Script: "point-query", Churn: 300}, churned},
		{sysbench.Parameters{Script: "scan", Churn: 300}, kept},
		{sysbench.Parameters{Script: "scan"}, prepared},
		{sysbench.Parameters{Script: "scan", TableSize: ptr.To[int64](800)}, prepared},
	} {
		step.p.Events = 20
		_, doc := newKeptTrial(t, step.p).mustRun(t)
		if diff := cmp.Diff(step.want, verbs(doc)); diff != "" {
			t.Errorf("trial %d, %s (-want +got):\n%s", i+1, step.p.Script, diff)
		}
		if !slices.ContainsFunc(doc.Checks, func(c result.Check) bool { return c.Name == "rows" && c.Passed }) {
			t.Errorf("trial %d, %s: checks %+v", i+1, step.p.Script, doc.Checks)
		}
	}
}

// Churn writes as many transactions as it says, and leaves as many rows. The rows are others then.
func TestSysbenchChurns(t *testing.T) {
	keptData(t)
	sums := map[int64]string{}
	for _, churn := range []int64{0, 300} {
		_, doc := newKeptTrial(t, sysbench.Parameters{Script: "scan", Churn: churn, Events: 5}).mustRun(t)
		var name string
		var sum sql.NullString
		if err := other(t).QueryRow("CHECKSUM TABLE "+sysbenchSchema+".sbtest1").Scan(&name, &sum); err != nil || !sum.Valid {
			t.Fatal(err, sum)
		}
		sums[churn] = sum.String
		if churn > 0 && !slices.Contains(doc.Tool.Commands[2].Args, "--events=300") {
			t.Errorf("commands %+v", doc.Tool.Commands)
		}
	}
	if sums[0] == sums[300] {
		t.Error("churn has changed no row")
	}
}

// Nobody takes what an interrupted load has written to for what was prepared.
func TestSysbenchKeepsNothingThatWasWrittenTo(t *testing.T) {
	keptData(t)
	read := sysbench.Parameters{Script: "point-query", Events: 20}
	newKeptTrial(t, read).mustRun(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	writes := newKeptTrial(t, sysbench.Parameters{Script: "update-index", Seconds: 60})
	whileSysbench(t, func(*sql.DB) { cancel(errors.New("SIGTERM")) })
	writes.mustFail(ctx, t, result.CauseInterrupted, "SIGTERM")
	_, doc := newKeptTrial(t, read).mustRun(t)
	if diff := cmp.Diff([]string{"Prepared", "cleanup", "prepare", "run"}, verbs(doc)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
