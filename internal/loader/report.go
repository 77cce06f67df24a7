// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// totals of the measured phase.
func (a *attempt) totals() result.Totals {
	t := a.measured.totals
	t.Micros = max(a.measured.ended.Microseconds(), 1)
	t.StoppedBy = a.stopped
	if a.plan.Rows > 0 && t.Rows == a.plan.Rows {
		// One client's time was over when another one took the last rows.
		t.StoppedBy = result.StoppedByRows
	}
	return t
}

// document puts together what is known. Its identity is filled in when it is published.
func (a *attempt) document() (*result.Document, error) {
	if a.tool != nil {
		return a.toolDocument(), nil
	}
	latencies, err := a.measured.latencies()
	if err != nil {
		return nil, fmt.Errorf("encoding the latencies: %w", err)
	}
	totals := a.totals()
	doc := &result.Document{
		Version: result.DocumentVersion, Config: *a.cfg,
		Phases: a.phases, Totals: totals,
		Latencies:  latencies,
		Series:     a.measured.series.cut(a.measured.ended),
		Milestones: a.milestones.results(),
		Server:     a.server, Client: a.client, Pods: a.pods, Checks: a.checks,
	}
	doc.Metrics = slices.Concat(a.terminal(totals), metrics(a.engine, totals, a.server, a.client), a.afterwards())
	if a.milestones != nil {
		// The terminal rate is the headline, but what people know of other programs is this.
		overall := slices.IndexFunc(doc.Metrics, func(m result.Metric) bool { return m.Name == metricRate })
		doc.Metrics[overall].Shown = true
	}
	if w, ok := a.workload.(workload.Reporter); ok {
		w.Report(doc)
	}
	doc.Warnings = slices.Concat(a.warnings, doc.Warnings, warnings(doc, a.plan.Clients, a.plan.Rows))
	return doc, nil
}

const (
	// metricRate is that of the whole measured phase.
	metricRate = "rowsPerSecond"
	// metricEstimate is how long a load would have taken that its limit ended.
	metricEstimate = "estimatedSeconds"
)

// terminal is the rate with which a load with milestones ended, its headline, and how long the whole would have taken if
// the time limit ended it.
func (a *attempt) terminal(t result.Totals) []result.Metric {
	if a.milestones == nil {
		return nil
	}
	rate := a.milestones.terminalRate()
	all := []result.Metric{{Name: "terminalRowsPerSecond", Value: rate, Unit: "rows/s", Better: "higher"}}
	if left := a.plan.Rows - t.Rows; left > 0 && rate > 0 {
		all = append(all, result.Metric{
			Name: metricEstimate, Value: float64(t.Micros)/1e6 + float64(left)/rate, Unit: "s", Better: "lower", Shown: true,
		})
	}
	return all
}

// afterwards are the times of the phases between the measured one and the verification.
func (a *attempt) afterwards() []result.Metric {
	var all []result.Metric
	for _, p := range a.phases {
		if slices.ContainsFunc(a.plan.After, func(after workload.Phase) bool { return after.Name == p.Name }) {
			all = append(all, result.Metric{Name: p.Name + "Seconds", Value: float64(p.Micros) / 1e6, Unit: "s", Better: "lower"})
		}
	}
	return all
}

// metrics are the numbers that people compare. The first one is the headline. What cannot be known is left out.
func metrics(e *engine.Engine, t result.Totals, server result.ServerFacts, client result.ClientFacts) []result.Metric {
	seconds := time.Duration(t.Micros * int64(time.Microsecond)).Seconds()
	all := []result.Metric{
		{Name: metricRate, Value: float64(t.Rows) / seconds, Unit: "rows/s", Better: "higher"},
		{Name: "commitsPerSecond", Value: float64(t.Transactions) / seconds, Unit: "commits/s", Better: "higher"},
	}
	if name, fsyncs := redoFsyncs(e, server.StatusBefore, server.StatusAfter); fsyncs > 0 && t.Transactions > 0 {
		all = append(all, result.Metric{
			Name: name, Value: float64(fsyncs) / float64(t.Transactions), Unit: "fsyncs/transaction", Better: "lower",
		})
	}
	if t.RowsDeleted > 0 {
		all = append(all, result.Metric{
			Name: "rowsDeletedPerSecond", Value: float64(t.RowsDeleted) / seconds, Unit: "rows/s", Better: "higher",
		})
	}
	if t.Queries > 0 {
		all = append(all, result.Metric{
			Name: "queriesPerSecond", Value: float64(t.Queries) / seconds, Unit: "queries/s", Better: "higher",
		})
	}
	if t.Rows > 0 {
		all = append(all, result.Metric{
			Name: "clientMicrosPerRow", Value: float64(client.UserMicros+client.SystemMicros) / float64(t.Rows),
			Unit: "µs/row", Better: "lower",
		})
	}
	return all
}

// redoFsyncs is how often the server flushed its redo log, by the first of the engine's counters that the server has; 0 if it
// has none.
func redoFsyncs(e *engine.Engine, before, after map[string]string) (metric string, fsyncs int64) {
	for _, f := range e.Counters.Fsyncs {
		if n, known := counter(before, after, f.Counter); known {
			return f.Metric, n
		}
	}
	return "", 0
}

const (
	// clientShare is the part of its CPU from which on a client may be what was measured.
	clientShare = 0.8
	// throttledShare is the part of the measured phase from which on being held back is said.
	throttledShare = 0.01
	// shortMicros is the length of a measured phase below which chance rules.
	shortMicros = 1_000_000
)

// unfinished says what of the planned rows was inserted, and how long all would take, as far as that is known.
func unfinished(doc *result.Document, rows int64) string {
	if rows == 0 {
		return ""
	}
	text := fmt.Sprintf(", after %d of %d rows", doc.Totals.Rows, rows)
	i := slices.IndexFunc(doc.Metrics, func(m result.Metric) bool { return m.Name == metricEstimate })
	if i < 0 {
		return text
	}
	return text + fmt.Sprintf("; at the terminal rate all would take %.0f s", doc.Metrics[i].Value)
}

// warnings are what a reader must know beside the numbers. rows is how many were planned, 0 if nobody knows.
func warnings(doc *result.Document, clients int, rows int64) []string {
	var all []string
	t := doc.Totals
	if t.StoppedBy == result.StoppedBySeconds && doc.Config.LimitSeconds > 0 {
		all = append(all, fmt.Sprintf("stopped by the limit of %d s%s", doc.Config.LimitSeconds, unfinished(doc, rows)))
	}
	if t.Micros < shortMicros {
		more := "ask for more rows"
		if doc.Tool != nil {
			more = "let the program do more"
		}
		all = append(all, "the measured phase took less than a second: "+more)
	}
	if len(doc.Pods) == 0 {
		all = append(all, clientWarnings("the client", doc.Client, clients, t.Micros)...)
	}
	for _, p := range doc.Pods {
		all = append(all, clientWarnings(fmt.Sprintf("the client of Pod %d", p.Pod), p.Client, p.Clients, p.Micros)...)
	}
	v := doc.Server.Variables
	if mode, known := v["innodb_flush_log_at_trx_commit"]; known && mode != "1" {
		all = append(all, "commits are not durable: innodb_flush_log_at_trx_commit is "+mode)
	}
	if v["log_bin"] == "ON" && v["sync_binlog"] != "1" {
		all = append(all, "the binary log is not durable: sync_binlog is "+v["sync_binlog"])
	}
	return append(all, adjustmentWarnings(doc.Server.Settings)...)
}

// clientWarnings are about a client that may have measured itself.
func clientWarnings(who string, c result.ClientFacts, clients int, micros int64) []string {
	var all []string
	available, whose := availableCPU(c, clients)
	if share := float64(c.UserMicros+c.SystemMicros) / (float64(micros) * available); share > clientShare {
		all = append(all, fmt.Sprintf("%s used %.0f %% of %s: it may be what was measured", who, 100*share, whose))
	}
	if c.ThrottledMicros > 0 && float64(c.ThrottledMicros) > throttledShare*float64(micros) {
		all = append(all, fmt.Sprintf("%s was held back at its CPU limit for %.1f %% of the time",
			who, 100*float64(c.ThrottledMicros)/float64(micros)))
	}
	return all
}

// availableCPU is how many CPUs the clients could use: each one at most, within the container's limit.
func availableCPU(c result.ClientFacts, clients int) (cpus float64, whose string) {
	cpus, whose = float64(clients), strconv.Itoa(clients)+" CPUs, one for each connection"
	if clients == 1 {
		whose = "one CPU, and one connection cannot use more"
	}
	if c.CPUs > 0 && float64(c.CPUs) < cpus {
		cpus, whose = float64(c.CPUs), fmt.Sprintf("the node's %d CPUs", c.CPUs)
	}
	if limit := float64(c.CPULimitMillis) / 1000; limit > 0 && limit < cpus {
		cpus, whose = limit, fmt.Sprintf("its limit of %d thousandths of a CPU", c.CPULimitMillis)
	}
	return cpus, whose
}

// failedChecks is the error that names each check that does not hold; nil if all do.
func failedChecks(checks []result.Check) error {
	var not []string
	for _, c := range checks {
		if !c.Passed {
			not = append(not, c.Name+": "+c.Detail)
		}
	}
	if len(not) == 0 {
		return nil
	}
	return failedf(result.FailureCheck, "a check does not hold: %s", strings.Join(not, "; "))
}
