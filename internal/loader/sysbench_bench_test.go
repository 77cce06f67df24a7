// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"io"
	osexec "os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
)

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
	l := must.Get(newToolLoad(&attempt{cfg: tr.config(), progress: out}))(b)
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
