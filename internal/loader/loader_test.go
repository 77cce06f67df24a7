// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

func TestWarnings(t *testing.T) {
	quiet := func() *result.Document {
		return &result.Document{
			Config: result.Config{LimitSeconds: 5},
			Totals: result.Totals{Rows: 1000, Micros: 2e6, StoppedBy: result.StoppedByRows},
			Client: result.ClientFacts{UserMicros: 1e5, CPUs: 4, ThrottledMicros: -1},
			Server: result.ServerFacts{Variables: map[string]string{
				"innodb_flush_log_at_trx_commit": "1", "log_bin": "OFF", "sync_binlog": "0",
			}},
		}
	}
	for _, tc := range []struct {
		change  func(*result.Document)
		clients int
		want    string
	}{
		{func(*result.Document) {}, 1, ""},
		{func(d *result.Document) { d.Totals.Micros = 999_999 }, 1, "the measured phase took less than a second: use more rows"},
		{func(d *result.Document) {
			d.Totals.Micros, d.Tool = 999_999, &result.ToolFacts{}
		}, 1, "the measured phase took less than a second: give the program more work"},
		{func(d *result.Document) { d.Client.SystemMicros = 1_600_000 }, 1, "the client used 85% of one CPU, the most that one connection can use: it may have been the bottleneck"},
		{func(d *result.Document) { d.Client.SystemMicros = 1_600_000 }, 2, ""},
		{func(d *result.Document) { d.Client.SystemMicros = 7_000_000 }, 8, "the client used 89% of the node's 4 CPUs: it may have been the bottleneck"},
		{func(d *result.Document) { d.Client.SystemMicros = 800_000; d.Client.CPULimitMillis = 500 }, 1, "the client used 90% of its CPU limit of 500m: it may have been the bottleneck"},
		{func(d *result.Document) { d.Client.ThrottledMicros = 20_001 }, 1, "the client was throttled at its CPU limit for 1.0% of the time"},
		{func(d *result.Document) { d.Client.ThrottledMicros = 20_000 }, 1, ""},
		{
			func(d *result.Document) { d.Client.LateAnswers = 7 }, 1,
			"7 insert latencies are too high: they include the client's work on its next statement, because its kernel does not report when an answer arrives",
		},
		{func(d *result.Document) { d.Server.Variables["innodb_flush_log_at_trx_commit"] = "2" }, 1, "commits are not durable: innodb_flush_log_at_trx_commit is 2"},
		{func(d *result.Document) { d.Server.Variables["log_bin"] = "ON" }, 1, "the binary log is not durable: sync_binlog is 0"},
		{func(d *result.Document) {
			d.Server.Settings = []result.AppliedSetting{{Name: "x", Requested: "100", Effective: "95", Outcome: result.SettingAdjusted}}
		}, 1, "the server rounded x=100 to 95, which is 5.0% off"},
	} {
		doc := quiet()
		tc.change(doc)
		must.Same(t, "warnings", tc.want, strings.Join(finding.Texts(findings(engine.MariaDB, doc, tc.clients)), "\n"))
	}
}

func TestStopped(t *testing.T) {
	doc := &result.Document{Config: result.Config{LimitSeconds: 5}, Totals: result.Totals{Rows: 1000, StoppedBy: result.StoppedByRows}}
	text := func(plan workload.Plan) string { return strings.Join(finding.Texts(stopped(doc, &plan)), "\n") }
	must.Same(t, "a load that has done its work", "", text(workload.Plan{Rows: 1000}))
	doc.Totals.StoppedBy = result.StoppedBySeconds
	for want, plan := range map[string]workload.Plan{
		"stopped at the limit of 5 s, after 1000 of 5000 rows": {Rows: 5000},
		"stopped at the limit of 5 s":                          {},
		"":                                                     {ByTime: true},
	} {
		must.Same(t, "warning", want, text(plan))
	}
	must.Same(t, "a rate that was offered for as long as it was to be", "", text(workload.Plan{Rows: 5000, Rate: 200}))
}

func TestCheckErrors(t *testing.T) {
	for _, tc := range []struct {
		allowed int
		totals  result.Totals
		message string
		warned  int
	}{
		{0, result.Totals{Transactions: 100}, "", 0},
		{0, result.Totals{Transactions: 999, Errors: 1}, "0.1% of all transactions, 1, were rolled back", 0},
		{10, result.Totals{Transactions: 90, Errors: 10}, "", 1},
		{10, result.Totals{Transactions: 89, Errors: 11}, "11.0% of all transactions, 11, were", 1},
		{10, result.Totals{Rows: 90, Errors: 10}, "", 1}, // each row is a transaction
		{100, result.Totals{Errors: 7}, "", 1},
	} {
		message := ""
		if err := checkErrors(&result.Config{ErrorPercent: tc.allowed}, tc.totals); err != nil {
			message = err.Error()
			must.Has(t, message, fmt.Sprintf("limits.errorPercent allows %d%%", tc.allowed))
		}
		found := withErrors(tc.totals, false)
		if !strings.HasPrefix(message, tc.message) || (message == "") != (tc.message == "") || len(found) != tc.warned {
			t.Errorf("%+v, %d%% allowed: %q, want %q; findings %v", tc.totals, tc.allowed, message, tc.message, found)
		}
	}
}

// What sysbench gives up was not rolled back or retried: its script may have no transaction, and the next event is another one.
func TestErrorsOfProgramsAreGivenUp(t *testing.T) {
	totals := result.Totals{Transactions: 50, Errors: 50}
	err := checkErrors(&result.Config{ErrorPercent: 10, Workload: result.Workload{Type: "Sysbench"}}, totals)
	if err == nil {
		t.Fatal("half of all is let pass")
	}
	for _, text := range []string{err.Error(), withErrors(totals, true)[0].String()} {
		must.Has(t, text, "given up")
		must.Lack(t, text, "rolled back", "retried")
	}
}

func TestMetrics(t *testing.T) {
	totals := result.Totals{Rows: 1000, Transactions: 100, Errors: 25, Micros: 2e6}
	client := result.ClientFacts{UserMicros: 1000, SystemMicros: 2000}
	server := func(counter, before, after string) result.ServerFacts {
		return result.ServerFacts{StatusBefore: map[string]string{counter: before}, StatusAfter: map[string]string{counter: after}}
	}
	document := func(t result.Totals, s result.ServerFacts, c result.ClientFacts) *result.Document {
		return &result.Document{Totals: t, Server: s, Client: c}
	}
	names := func(all []result.Metric) (s []string) {
		for _, m := range all {
			s = append(s, m.Name)
		}
		return s
	}
	all := metrics(engine.MariaDB, document(totals, server("Innodb_os_log_fsyncs", "10", "130"), client))
	want := []result.Metric{
		{Name: "rowsPerSecond", Value: 500, Unit: "rows/s", Better: "higher"},
		{Name: "commitsPerSecond", Value: 50, Unit: "commits/s", Better: "higher"},
		{Name: "redoFsyncsPerTransaction", Value: 1.2, Unit: "fsyncs/transaction", Better: "lower"},
		{Name: "errorPercent", Value: 20, Unit: "%", Better: "lower"},
		{Name: "clientMicrosPerRow", Value: 3, Unit: "µs/row", Better: "lower"},
	}
	must.Same(t, "metrics", want, all)
	without := []string{"rowsPerSecond", "commitsPerSecond", "errorPercent", "clientMicrosPerRow"}
	for _, s := range []result.ServerFacts{
		{}, server("Innodb_data_fsyncs", "10", "x"), server("Innodb_data_fsyncs", "10", "9"),
	} {
		must.Same(t, "what cannot be known is left out", without, names(metrics(engine.MariaDB, document(totals, s, client))))
	}
	idle := metrics(engine.MariaDB, document(totals, server("Innodb_os_log_fsyncs", "10", "10"), client))
	if idle[2].Name != "redoFsyncsPerTransaction" || idle[2].Value != 0 {
		t.Errorf("a server that did not wait for the disk: %+v", idle)
	}
	if got := names(metrics(engine.MariaDB, document(totals, server("Innodb_data_fsyncs", "10", "130"), client))); got[2] != "innodbFsyncsPerTransaction" {
		t.Errorf("metrics %v", got)
	}
}

const goodConfig = `{"version":2,"namespace":"ns","run":"r","trial":3,"attempt":2,"seed":42,"connectSeconds":1,` +
	`"server":{"engine":"MariaDB","host":"127.0.0.1","port":1,"userFile":"USER","passwordFile":"PASSWORD","schema":"bench"},` +
	`"workload":{"type":"CommitSize","parameters":{"rows":10,"rowsPerCommit":1}}}`

func TestConfigurationIsCheckedBeforeConnecting(t *testing.T) {
	for _, tc := range []struct{ old, replacement, want string }{
		{goodConfig, "", "the environment variable BENCHRUN_CONFIG is empty"},
		{goodConfig, "{", "reading the loader's configuration"},
		{`"version":2`, `"version":1`, "version 1, this loader reads 2"},
		{`"seed":42`, `"sed":42`, `unknown field "sed"`},
		{`"trial":3`, `"trial":0`, "trial 0, attempt 2: both count from 1"},
		{`"MariaDB"`, `"Oracle"`, `engine is "Oracle"`},
		{`"127.0.0.1"`, `""`, "host is empty"},
		{`"port":1`, `"port":70000`, "port is 70000"},
		{`"USER"`, `""`, "are not named"},
		{`"bench"`, `"a-b"`, `schema is "a-b"`},
		{`"bench"`, `"MySQL"`, "schema mysql belongs to the server: name another schema"},
		{`"bench"`, `"` + strings.Repeat("x", 51) + `"`, "1 to 50 letters"},
		{`"bench"`, `"bench","socket":"mysqld.sock"`, `socket is "mysqld.sock" but must be an absolute path`},
		{`"bench"`, `"bench","socket":"/run/mysqld.sock","tls":"Required"`, "connections by a Unix socket are not encrypted"},
		{`"bench"`, `"bench","tls":"Preferred"`, `tls is "Preferred"`},
		{`"bench"`, `"bench","tls":"VerifyIdentity","caFile":"/does/not/exist"`, "reading the trusted certificate authorities"},
		{`"connectSeconds":1`, `"connectSeconds":0`, "connectSeconds is 0"},
		{`"seed":42`, `"limitSeconds":-1`, "limitSeconds is -1"},
		{`"seed":42`, `"settings":[{"name":"a b","value":"1"}]`, `setting 1 has the name "a b"`},
		{`"rowsPerCommit":1`, `"rowsPerCommit":0`, "rowsPerCommit is 0"},
		{`"rowsPerCommit":1`, `"rowsPerComit":1`, `workload CommitSize: reading the parameters: json: unknown field "rowsPerComit"`},
		{`"parameters":{"rows":10,"rowsPerCommit":1}`, `"schemaFile":"x"`, "workload CommitSize: the parameters are missing"},
		{`"type":"CommitSize"`, `"type":"Sysbench"`, `workload Sysbench: reading the parameters: json: unknown field "rows"`},
		{`"type":"CommitSize"`, `"type":"Nonsense"`, `workload type "Nonsense" is unknown; use one of`},
		{`"USER"`, `"/does/not/exist"`, "reading credentials"},
	} {
		summary, err := runWith(t, strings.Replace(goodConfig, tc.old, tc.replacement, 1), "pod")
		if err == nil || summary.Failure == nil || summary.Failure.Reason != result.CauseConfiguration ||
			!strings.Contains(summary.Failure.Message, tc.want) {
			t.Errorf("%s → %s: %+v, want %s", tc.old, tc.replacement, summary.Failure, tc.want)
		}
	}
	summary, err := runWith(t, goodConfig, "")
	if err == nil || summary.Failure.Reason != result.CauseConfiguration || summary.Identity.Trial != 3 || summary.Identity.Attempt != 2 {
		t.Errorf("without a Pod's UID: %+v", summary)
	}
}

func TestNobodyListens(t *testing.T) {
	began := time.Now()
	summary, err := runWith(t, goodConfig, "pod")
	if err == nil || summary.Failure.Reason != result.CauseConnect || !strings.Contains(summary.Failure.Message, "refused") {
		t.Errorf("%+v", summary.Failure)
	}
	if took := time.Since(began); took < time.Second || took > time.Minute {
		t.Errorf("gave up after %s", took)
	}
}

// runWith runs an attempt that cannot succeed and returns the summary that it leaves.
func runWith(t *testing.T, config, podUID string) (*result.Summary, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"USER": "root", "PASSWORD": "secret"} {
		file := filepath.Join(dir, name)
		must.Write(t, file, content)
		config = strings.Replace(config, `"`+name+`"`, `"`+file+`"`, 1)
	}
	env := map[string]string{result.EnvConfig: config, result.EnvRunUID: "run", result.EnvPodUID: podUID}
	in := FromEnvironment(func(name string) string { return env[name] }, "test")
	var out bytes.Buffer
	in.Output, in.TerminationLog = &out, filepath.Join(dir, "termination-log")
	runErr := Run(t.Context(), in)
	data := must.Get(os.ReadFile(in.TerminationLog))(t)
	summary := must.Get(result.DecodeSummary(string(data)))(t)
	if strings.Contains(out.String(), "document") || strings.Contains(string(data), "secret") {
		t.Errorf("output %s, summary %s", out.String(), data)
	}
	return summary, runErr
}

// The sink swallows every workload that needs no answer but that all is well, statements of several packets too.
func TestNoop(t *testing.T) {
	for _, tc := range []struct {
		workload         string
		rows, statements int64
		bytes            int64
	}{
		{`{"type":"CommitSize","parameters":{"rows":100,"rowsPerCommit":10}}`, 100, 110, 100 * 60},
		{`{"type":"BulkInsert","parameters":{"table":"Narrow","tables":2,"rows":10000,"rowsPerStatement":30,"statementsPerTransaction":2,"clients":3,"storageEngine":"InnoDB"}}`, 10_000, 334 + 167, 10_000 * 14},
		{`{"type":"BulkInsert","parameters":{"table":"FileList","tables":1,"rows":200000,"rowsPerStatement":200000,"statementsPerTransaction":1,"clients":1,"storageEngine":"InnoDB"}}`, 200_000, 2, 200_000 * 170},
		{`{"type":"BulkInsert","parameters":{"table":"FileList","tables":2,"rows":10000,"rowsPerStatement":30,"statementsPerTransaction":2,"clients":3,"storageEngine":"InnoDB","protocol":"Prepared"}}`, 10_000, 334 + 167, 10_000 * 150},
		{`{"type":"BulkInsert","parameters":{"table":"Narrow","tables":1,"rows":2000000,"rowsPerStatement":2000000,"statementsPerTransaction":1,"clients":1,"storageEngine":"InnoDB","protocol":"Bulk","commit":"Autocommit"}}`, 2_000_000, 1, 2_000_000 * 10},
		{`{"type":"IIBench","parameters":{"table":"Tokutek2008","rows":5000,"rowsPerCommit":1000,"rowsPerStatement":500,"storageEngine":"InnoDB","secondaryIndexes":3,"indexesAt":"Start","clients":2,"reportEveryRows":1000}}`, 5000, 15, 5000 * 40},
		{`{"type":"TPROCHLoad","parameters":{"scaleFactor":"0.01","data":"Streamed","loadMode":"Chunked","rowsPerChunk":2000,"foreignKeyChecks":true,"uniqueChecks":true,"indexes":"Before"}}`, 86260, 47, 10_401_513},
		{`{"type":"TPROCHLoad","parameters":{"scaleFactor":"0.01","data":"Streamed","loadMode":"Parallel","clients":8,"foreignKeyChecks":true,"uniqueChecks":true,"indexes":"Before"}}`, 86260, 8, 10_401_513},
	} {
		report := must.Get(Noop(t.Context(), tc.workload, 42, 0))(t)
		if report.Rows != tc.rows || report.Statements != tc.statements || report.Bytes < tc.bytes || report.RowsPerSecond <= 0 ||
			report.Seconds <= 0 || report.CPUMicrosPerRow < 0 {
			t.Errorf("%s: %+v", tc.workload, report)
		}
	}
}

// A file of the user's is surveyed and read as for a server.
func TestNoopReadsAFile(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "rows.tsv"), strings.Repeat("/a\t2024-01-01\t17\n", 5000))
	const from = `{"type":"BulkInsert","parameters":{"table":"FileList","tables":1,"rows":9000,"rowsPerStatement":100,"statementsPerTransaction":1,"clients":2,"storageEngine":"InnoDB"},"data":{"root":%q,"path":"rows.tsv","format":"TSV"%s}%s}`
	report, err := Noop(t.Context(), fmt.Sprintf(from, dir, "", ""), 42, 0)
	if err != nil || report.Rows != 5000 || report.Statements != 100 || report.Bytes < 5000*25 {
		t.Errorf("%+v, %v", report, err)
	}
	_, err = Noop(t.Context(), fmt.Sprintf(from, dir, `,"table":"own"`, `,"schemaFile":"own.sql"`), 42, 0)
	must.Fail(t, err, "dataFrom.columns must name the columns")
}

func TestNoopLimit(t *testing.T) {
	const endless = `{"type":"BulkInsert","parameters":{"table":"Narrow","tables":1,"rows":1000000000000,"rowsPerStatement":100,"statementsPerTransaction":1,"clients":2,"storageEngine":"InnoDB"}}`
	report, err := Noop(t.Context(), endless, 42, 50*time.Millisecond)
	if err != nil || report.Seconds < 0.05 || report.Seconds > 5 || report.Rows < 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestNoopRefuses(t *testing.T) {
	for workload, want := range map[string]string{
		`{`:                  "reading the workload",
		`{"typo":"x"}`:       "unknown field",
		`{"type":"Unknown"}`: "is unknown; use one of",
		`{"type":"CommitSize","parameters":{"rows":-1,"rowsPerCommit":1}}`: "rows is -1",
	} {
		must.Refused(Noop(t.Context(), workload, 1, 0))(t, want)
	}
}

// A rate that was not reached is a warning, and so is nothing else: a load that ends with its last row, or when its time is over,
// has reached its rate if its last transaction began when it was due.
func TestOfferedRateReached(t *testing.T) {
	const second = time.Second
	for name, tc := range map[string]struct {
		o       offered
		rows    int64
		ended   time.Duration
		limit   int
		reached float64
		want    string
	}{
		"all rows":               {offered{100, 1000, 10 * second}, 1000, 10*second + 90*time.Millisecond, 0, 100, ""},
		"a long last statement":  {offered{100, 1000, 10 * second}, 1000, 13 * second, 0, 100, ""},
		"a little late":          {offered{100, 1000, 10*second + 90*time.Millisecond}, 1000, 11 * second, 0, 99.11, ""},
		"too late":               {offered{100, 1000, 12500 * time.Millisecond}, 1000, 12500 * time.Millisecond, 0, 80, "the rate of 100 rows/s was not reached: 80.0 rows/s, 80.0% of the offered load"},
		"until the time is over": {offered{100, 0, 9990 * time.Millisecond}, 999, 10 * second, 10, 100, ""},
		"half by then":           {offered{100, 0, 10 * second}, 500, 10 * second, 10, 50, "50.0 rows/s, 50.0% of the offered load; 499 were still queued at the end and have no latency"},
		"no more than there are": {offered{100, 600, 10 * second}, 500, 10 * second, 10, 50, "; 100 were still queued at the end"},
		"none":                   {offered{1, 10, 0}, 0, 0, 1, 0, "0.0% of the offered load"},
	} {
		doc := &result.Document{Totals: result.Totals{Rows: tc.rows, Micros: tc.ended.Microseconds(), StoppedBy: result.StoppedByRows}}
		if doc.Config.LimitSeconds = tc.limit; tc.limit > 0 {
			doc.Totals.StoppedBy = result.StoppedBySeconds
		}
		text := strings.Join(finding.Texts(tc.o.findings(doc)), "\n")
		if !strings.Contains(text, tc.want) || (text == "") != (tc.want == "") {
			t.Errorf("%s: warning %q, want %q", name, text, tc.want)
		}
		m := tc.o.metrics(doc)
		if off := m[1].Value - tc.reached; off < -0.01 || off > 0.01 || m[0].Value != float64(tc.o.rate) {
			t.Errorf("%s: metrics %v, want %g%% reached", name, m, tc.reached)
		}
	}
}

func values(list []result.Metric) map[string]float64 {
	all := map[string]float64{}
	for _, m := range list {
		all[m.Name] = m.Value
	}
	return all
}

// The 99th percentile of rates is one that nearly all seconds reached, below the median. The second that the end cut short is none.
func TestPerSecond(t *testing.T) {
	var series []result.Interval
	for i := range 201 {
		series = append(series, result.Interval{EndMicros: int64(i+1) * 1e6, Rows: int64(1000 + i), Queries: 7})
	}
	series[10].Rows, series[200].Rows = 0, 1
	rows := func(t *result.Totals) int64 { return t.Rows }
	want := map[string]float64{"perSecondRateP50": 1100, "perSecondRateP99": 1002}
	must.Same(t, "", want, values(perSecond(series, rows)), cmpopts.EquateApprox(0, 1))
	must.Same(t, "queries", 7.0, values(perSecond(series, func(t *result.Totals) int64 { return t.Queries }))["perSecondRateP50"])
	for name, none := range map[string][]result.Interval{"nothing": nil, "one": series[:1], "no operations": {{EndMicros: 1e6}, {EndMicros: 2e6}}} {
		if got := perSecond(none, rows); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLongest(t *testing.T) {
	list := []result.Latency{{Operation: "insert", MaxMicros: 5}, {Operation: "query", MaxMicros: 9}, {Operation: "transaction", MaxMicros: 100}, {Operation: "wait", MaxMicros: 70}}
	must.Same(t, "longest operation", 9.0, values(longest(list))["longestOperationMicros"])
	if got := longest(list[2:]); got != nil {
		t.Errorf("%v", got)
	}
}

// What was not observed is left out, and not zero.
func TestDeviceCosts(t *testing.T) {
	process := func(read, switches, device int64) *result.ProcessFacts {
		return &result.ProcessFacts{
			Process: "7@1", ReadBytes: read, VoluntarySwitches: switches, InvoluntarySwitches: 1, DeviceReads: device, DeviceWrites: 2 * device,
		}
	}
	o := &result.Observed{Before: process(1000, 10, 7), After: process(5000, 50, 17)}
	want := map[string]float64{
		"serverBytesReadPerOperation": 400, "serverSwitchesPerOperation": 4, "deviceReadsPerOperation": 1, "deviceWritesPerOperation": 2,
	}
	must.Same(t, "", want, values(deviceCosts(o, 10)))
	o.After.VoluntarySwitches, o.After.DeviceReads = -1, -1
	delete(want, "serverSwitchesPerOperation")
	delete(want, "deviceReadsPerOperation")
	must.Same(t, "", want, values(deviceCosts(o, 10)))
}

// A stage of which the observer saw only the beginning knows nothing of its end.
func TestObservedOfAStage(t *testing.T) {
	w := watch{seen: result.Observed{Probe: &result.NodeProbe{}, Before: &result.ProcessFacts{}}}
	if got := w.ofStage(); got != nil {
		t.Errorf("%+v", got)
	}
	w.seen.After = &result.ProcessFacts{Process: "7@1"}
	if got := w.ofStage(); got == nil || got.Probe != nil || got.After.Process != "7@1" {
		t.Errorf("%+v", got)
	}
}

// looking is an output that looks at the termination log whenever something is written.
type looking struct {
	bytes.Buffer
	terminationLog string
	left           []byte
	err            error
}

func (l *looking) Write(p []byte) (int, error) {
	l.left, l.err = os.ReadFile(l.terminationLog)
	return l.Buffer.Write(p)
}

// A follower of the log takes the last line of the document for the end of the attempt: nothing may be left that could fail.
func TestTheDocumentIsPublishedLast(t *testing.T) {
	out := &looking{terminationLog: filepath.Join(t.TempDir(), "termination-log")}
	doc := testutil.Document("pod", 1, 1, 1000)
	must.Do(t, publish(Input{Identity: doc.Identity, Output: out, TerminationLog: out.terminationLog}, doc))
	if out.err != nil {
		t.Fatalf("there was no summary when the document was written: %v", out.err)
	}
	summary := must.Get(result.DecodeSummary(string(out.left)))(t)
	must.Get(result.ReadDocument(&out.Buffer, summary.DocumentSHA256))(t)
}
