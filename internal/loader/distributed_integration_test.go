// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
)

// podOutcome is what one of several Pods left.
type podOutcome struct {
	summary *result.Summary
	out     string
	err     error
}

// pods makes the attempt with those Pods out of so many.
func (tr *trial) pods(ctx context.Context, t *testing.T, of int, indexes ...int) []podOutcome {
	t.Helper()
	return tr.repeated(func() []podOutcome { return tr.podsOnce(ctx, t, of, indexes...) })
}

// repeated is what the operator does with an attempt of which a Pod was told too late of the start: it measures again, not for ever.
func (tr *trial) repeated(once func() []podOutcome) (outcomes []podOutcome) {
	for outcomes = once(); slices.ContainsFunc(outcomes, podOutcome.late) && tr.cfg.Attempt < 20; outcomes = once() {
		tr.cfg.Attempt++
	}
	return outcomes
}

func (o podOutcome) late() bool {
	return o.summary.Failure != nil && o.summary.Failure.Reason == result.CauseStartedLate
}

func (tr *trial) podsOnce(ctx context.Context, t *testing.T, of int, indexes ...int) []podOutcome {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tr.cfg.Pods = of
	config := tr.encoded(t)
	outcomes := make([]podOutcome, len(indexes))
	var running sync.WaitGroup
	for i, index := range indexes {
		id := tr.id
		id.PodUID, id.PodName = fmt.Sprintf("pod-%d-%d", index, i), fmt.Sprintf("pod-%d", index)
		log := filepath.Join(t.TempDir(), "termination-log")
		running.Go(func() {
			var out lockedBuffer
			outcomes[i].err = Run(ctx, Input{
				Config: config, Identity: id, PodIndex: strconv.Itoa(index), Output: &out, TerminationLog: log,
			})
			outcomes[i].out = out.String()
			message, err := os.ReadFile(log)
			if err != nil {
				t.Error(err)
				return
			}
			if outcomes[i].summary, err = result.DecodeSummary(string(message)); err != nil {
				t.Errorf("reading %q: %v", message, err)
			}
			if outcomes[i].late() {
				stop() // the others, as the Job's controller does: who leads would wait for it
			}
		})
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return outcomes
}

// mustLoad is pods with all Pods and a result.
func (tr *trial) mustLoad(t *testing.T, pods int) *result.Document {
	t.Helper()
	var indexes []int
	for i := range pods {
		indexes = append(indexes, i)
	}
	outcomes := tr.pods(t.Context(), t, pods, indexes...)
	for i, o := range outcomes {
		if o.err != nil {
			t.Fatalf("Pod %d: %v", i, o.err)
		}
		if o.summary.Identity.Pod != i || o.summary.Delivered != (i > 0) || strings.Contains(o.out, "benchrun-document") != (i == 0) {
			t.Errorf("Pod %d left %+v", i, o.summary)
		}
	}
	encoded := must.Get(result.ReadDocument(strings.NewReader(outcomes[0].out), outcomes[0].summary.DocumentSHA256))(t)
	doc := must.Get(result.DecodeDocument(encoded.Gzip))(t)
	return doc
}

// addUp checks what the Pods did against the totals.
func addUp(t *testing.T, doc *result.Document, pods int) {
	t.Helper()
	var rows, transactions, micros, clients int64
	for i, p := range doc.Pods {
		if p.Pod != i || p.PodName != fmt.Sprintf("pod-%d", i) || p.Client.UserMicros+p.Client.SystemMicros <= 0 {
			t.Errorf("Pod %d is %+v", i, p)
		}
		rows, transactions, clients = rows+p.Rows, transactions+p.Transactions, clients+int64(p.Clients)
		micros = max(micros, p.Micros)
	}
	got := doc.Totals
	if len(doc.Pods) != pods || rows != got.Rows || transactions != got.Transactions || micros != got.Micros || clients < int64(pods) {
		t.Errorf("%d Pods with %d rows, %d transactions, %d clients, %d µs; totals %+v", len(doc.Pods), rows, transactions, clients, micros, got)
	}
	for _, l := range doc.Latencies {
		if l.Operation == "commit" && l.Count != got.Transactions {
			t.Errorf("%d latencies of %d commits", l.Count, got.Transactions)
		}
	}
	sums(t, doc)
}

func TestIntegrationPodsLoadTheSameRows(t *testing.T) {
	for name, newTrial := range map[string]func(connections int) *trial{
		"file list": func(n int) *trial { return newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Clients = n }) },
		"narrow": func(n int) *trial {
			return newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Table, p.Tables, p.Clients = "Narrow", 5, n })
		},
		"few transactions": func(n int) *trial {
			return newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.Clients = 700, n })
		},
		"iibench": func(n int) *trial {
			return newIIBench(t, func(p *iibench.Parameters) { p.Clients, p.QueryClients, p.ReportEveryRows = n, 1, 5000 })
		},
		"indexes at the end": func(n int) *trial {
			return newIIBench(t, func(p *iibench.Parameters) { p.Clients, p.IndexesAt = n, "End" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, one := newTrial(1).mustRun(t)
			four := newTrial(6).mustLoad(t, 4)
			if checksum(four) != checksum(one) || checksum(one) == "" {
				t.Errorf("four Pods load %s, one %s", checksum(four), checksum(one))
			}
			if four.Totals.Rows != one.Totals.Rows || four.Totals.StoppedBy != result.StoppedByRows {
				t.Errorf("totals %+v, those of one %+v", four.Totals, one.Totals)
			}
			addUp(t, four, 4)
			milestonesAscend(t, four)
		})
	}
}

func milestonesAscend(t *testing.T, doc *result.Document) {
	t.Helper()
	last := result.Milestone{}
	for _, m := range doc.Milestones {
		if m.Rows <= last.Rows || m.Micros < last.Micros || m.Rows > doc.Totals.Rows {
			t.Errorf("milestone %+v after %+v", m, last)
		}
		last = m
	}
	if len(doc.Milestones) > 0 && (last.Rows != doc.Totals.Rows || last.TableBytes <= 0) {
		t.Errorf("the last milestone is %+v", last)
	}
}

// Pods that a limit stops have each sent another number of rows, and the table has gaps: exactly the right ones.
func TestIntegrationPodsStoppedByTheLimit(t *testing.T) {
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.Clients, p.RowsPerStatement = 1_000_000_000, 3, 50 })
	tr.cfg.LimitSeconds = 1
	doc := tr.mustLoad(t, 3)
	if doc.Totals.StoppedBy != result.StoppedBySeconds || doc.Totals.Micros < 900_000 {
		t.Errorf("totals %+v", doc.Totals)
	}
	addUp(t, doc, 3)
}

func TestIntegrationPodsThatDoNotCome(t *testing.T) {
	fresh := func() *trial {
		return newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Clients = 3 })
	}
	reasons := func(outcomes []podOutcome) (text string) {
		for _, o := range outcomes {
			if o.summary.Failure == nil {
				t.Fatalf("there is a result: %+v", o.summary)
			}
			text += fmt.Sprintf("%s: %s\n", o.summary.Failure.Reason, o.summary.Failure.Message)
		}
		return text
	}
	for name, tc := range map[string]struct {
		pods []int
		want string
	}{
		"one is missing": {[]int{0, 1}, "BarrierTimeout: 2 of the 3 loader Pods arrived within 10s; missing: Pod 2\n" +
			"Interrupted: Pod 0, which leads, has ended\n"},
		"who leads is missing": {[]int{2}, "BarrierTimeout: Pod 0 of the 3 loader Pods, which prepares the tables, did not arrive within 10s\n"},
		"no such Pod":          {[]int{3}, "Configuration: checking the loader's configuration: workload BulkInsert: this is Pod 3, but the loader Pods (3) are numbered from 0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "reasons", tc.want, reasons(fresh().pods(t.Context(), t, 3, tc.pods...)))
		})
	}
	// Of two Pods that both say that they are the second, one ends; the third never comes.
	if got := reasons(fresh().pods(t.Context(), t, 3, 0, 1, 1)); strings.Count(got, "StartedTwice: trial 1, attempt 1 was started before") != 1 {
		t.Errorf("got %s", got)
	}
}

// A Pod that fails while it measures is not waited for by itself: the others go on, and who leads waits until it is told to
// stop, as the Job's controller does.
func TestIntegrationPodsInterrupted(t *testing.T) {
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.Clients = 1_000_000_000, 2 })
	for i, o := range tr.repeated(func() []podOutcome { return interruptedPods(t, tr) }) {
		if o.summary.Failure == nil || o.summary.Failure.Reason != result.CauseInterrupted {
			t.Errorf("Pod %d left %+v", i, o.summary.Failure)
		}
	}
}

// interruptedPods are told to stop while they measure.
func interruptedPods(t *testing.T, tr *trial) []podOutcome {
	must.Get(other(t).Exec("DROP TABLE IF EXISTS bench.inserts"))(t) // rows of another attempt would end this one at once
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		db := other(t)
		if err := eventually(func() bool {
			var n int
			return db.QueryRow("SELECT COUNT(*) FROM (SELECT 1 FROM bench.inserts LIMIT 600) AS r").Scan(&n) == nil && n == 600
		}); err != nil {
			t.Error(err)
		}
		cancel()
	}()
	return tr.podsOnce(ctx, t, 2, 0, 1)
}

func TestIntegrationWholeRun(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 5000, RowsPerCommit: 16})
	tr.cfg.Settings = []result.Setting{ // hack/server.sh starts servers with the last three
		{Name: "autocommit", Value: "1"},
		{Name: "loose_nonsense", Value: "1"},
		{Name: "symbolic_links", Value: "0"},
		{Name: "loose_symbolic_links", Value: "0"},
	}
	summary, doc := tr.mustRun(t)
	wantTotals := result.Totals{
		Rows: 5000, Transactions: 313, Statements: 5313, Micros: doc.Totals.Micros, StoppedBy: result.StoppedByRows,
	}
	if diff := cmp.Diff(wantTotals, doc.Totals); diff != "" || doc.Totals.Micros < 1000 {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	var sum result.Totals
	for _, i := range doc.Series {
		sum.Rows += i.Rows
		sum.Transactions += i.Transactions
	}
	if last := doc.Series[len(doc.Series)-1]; sum.Rows != 5000 || sum.Transactions != 313 || last.EndMicros != doc.Totals.Micros {
		t.Errorf("the series adds up to %+v and ends at %d of %d µs", sum, last.EndMicros, doc.Totals.Micros)
	}
	counts := map[string]int64{}
	for _, l := range doc.Latencies {
		counts[l.Operation] = l.Count
		if l.MinMicros < 1 || l.P50Micros < l.MinMicros || l.P999Micros < l.P50Micros || l.MaxMicros < l.P999Micros || l.Histogram == "" {
			t.Errorf("latency %+v", l)
		}
	}
	must.Same(t, "latencies", map[string]int64{"commit": 313, "insert": 5000}, counts)
	var phases []string
	for _, p := range doc.Phases {
		phases = append(phases, p.Name)
	}
	must.Same(t, "phases", []string{"connect", "readback", "prepare", "quiesce", "measure", "verify"}, phases)
	checkFacts(t, doc)
	if summary.Totals != doc.Totals || len(summary.Metrics) != len(doc.Metrics) || summary.Identity != doc.Identity {
		t.Errorf("the summary %+v is not the document's", summary)
	}
	var outcomes []result.SettingOutcome
	for _, setting := range doc.Server.Settings {
		outcomes = append(outcomes, setting.Outcome)
	}
	want := []result.SettingOutcome{
		result.SettingEffective, result.SettingIgnored, result.SettingNotVerifiable, result.SettingNotVerifiable,
	}
	must.Same(t, "settings", want, outcomes)
	if !slices.ContainsFunc(doc.Findings, func(f finding.Finding) bool { return f.Code == finding.SettingNotVerifiable }) {
		t.Errorf("nothing says that symbolic_links is not verifiable: %v", doc.Findings)
	}
}

func checkFacts(t *testing.T, doc *result.Document) {
	t.Helper()
	s, c := doc.Server, doc.Client
	if s.Version == "" || len(s.Variables) < 300 || len(s.StatusBefore) < 200 || len(s.StatusAfter) < 200 || len(s.SettingsDigest) != len("sha256:")+64 {
		t.Errorf("version %q, %d variables, %d and %d counters", s.Version, len(s.Variables), len(s.StatusBefore), len(s.StatusAfter))
	}
	if s.Session["autocommit"] != "OFF" || s.Session["time_zone"] != "+00:00" {
		t.Errorf("session %v", s.Session)
	}
	if c.UserMicros+c.SystemMicros < 1 || c.CPUs < 1 || c.MaxRSSBytes < 1<<20 || c.CPULimitMillis != 2000 {
		t.Errorf("client %+v", c)
	}
	if writes, known := server.Growth(s.StatusBefore, s.StatusAfter, "Com_insert"); !known || writes != 5000 {
		t.Errorf("the server counts %d inserts", writes)
	}
	metrics := map[string]float64{}
	for _, m := range doc.Metrics {
		metrics[m.Name] = m.Value
	}
	if doc.Metrics[0].Name != "rowsPerSecond" || metrics["rowsPerSecond"] < 10 || metrics["clientMicrosPerRow"] <= 0 {
		t.Errorf("metrics %v", metrics)
	}
	fsyncs := metrics["redoFsyncsPerTransaction"] + metrics["innodbFsyncsPerTransaction"]
	if s.Variables["innodb_flush_log_at_trx_commit"] == "1" && (fsyncs < 0.9 || fsyncs > 3) {
		t.Errorf("%g fsyncs per transaction", fsyncs)
	}
}

// A load without a number of rows is measured by time: its limit is no warning.
func TestIntegrationByTime(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{RowsPerCommit: 16})
	tr.cfg.LimitSeconds = 1
	summary, doc := tr.mustRun(t)
	if doc.Totals.StoppedBy != result.StoppedBySeconds || doc.Totals.Micros < 1e6 || doc.Totals.Rows < 1 {
		t.Errorf("totals %+v", doc.Totals)
	}
	if strings.Contains(strings.Join(finding.Texts(summary.Findings), "\n"), "limit") {
		t.Errorf("warnings %v", summary.Findings)
	}
	sums(t, doc)
}

func TestIntegrationWrongPassword(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 1, RowsPerCommit: 1})
	tr.cfg.ConnectSeconds = 600
	must.Write(t, tr.cfg.Server.PasswordFile, "wrong-and-secret")
	began := time.Now()
	tr.mustFail(t.Context(), t, result.CauseConnect, "Access denied for user")
	within(t, began, time.Minute)
	if data, err := os.ReadFile(tr.terminationLog); err != nil || strings.Contains(string(data), "wrong-and-secret") {
		t.Errorf("%v, %s", err, data)
	}
}

func TestIntegrationSettingsAreReadBack(t *testing.T) {
	variables := globals(t)
	packet := must.Get(strconv.ParseInt(variables["max_allowed_packet"], 10, 64))(t)
	one := commitsize.Parameters{Rows: 1, RowsPerCommit: 1}

	tr := newTrial(t, one)
	tr.cfg.Server.Borrowed = true // one that Benchrun starts would refuse a name that it does not know
	tr.cfg.Settings = []result.Setting{
		{Name: "innodb_buffer_pool_sise", Value: "1G"},
		{Name: "max_connections", Value: "77777"},
	}
	tr.mustFail(t.Context(), t, result.CauseSettingNotEffective,
		"innodb_buffer_pool_sise=1G was requested, but the server has no such variable",
		fmt.Sprintf("max_connections=77777 was requested, but the server has %q", variables["max_connections"]))

	tr = newTrial(t, one)
	tr.cfg.Settings = []result.Setting{
		{Name: "innodb_buffer_pool_size", Value: variables["innodb_buffer_pool_size"]},
		{Name: "max_allowed_packet", Value: strconv.FormatInt(packet+1, 10)},
		{Name: "sql_mode", Value: strings.ToLower(variables["sql_mode"])},
	}
	_, doc := tr.mustRun(t)
	must.Same(t, "adjusted", result.AppliedSetting{
		Name: "max_allowed_packet", Requested: strconv.FormatInt(packet+1, 10), Effective: variables["max_allowed_packet"], Outcome: result.SettingAdjusted,
	}, doc.Server.Settings[1])
	if strings.Contains(strings.Join(finding.Texts(doc.Findings), "\n"), "max_allowed_packet") {
		t.Errorf("one byte is not worth a warning: %v", doc.Findings)
	}

	buffer := must.Get(strconv.ParseInt(variables["net_buffer_length"], 10, 64))(t)
	tr = newTrial(t, one)
	tr.cfg.Settings = []result.Setting{{Name: "net_buffer_length", Value: strconv.FormatInt(buffer+1023, 10)}}
	if _, doc = tr.mustRun(t); !strings.Contains(strings.Join(finding.Texts(doc.Findings), "\n"), "net_buffer_length") {
		t.Errorf("rounded by %d of %d bytes, warnings %v", 1023, buffer, doc.Findings)
	}

	connections := must.Get(strconv.Atoi(variables["max_connections"]))(t)
	tr = newTrial(t, one)
	tr.cfg.Settings = []result.Setting{{Name: "max_connections", Value: strconv.Itoa(connections + 1)}}
	tr.mustFail(t.Context(), t, result.CauseSettingNotEffective, fmt.Sprintf("max_connections=%d was requested, but the server has %q",
		connections+1, variables["max_connections"]))
}

// A server that has a table of its variables says what it rounds, and to what, and what values its enums have.
func TestIntegrationDescribedVariables(t *testing.T) {
	e := testedEngine(t)
	described := must.Get(server.Described(t.Context(), e, other(t)))(t)
	v := &described.Variables
	if len(v.Rounded) < 20 || v.Rounded["net_buffer_length"].To != 1024 || len(v.Rounded["innodb_buffer_pool_size"].By) == 0 {
		t.Errorf("%d variables are rounded: %v", len(v.Rounded), v.Rounded)
	}
	must.Same(t, "values of binlog_format", []string{"MIXED", "STATEMENT", "ROW"}, v.Enums["binlog_format"])
}

func TestIntegrationSecondStart(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 10, RowsPerCommit: 1})
	tr.mustRun(t)
	again := newTrial(t, commitsize.Parameters{Rows: 20, RowsPerCommit: 1})
	again.id.RunUID, again.id.PodUID = tr.id.RunUID, "another-pod"
	again.mustFail(t.Context(), t, result.CauseStartedTwice, "by the Pod with UID pod-uid")
	var rows int
	if err := other(t).QueryRow("SELECT COUNT(*) FROM bench.demo").Scan(&rows); err != nil || rows != 10 {
		t.Errorf("the second start touched the table: %d rows, %v", rows, err)
	}
}
