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

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
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
		if got := strings.Join(finding.Texts(findings(&engine.MariaDB, doc, tc.clients)), "\n"); got != tc.want {
			t.Errorf("warnings %q, want %q", got, tc.want)
		}
	}
}

func TestStopped(t *testing.T) {
	doc := &result.Document{Config: result.Config{LimitSeconds: 5}, Totals: result.Totals{Rows: 1000, StoppedBy: result.StoppedByRows}}
	text := func(plan workload.Plan) string { return strings.Join(finding.Texts(stopped(doc, &plan)), "\n") }
	if got := text(workload.Plan{Rows: 1000}); got != "" {
		t.Errorf("a load that has done its work is said to be %s", got)
	}
	doc.Totals.StoppedBy = result.StoppedBySeconds
	for want, plan := range map[string]workload.Plan{
		"stopped at the limit of 5 s, after 1000 of 5000 rows": {Rows: 5000},
		"stopped at the limit of 5 s":                          {},
		"":                                                     {ByTime: true},
	} {
		if got := text(plan); got != want {
			t.Errorf("warning %q, want %q", got, want)
		}
	}
	if got := text(workload.Plan{Rows: 5000, Rate: 200}); got != "" {
		t.Errorf("a rate that was offered for as long as it was to be is warned of: %s", got)
	}
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
			if !strings.Contains(message, fmt.Sprintf("limits.errorPercent allows %d%%", tc.allowed)) {
				t.Error(message)
			}
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
		if !strings.Contains(text, "given up") || strings.Contains(text, "rolled back") || strings.Contains(text, "retried") {
			t.Error(text)
		}
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
	all := metrics(&engine.MariaDB, document(totals, server("Innodb_os_log_fsyncs", "10", "130"), client))
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
		must.Same(t, "what cannot be known is left out", without, names(metrics(&engine.MariaDB, document(totals, s, client))))
	}
	idle := metrics(&engine.MariaDB, document(totals, server("Innodb_os_log_fsyncs", "10", "10"), client))
	if idle[2].Name != "redoFsyncsPerTransaction" || idle[2].Value != 0 {
		t.Errorf("a server that did not wait for the disk: %+v", idle)
	}
	if got := names(metrics(&engine.MariaDB, document(totals, server("Innodb_data_fsyncs", "10", "130"), client))); got[2] != "innodbFsyncsPerTransaction" {
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
	if took := time.Since(began); took < time.Second || took > 3*time.Second {
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
