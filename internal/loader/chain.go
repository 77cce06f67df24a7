// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// chain is the role of a Pod that measures a workload in stages. Each stage is measured as an attempt without stages is: by its
// own clients, with its own recorders and its own readings of the server's counters and process.
type chain struct {
	only
	staged workload.Staged
	stages []result.Stage
	// began is when the first stage was about to be measured, and ended when the last one was.
	began, ended time.Time
	checks       []result.Check
}

func (c *chain) run(ctx context.Context) error {
	if err := c.prepare(ctx); err != nil {
		return err
	}
	phases := []phase{{"quiesce", c.quiesce}}
	for _, s := range c.staged.Stages() {
		phases = append(phases, phase{s.Name, func(ctx context.Context) error {
			if s.Rest != nil {
				return c.rest(ctx, s.Rest)
			}
			return c.measureStage(ctx, &s)
		}})
	}
	return c.through(ctx, append(phases, phase{"verify", c.verify}))
}

func (c *chain) rest(ctx context.Context, r *workload.Rest) error {
	began := time.Now()
	if err := c.execute(r.Statements)(ctx); err != nil {
		return err
	}
	unrest, err := server.Quiesce(ctx, c.engine, c.dialect, c.admin, max(server.QuiesceAtMost, r.AtLeast))
	c.findings = append(c.findings, unrest...)
	if err != nil {
		return err
	}
	return sleep.Until(ctx, began.Add(r.AtLeast))
}

// measureStage measures a stage, and finds out whether it has left what it should.
func (c *chain) measureStage(ctx context.Context, s *workload.Stage) (err error) {
	a, cfg := *c.attempt, *c.cfg
	a.cfg, a.findings, a.phases = &cfg, nil, nil
	cfg.LimitSeconds = s.Seconds
	c.watch.seen.Before, c.watch.seen.After = nil, nil
	l := &clientLoad{attempt: &a, workload: s.Load}
	if l.plan, err = s.Load.Prepare(ctx, c.db); err != nil {
		return fmt.Errorf("preparing the stage: %w", err)
	}
	if c.began.IsZero() {
		c.began = time.Now()
	}
	if err := l.measure(ctx, c); err != nil {
		return err
	}
	c.ended = time.Now()
	if err := l.verify(ctx); err != nil {
		return err
	}
	c.server.Encryption, c.server.Session = a.server.Encryption, a.server.Session
	doc := &result.Document{Config: cfg, Server: c.server, Client: a.client, Observed: c.watch.ofStage()}
	if err := l.recorded(doc); err != nil {
		return err
	}
	doc.Metrics = l.stageMetrics(ctx, doc, s)
	l.reportOffered(doc)
	doc.Findings = append(doc.Findings, findings(l.engine, doc, l.plan.Clients)...)
	if err := c.lead(doc); err != nil {
		return err
	}
	const room = 7200 // for intervals of all stages, which are in one document
	l.measured.Shorten(room / len(c.staged.Stages()))
	doc.Series = l.measured.Series()
	c.stages = append(c.stages, result.StageOf(s.Name, doc))
	return nil
}

// ofStage is what the observer saw of a stage, or nil.
func (w *watch) ofStage() *result.Observed {
	if w.seen.Before == nil || w.seen.After == nil {
		return nil
	}
	return &result.Observed{Before: w.seen.Before, After: w.seen.After}
}

// verify finds out whether the server is still the one that it was, and has what all stages have left.
func (c *chain) verify(ctx context.Context) error {
	err := c.verifyServer(ctx)
	if err != nil {
		return err
	}
	if c.checks, err = c.staged.Verify(ctx, c.db, c.totals(), nil); err != nil {
		return fmt.Errorf("verifying the data: %w", err)
	}
	return failedChecks(c.checks)
}

// totals are the sums of all stages, and the time from the beginning of the first to the end of the last.
func (c *chain) totals() result.Totals {
	sum := result.Totals{Micros: c.ended.Sub(c.began).Microseconds()}
	for i := range c.stages {
		sum.Add(&c.stages[i].Totals)
		sum.StoppedBy = c.stages[i].Totals.StoppedBy
	}
	return sum
}

// document implements role: the stages, and what is of the whole attempt.
func (c *chain) document() (*result.Document, error) {
	first, last := &c.stages[0], &c.stages[len(c.stages)-1]
	c.watch.seen.Before, c.watch.seen.After = nil, nil
	if first.Observed != nil && last.Observed != nil {
		c.watch.seen.Before, c.watch.seen.After = first.Observed.Before, last.Observed.After
	}
	doc := c.about()
	doc.Stages, doc.Checks, doc.Totals, doc.Metrics = c.stages, c.checks, c.totals(), []result.Metric{}
	doc.Server.StatusBefore, doc.Server.StatusAfter = first.StatusBefore, last.StatusAfter
	doc.Server.WorkingSet = server.WorkingSet(c.engine, first.StatusBefore, last.StatusAfter)
	doc.Client, doc.Findings = first.Client, slices.Clone(c.findings)
	for i := range c.stages[1:] {
		doc.Client.Consumed(&c.stages[i+1].Client)
	}
	return doc, nil
}

// stageMetrics are the numbers of a stage that people compare. The headline metric of all stages is the same, and so are the
// units of costs, so that they stand in one table: an operation is whatever the stage does.
func (l *clientLoad) stageMetrics(ctx context.Context, doc *result.Document, s *workload.Stage) []result.Metric {
	t, n := doc.Totals, s.Operations(&doc.Totals)
	const unit, suffix = "operation", "PerOperation"
	all := slices.Concat(
		[]result.Metric{higher("operationsPerSecond", float64(n)/seconds(t.Micros), "operations/s")},
		positive(higher(metricRate, float64(t.Rows)/seconds(t.Micros), "rows/s")), besides(t),
		perSecond(doc.Series, s.Operations), longest(doc.Latencies),
		serverCosts(doc.Observed, n, unit, suffix), deviceCosts(doc.Observed, n), clientCosts(doc.Client, n, unit, suffix),
		l.stageSizes(ctx, doc.Observed), fsyncs(l.engine, doc.Server, t.Transactions))
	if t.Transactions > 0 {
		all = append(all, t.ErrorRate())
	}
	return append(all, heldBack(doc.Observed, t)...)
}

// perSecond are percentiles of the rates of single seconds, or of longer intervals where the series of a long stage has these:
// the rate that half of the intervals had at least, and 99% of them. The last interval, which the end has cut short, and a stage
// whose operations are not spread over its time have none.
func perSecond(series []result.Interval, operations func(*result.Totals) int64) []result.Metric {
	var rates []float64
	before, some := int64(0), false
	for _, interval := range series[:max(len(series)-1, 0)] {
		t := interval.Totals()
		some = some || t != result.Totals{}
		rates = append(rates, 1e6*float64(operations(&t))/float64(max(interval.EndMicros-before, 1)))
		before = interval.EndMicros
	}
	if !some {
		return nil
	}
	slices.Sort(rates)
	reached := func(name string, but float64) result.Metric {
		return higher(name, rates[int(but*float64(len(rates)))], "operations/s")
	}
	return []result.Metric{reached("perSecondRateP50", 0.5), reached("perSecondRateP99", 0.01)}
}

// notOfServer are latencies that the server does not cause alone.
var notOfServer = []string{"wait", "queued", "transaction", "rolledBack"}

func longest(latencies []result.Latency) []result.Metric {
	most := int64(0)
	for _, l := range latencies {
		if !slices.Contains(notOfServer, l.Operation) {
			most = max(most, l.MaxMicros)
		}
	}
	return positive(lower("longestOperationMicros", float64(most), "µs"))
}

// stageSizes are those of the tables and of the data directory at the end of a stage, and the most memory that the server has had
// so far. What is not known is left out.
func (l *clientLoad) stageSizes(ctx context.Context, o *result.Observed) []result.Metric {
	var all []result.Metric
	for _, query := range l.dialect.Server.TableBytes {
		var bytes int64
		if err := l.admin.QueryRowContext(ctx, query, l.cfg.Server.Schema).Scan(&bytes); err == nil && bytes > 0 {
			all = append(all, lower("tableBytes", float64(bytes), "bytes"))
			break
		}
	}
	used, _ := o.Used()
	return slices.Concat(all, positive(lower("dataDirectoryBytes", float64(used.DataBytes), "bytes")),
		positive(lower("serverMaxRSSBytes", float64(used.MaxRSSBytes), "bytes")))
}
