// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/server"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
)

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
	tr.cfg.ConnectSeconds = 60
	must.Write(t, tr.cfg.Server.PasswordFile, "wrong-and-secret")
	began := time.Now()
	tr.mustFail(t.Context(), t, result.CauseConnect, "Access denied for user")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
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
	summary, doc := tr.mustRun(t)
	want := []result.AppliedSetting{{
		Name: "max_allowed_packet", Requested: strconv.FormatInt(packet+1, 10), Effective: variables["max_allowed_packet"], Outcome: result.SettingAdjusted,
	}}
	must.Same(t, "adjusted", want, summary.Adjusted)
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
	if formats := []string{"MIXED", "STATEMENT", "ROW"}; !slices.Equal(v.Enums["binlog_format"], formats) {
		t.Errorf("binlog_format is one of %v, want %v", v.Enums["binlog_format"], formats)
	}
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
