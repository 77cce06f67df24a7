// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"fmt"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

func (l *clientLoad) report(doc *result.Document) (clients int, err error) {
	if err := l.recorded(doc); err != nil {
		return 0, err
	}
	work := doc.Work()
	if l.plan.Kinds != nil {
		doc.Metrics = l.ofTransactions(doc)
		l.workload.(workload.Reporter).Report(doc) //nolint:forcetypeassert // a load of transactions is one
		return l.plan.Clients, nil
	}
	doc.Metrics = slices.Concat(l.terminal(work), metrics(l.engine, doc),
		serverCosts(doc.Observed, work.Rows, "row", "PerRow"), heldBack(doc.Observed, work),
		l.afterwards(doc.Totals.Micros), positive(shown(lower("sizeBytes", float64(l.bytes), "bytes"))))
	if l.milestones != nil {
		// The terminal rate is the headline, but what people know of other programs is this.
		overall := slices.IndexFunc(doc.Metrics, func(m result.Metric) bool { return m.Name == metricRate })
		doc.Metrics[overall].Shown = true
	}
	if w, ok := l.workload.(workload.Reporter); ok {
		w.Report(doc)
	}
	l.reportOffered(doc)
	doc.Findings = append(doc.Findings, stopped(doc, &l.plan)...)
	return l.plan.Clients, nil
}

// ofTransactions are the metrics of a load whose unit is a transaction: of all, and of each kind.
func (l *clientLoad) ofTransactions(doc *result.Document) []result.Metric {
	t, work := doc.Totals, doc.Work()
	const unit, suffix = "transaction", "PerTransaction"
	all := []result.Metric{
		higher("transactionsPerSecond", float64(t.Transactions)/seconds(t.Micros), "transactions/s"),
		higher("statementsPerSecond", float64(t.Statements)/seconds(t.Micros), "statements/s"), t.ErrorRate(),
	}
	for _, k := range l.measured.Kinds() {
		all = append(all,
			higher(k.Name+"PerSecond", float64(k.Transactions)/seconds(t.Micros), "transactions/s"),
			higher(k.Name+"RowsPerSecond", float64(k.Rows)/seconds(t.Micros), "rows/s"),
			lower(k.Name+"Retries", float64(k.Again), "retries"))
	}
	n := work.Transactions
	return slices.Concat(all, fsyncs(l.engine, doc.Server, n), clientCosts(doc.Client, n, unit, suffix),
		serverCosts(doc.Observed, n, unit, suffix), heldBack(doc.Observed, work))
}

func (l *clientLoad) recorded(doc *result.Document) (err error) {
	if doc.Latencies, err = l.measured.Latencies(); err != nil {
		return fmt.Errorf("encoding the latencies: %w", err)
	}
	doc.Totals, doc.Series, doc.Milestones = l.totals(), l.measured.Series(), l.milestones.Results()
	doc.Checks = l.checks
	if doc.Turns != nil {
		doc.Turns.Outside, doc.Turns.LongestDrainMicros = l.outside(), l.slices.LongestDrain.Microseconds()
	}
	return nil
}

// reportOffered adds what became of an offered rate, if there is one.
func (l *clientLoad) reportOffered(doc *result.Document) {
	if l.plan.Rate > 0 {
		o := offered{rate: l.plan.Rate, rows: l.plan.Rows, began: l.measured.Began()}
		doc.Metrics = append(doc.Metrics, o.metrics(doc)...)
		doc.Findings = append(doc.Findings, o.findings(doc)...)
	}
}

const (
	// metricRate is that of the whole measured phase.
	metricRate = "rowsPerSecond"
	// metricEstimate is how long a load would have taken that its limit ended.
	metricEstimate = "estimatedSeconds"
)

// terminal is the rate with which a load with milestones ended, its headline, and how long the whole would have taken if
// the time limit ended it.
func (l *clientLoad) terminal(t result.Totals) []result.Metric {
	if l.milestones == nil {
		return nil
	}
	rate := l.milestones.TerminalRate()
	all := []result.Metric{higher("terminalRowsPerSecond", rate, "rows/s")}
	if left := l.plan.Rows - t.Rows; left > 0 && rate > 0 {
		all = append(all, shown(lower(metricEstimate, float64(t.Micros)/1e6+float64(left)/rate, "s")))
	}
	return all
}

// afterwards are the times of the phases between the measured one and the verification, for example one in which indexes are
// built, and, with the measured one, of all.
func (l *clientLoad) afterwards(measured int64) []result.Metric {
	var all []result.Metric
	elapsed := measured
	for _, p := range l.phases {
		if slices.ContainsFunc(l.plan.After, func(after workload.Phase) bool { return after.Name == p.Name }) {
			all = append(all, lower(p.Name+"Seconds", float64(p.Micros)/1e6, "s"))
			elapsed += p.Micros
		}
	}
	if len(all) > 0 {
		all = append(all, shown(lower("elapsedSeconds", float64(elapsed)/1e6, "s")))
	}
	return all
}

// metrics are the numbers that people compare. The first one is the headline. What cannot be known is left out.
func metrics(e *engine.Engine, doc *result.Document) []result.Metric {
	t, work := doc.Totals, doc.Work()
	all := []result.Metric{
		higher(metricRate, float64(t.Rows)/seconds(t.Micros), "rows/s"),
		higher("commitsPerSecond", float64(t.Transactions)/seconds(t.Micros), "commits/s"),
	}
	all = append(all, fsyncs(e, doc.Server, work.Transactions)...)
	if t.Transactions > 0 {
		all = append(all, t.ErrorRate())
	}
	return slices.Concat(all, besides(t), clientCosts(doc.Client, work.Rows, "row", "PerRow"))
}

func higher(name string, value float64, unit string) result.Metric {
	return result.Metric{Name: name, Value: value, Unit: unit, Better: "higher"}
}

func lower(name string, value float64, unit string) result.Metric {
	return result.Metric{Name: name, Value: value, Unit: unit, Better: "lower"}
}

// shown is a metric that stands beside the headline.
func shown(m result.Metric) result.Metric {
	m.Shown = true
	return m
}

// positive is a metric that is left out unless it is above 0: it is not known, or there was nothing of it.
func positive(m result.Metric) []result.Metric {
	if m.Value > 0 {
		return []result.Metric{m}
	}
	return nil
}

// costs are what each of n units takes, by the sum of some amounts; none without a unit, or if an amount is below 0: not known.
func costs(name, unit string, n int64, amounts ...int64) []result.Metric {
	if n == 0 || slices.Min(amounts) < 0 {
		return nil
	}
	sum := int64(0)
	for _, amount := range amounts {
		sum += amount
	}
	return []result.Metric{lower(name, float64(sum)/float64(n), unit)}
}

func clientCosts(c result.ClientFacts, n int64, unit, suffix string) []result.Metric {
	return costs("clientMicros"+suffix, "µs/"+unit, n, c.UserMicros, c.SystemMicros)
}

// serverCosts are what a unit of work takes on the server: CPU time, bytes to disk and system calls, for so many rows or
// transactions. What is not known is left out.
func serverCosts(o *result.Observed, n int64, unit, suffix string) []result.Metric {
	used, known := o.Used()
	if !known {
		return nil
	}
	return slices.Concat(
		costs("serverMicros"+suffix, "µs/"+unit, n, used.UserMicros, used.SystemMicros),
		costs("serverBytesWritten"+suffix, "bytes/"+unit, n, used.WriteBytes),
		costs("serverFileCalls"+suffix, "calls/"+unit, n, used.ReadCalls, used.WriteCalls))
}

// deviceCosts are what an operation takes on the server's node besides serverCosts: bytes from disk, reads and writes of the
// device, and context switches. What is not known is left out.
func deviceCosts(o *result.Observed, n int64) []result.Metric {
	used, known := o.Used()
	if !known {
		return nil
	}
	return slices.Concat(
		costs("serverBytesReadPerOperation", "bytes/operation", n, used.ReadBytes),
		costs("deviceReadsPerOperation", "reads/operation", n, used.DeviceReads),
		costs("deviceWritesPerOperation", "writes/operation", n, used.DeviceWrites),
		costs("serverSwitchesPerOperation", "switches/operation", n, used.VoluntarySwitches, used.InvoluntarySwitches))
}

// fsyncs is how often the server flushed its redo log for a transaction; none if that cannot be known. Zero is an answer: a
// server that does not wait for the disk is faster because of it.
func fsyncs(e *engine.Engine, facts result.ServerFacts, transactions int64) []result.Metric {
	name, n := server.RedoFsyncs(e, facts.StatusBefore, facts.StatusAfter)
	if name == "" {
		return nil
	}
	return costs(name, "fsyncs/transaction", transactions, n)
}

// heldBack is for how much of the measured phase the server's CPU limit held it back, summed over its CPUs; none without a
// limit, or if that is unknown.
func heldBack(o *result.Observed, t result.Totals) []result.Metric {
	used, known := o.Used()
	if !known || used.CPULimitMillis <= 0 || used.ThrottledMicros < 0 || t.Micros == 0 {
		return nil
	}
	return []result.Metric{lower("serverThrottledPercent", 100*float64(used.ThrottledMicros)/float64(t.Micros), "%")}
}

// besides are the rates of what is done beside inserting.
func besides(t result.Totals) []result.Metric {
	return slices.Concat(
		positive(higher("rowsDeletedPerSecond", float64(t.RowsDeleted)/seconds(t.Micros), "rows/s")),
		positive(higher("queriesPerSecond", float64(t.Queries)/seconds(t.Micros), "queries/s")))
}

func seconds(micros int64) float64 { return time.Duration(micros * int64(time.Microsecond)).Seconds() }

const (
	// clientShare is the part of its CPU from which on a client may be what was measured.
	clientShare = 0.8
	// throttledShare is the part of the measured phase from which on being held back is said.
	throttledShare = 0.01
	// shortMicros is the length of a measured phase below which chance rules.
	shortMicros = 1_000_000
)

// stopped warns of a load that its time limit ended before its rows: how many were inserted, and how long all would take, as
// far as that is known. Of a load that is measured by time there is no warning, and at an offered rate that is another one.
func stopped(doc *result.Document, plan *workload.Plan) []finding.Finding {
	if doc.Totals.StoppedBy != result.StoppedBySeconds || plan.ByTime || plan.Rate > 0 {
		return nil
	}
	found := finding.Stopped{Limit: int64(doc.Config.LimitSeconds), Rows: doc.Work().Rows, Planned: plan.Rows}
	if i := slices.IndexFunc(doc.Metrics, func(m result.Metric) bool { return m.Name == metricEstimate }); i >= 0 {
		found.Estimate = doc.Metrics[i].Value
	}
	return []finding.Finding{found.Finding()}
}

// findings are what a reader must know beside the numbers, whatever makes the load.
func findings(e *engine.Engine, doc *result.Document, clients int) []finding.Finding {
	var all []finding.Finding
	t := doc.Totals
	work := doc.Work().Micros
	if t.Micros < shortMicros {
		all = append(all, finding.Short(doc.Tool != nil))
	}
	all = append(all, withErrors(t, doc.Tool != nil)...)
	if len(doc.Pods) == 0 {
		all = append(all, clientFindings(finding.Client{}, doc.Client, clients, work)...)
	}
	for _, p := range doc.Pods {
		all = append(all, clientFindings(finding.Client{Pod: p.Pod, Many: true}, p.Client, p.Clients, p.Micros)...)
	}
	if n := doc.Client.LateAnswers; n > 0 {
		all = append(all, finding.Late(n))
	}
	all = slices.Concat(all, caughtUp(e, doc), outlasting(doc))
	if lossy, ok := e.CommitLoss(doc.Server.Variables); ok {
		all = append(all, finding.FlushedLate(lossy.Variable, lossy.Value))
	}
	if lossy, ok := e.BinaryLogLoss(doc.Server.Variables); ok {
		all = append(all, finding.SyncedLate(lossy.Variable, lossy.Value))
	}
	return slices.Concat(all, server.Adjustments(doc.Server.Settings), server.Unverified(doc.Server.Settings))
}

// clientFindings are about a client that may have measured itself.
func clientFindings(who finding.Client, c result.ClientFacts, clients int, micros int64) []finding.Finding {
	if micros <= 0 { // a Pod that did nothing
		return nil
	}
	var all []finding.Finding
	// Each client can use one CPU at most, within the container's limit.
	available, bound := float64(clients), finding.CPUBound{Connections: int64(clients)}
	if c.CPUs > 0 && float64(c.CPUs) < available {
		available, bound = float64(c.CPUs), finding.CPUBound{NodeCPUs: int64(c.CPUs)}
	}
	if limit := float64(c.CPULimitMillis) / 1000; limit > 0 && limit < available {
		available, bound = limit, finding.CPUBound{LimitMillis: c.CPULimitMillis}
	}
	if share := float64(c.UserMicros+c.SystemMicros) / (float64(micros) * available); share > clientShare {
		all = append(all, who.Busy(100*share, bound))
	}
	if c.ThrottledMicros > 0 && float64(c.ThrottledMicros) > throttledShare*float64(micros) {
		all = append(all, who.Throttled(100*float64(c.ThrottledMicros)/float64(micros)))
	}
	return all
}
