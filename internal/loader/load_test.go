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

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
	if err == nil || !strings.Contains(err.Error(), "dataFrom.columns must name the columns") {
		t.Errorf("error %v", err)
	}
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
		if _, err := Noop(t.Context(), workload, 1, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", workload, err, want)
		}
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
	if got := values(perSecond(series, func(t *result.Totals) int64 { return t.Queries })); got["perSecondRateP50"] != 7 {
		t.Errorf("queries: %v", got)
	}
	for name, none := range map[string][]result.Interval{"nothing": nil, "one": series[:1], "no operations": {{EndMicros: 1e6}, {EndMicros: 2e6}}} {
		if got := perSecond(none, rows); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLongest(t *testing.T) {
	list := []result.Latency{{Operation: "insert", MaxMicros: 5}, {Operation: "query", MaxMicros: 9}, {Operation: "transaction", MaxMicros: 100}, {Operation: "wait", MaxMicros: 70}}
	if got := values(longest(list)); got["longestOperationMicros"] != 9 {
		t.Errorf("%v", got)
	}
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
	o.Before.ReadBytes, o.After.ReadBytes, o.After.VoluntarySwitches = -1, -1, -1
	o.After.DeviceReads, o.After.DeviceWrites = -1, -1
	if got := deviceCosts(o, 10); got != nil {
		t.Errorf("%v", got)
	}
	if got := deviceCosts(nil, 10); got != nil {
		t.Errorf("%v", got)
	}
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
	if _, err := result.ReadDocument(&out.Buffer, summary.DocumentSHA256); err != nil {
		t.Error(err)
	}
}
