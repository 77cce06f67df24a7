// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/docs"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// samples has a finding of every code, with its text.
var samples = []struct {
	of   finding.Finding
	text string
}{
	{finding.Short(false), "the measured phase took less than a second: use more rows"},
	{finding.Short(true), "the measured phase took less than a second: give the program more work"},
	{finding.Retried(12, 3.25), "12 transactions (3.2% of all) were rolled back and retried"},
	{finding.GivenUp(12, 3.25), "12 events (3.2% of all) were given up because of errors that sysbench ignores, and begun anew"},
	{finding.Dropped("bench"), "the program dropped the run's schema bench: give it another one"},
	{
		finding.Client{}.Busy(89.4, finding.CPUBound{NodeCPUs: 4}),
		"the client used 89% of the node's 4 CPUs: it may have been the bottleneck",
	},
	{
		finding.Client{Pod: 2, Many: true}.Busy(90, finding.CPUBound{Connections: 8}),
		"the client of Pod 2 used 90% of 8 CPUs, one per connection: it may have been the bottleneck",
	},
	{
		finding.Client{}.Busy(90, finding.CPUBound{LimitMillis: 500}),
		"the client used 90% of its CPU limit of 500m: it may have been the bottleneck",
	},
	{
		finding.Client{}.Busy(85, finding.CPUBound{Connections: 1}),
		"the client used 85% of one CPU, the most that one connection can use: it may have been the bottleneck",
	},
	{
		finding.Client{Pod: 3, Many: true}.Busy(85, finding.CPUBound{}),
		"the client of Pod 3 used 85% of one CPU, the most that one connection can use: it may have been the bottleneck",
	},
	{
		finding.Client{Pod: 0, Many: true}.Throttled(1),
		"the client of Pod 0 was throttled at its CPU limit for 1.0% of the time",
	},
	{
		finding.Late(7), "7 insert latencies are too high: they include the client's work on its next statement, because its " +
			"kernel does not report when an answer arrives",
	},
	{finding.FlushedLate("innodb_flush_log_at_trx_commit", "2"), "commits are not durable: innodb_flush_log_at_trx_commit is 2"},
	{finding.SyncedLate("sync_binlog", "0"), "the binary log is not durable: sync_binlog is 0"},
	{finding.Outlasting(2.5), "transactions under way at the end of a slice took up to 2.5 s to end, longer than a slice"},
	{finding.Rounded("x", "100", "95", 5), "the server rounded x=100 to 95, which is 5.0% off"},
	{
		finding.Unverified("symbolic_links", "OFF"),
		"the server was started with symbolic_links=OFF, and has no variable that shows it: it cannot be verified",
	},
	{
		finding.Debt("dirty pages", 5, 1940, 0),
		"the server did not settle: after 5 s it still had 1940 dirty pages (goal: 0)",
	},
	{finding.BusyWhileIdle(4.4), "the server used 4% of its machine's CPUs while other variants were measured"},
	{
		finding.CaughtUp(1500, 4500), "the server wrote 1500 pages back in the pauses between its slices, 33% of all: a load without " +
			"pauses may be slower",
	},
	{finding.Unobserved(), "the observer in the database Pod did not answer: the server's resource usage is unknown"},
	{finding.Left("b", "no"), "the schema b may still be on the server, because dropping it failed: no"},
	{finding.NotCopied("no space left on device"), "no copy of the prepared data could be made: no space left on device"},
	{finding.Stopped{Limit: 5}.Finding(), "stopped at the limit of 5 s"},
	{
		finding.Stopped{Limit: 5, Rows: 1000, Planned: 1_000_000_000}.Finding(),
		"stopped at the limit of 5 s, after 1000 of 1000000000 rows",
	},
	{
		finding.Stopped{Limit: 5, Rows: 10, Planned: 50, Estimate: 25.2}.Finding(),
		"stopped at the limit of 5 s, after 10 of 50 rows; at the terminal rate, all rows would take 25 s",
	},
	{
		finding.Missed{Rate: 100, Reached: 90.26, Share: 90.3, Unit: "rows/s"}.Finding(),
		"the rate of 100 rows/s was not reached: 90.3 rows/s, 90.3% of the offered load",
	},
	{
		finding.Missed{Rate: 100, Reached: 90, Share: 90, Waiting: 3, Unit: "transactions/s"}.Finding(),
		"the rate of 100 transactions/s was not reached: 90.0 transactions/s, 90.0% of the offered load; 3 were still queued at the " +
			"end and have no latency",
	},
	{finding.Anew("sysbench", 2), "sysbench reconnected 2× during the measurement"},
	{finding.PartOf("a.csv", 100, 40), "bulkInsert.rows uses only the first 40 of 100 rows of a.csv"},
	{finding.OtherRows("the contest", 7, 1e9), "deviates from the contest: 7 rows instead of 1000000000"},
	{finding.OtherServer("the contest", "11.8", "5.1.x"), "deviates from the contest: server version 11.8 instead of 5.1.x"},
	{
		finding.OtherHardware("the contest"),
		"deviates from the contest: the hardware is not limited to 8 cores, 16 GB of memory and 8 drives (see the environment)",
	},
	{finding.OfProgram("it was [cold] {x}"), "it was [cold] {x}"},
	{finding.Arrived("ns/a and 2 more", 0), "Pods started on the database node during the attempt: ns/a and 2 more"},
	{finding.Departed("ns/a", 3), "Pods left the database node during the attempt: ns/a, 3 of other namespaces"},
	{finding.Departed("", 3), "Pods left the database node during the attempt: 3 of other namespaces"},
	{
		finding.NotAllRead(12),
		"more Pods are on the database node than the operator reads: which came or left is not known (12 were read)",
	},
	{
		finding.OnNodeConditions([]string{"DiskPressure", "PIDPressure"}),
		"the database node was short of resources: DiskPressure, PIDPressure",
	},
	{
		finding.Unguaranteed([]string{"database Burstable"}),
		"Pods are not Guaranteed (database Burstable): other Pods on their nodes may take CPU and memory from them",
	},
	{
		finding.BesideOthers([]string{"loader: istio-proxy", "database: istio-proxy"}),
		"other containers ran in the Pods: loader: istio-proxy, database: istio-proxy",
	},
	{finding.Retained("gold"), "the database's volumes were not deleted: the reclaim policy of storage class gold is Retain"},
	{
		finding.HeldBack(12.4),
		"the server was throttled at its CPU limit for 12% of the measured phase: the number depends on that limit",
	},
	{
		finding.Shortened("document.json.gz", 200000, 131072),
		"the summary of the result document has 200000 bytes, of which at most 131072 are kept: see document.json.gz for " +
			"all findings, settings and latencies",
	},
	{finding.Spread(25), "the values span more than 25% of their median"},
	{
		finding.DiskDrift(finding.Fdatasync{Median: 100, P95: 200}, finding.Fdatasync{Median: 300, P95: 400}, 2, 5),
		"disk probe: fdatasync took 100 µs (p95 200 µs) before trial 2 and 300 µs (p95 400 µs) before trial 5",
	},
	{
		finding.CPUDrift(420.123, 548.9, 2, 5),
		"CPU probe: 420.1–548.9 µs (fastest before trial 2, slowest before trial 5)",
	},
	{finding.Changed("a", "sha256 x for trial 1"), "input a changed between trials: sha256 x for trial 1"},
	{
		finding.OutsideRates("lazy", "above", 100, 4000, "rows/s", 2, 6),
		"the capacity of lazy is above the rates that may be offered, 100 to 4000 rows/s, in 2 of 6 rounds",
	},
	{
		finding.FewRounds(1, 5, 2),
		"rounds.atMost (1) is too small for a verdict: the first is possible after 5 rounds (pairs: 2)",
	},
	{
		finding.Differ(finding.EnvironmentsDiffer, "the runs", "kernels", []string{"6.1", "6.6"}),
		"the runs had different kernels: 6.1, 6.6",
	},
	{
		finding.Differ(finding.Unrequested, "a and b", "server images", []string{"x", "y"}),
		"a and b had different server images although the specification is the same: x, y",
	},
	{
		finding.NotExercised("innodb_log_file_size", "a", "b", 5<<20, 96<<20),
		"a and b differ in innodb_log_file_size, and the load used at most 5 MiB of it: the smaller one has 96 MiB",
	},
	{
		finding.OtherLog("a", "b"),
		"a writes a binary log and b does not: the difference includes the cost of the log",
	},
}

func TestTexts(t *testing.T) {
	missing := slices.Sorted(maps.Keys(finding.Table))
	for _, tc := range samples {
		must.Same(t, string(tc.of.Code), tc.text, tc.of.String())
		missing = slices.DeleteFunc(missing, func(c finding.Code) bool { return c == tc.of.Code })
		e, known := finding.Table[tc.of.Code]
		if !known || tc.of.Severity != e.Severity {
			t.Errorf("%s: %+v is not what the table says: %+v", tc.of.Code, tc.of, e)
		}
	}
	if len(missing) > 0 {
		t.Errorf("codes without a sample: %v", missing)
	}
}

// The page of findings has a row for each code and its text, under its severity, and no other.
func TestPage(t *testing.T) {
	optional := regexp.MustCompile(`(?:\[[^]]*\])+`)
	warnings, notices, _ := strings.Cut(docs.Findings, "\n## Notices\n")
	for code, e := range finding.Table {
		of := map[finding.Severity]string{finding.Warning: warnings, finding.Notice: notices}[e.Severity]
		if row := fmt.Sprintf("\n| `%s` | %s | ", code, optional.ReplaceAllString(e.Pattern(), "…")); !strings.Contains(of, row) {
			t.Errorf("docs/reference/findings.md lacks, as a %s, %s", e.Severity, row)
		}
	}
	must.Same(t, "rows of the page, one for each finding", len(finding.Table), strings.Count(docs.Findings, "\n| `"))
}

// Every name and measure of a finding is in its text, and everything that the text names is something that findings have.
func TestTableFitsFindings(t *testing.T) {
	placeholder := regexp.MustCompile(`{([A-Za-z0-9–]+)(?::[0-9+]|:µs)?}`)
	has := map[finding.Code][]string{}
	for _, tc := range samples {
		for name := range tc.of.Where {
			has[tc.of.Code] = append(has[tc.of.Code], name)
		}
		if e := finding.Table[tc.of.Code]; strings.Contains(e.Text, ":+}") {
			continue // all measures
		}
		for _, m := range tc.of.Measures {
			has[tc.of.Code] = append(has[tc.of.Code], m.Name)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(finding.Table)) {
		e := finding.Table[code]
		var named []string
		for _, m := range placeholder.FindAllStringSubmatch(e.Text, -1) {
			named = append(named, strings.Split(m[1], "–")...)
		}
		named = slices.Compact(slices.Sorted(slices.Values(named)))
		mine := slices.Compact(slices.Sorted(slices.Values(has[code])))
		must.Same(t, string(code)+": what findings have, and what the text names", mine, named)
		if strings.ContainsAny(e.Pattern(), "{}") {
			t.Errorf("%s: %s", code, e.Pattern())
		}
	}
}

// Whatever a finding has, what is kept of it in memory is bounded, and can be merged and printed.
func TestCondensed(t *testing.T) {
	f := finding.Rounded("x", "100", "95", 5)
	must.Same(t, "a usual finding", f, f.Condensed(2048, 16))
	large := finding.Finding{Code: "Unknown", Severity: finding.Warning, Where: map[string]string{}}
	for i := range 100 {
		name := fmt.Sprintf("%02d%s", i, strings.Repeat("ä", 50))
		large.Where[name] = strings.Repeat("ö", 301)
		large.Measures = append(large.Measures, finding.Measure{Name: name, Unit: name, High: float64(i)})
	}
	short := large.Condensed(2048, 4)
	size := len(short.Code) + len(short.Severity)
	for name, value := range short.Where {
		size += len(name) + len(value)
		if !utf8.ValidString(value) {
			t.Errorf("%q", value)
		}
	}
	for _, m := range short.Measures {
		size += len(m.Name) + len(m.Unit)
	}
	if size > 2048 || len(short.Measures) != 4 || len(short.Where) < 2 || len(large.Where) != 100 {
		t.Errorf("%d bytes, %d measures, %d names", size, len(short.Measures), len(short.Where))
	}
	if merged := finding.Merge([]finding.Finding{short, large, short}); len(merged) != 2 {
		t.Errorf("merged: %v", merged)
	}
}

// What no document could have is not a measure.
func TestMeasuresAreFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		f := finding.HeldBack(v)
		if data, err := json.Marshal(f); err != nil || len(f.Measures) > 0 || !strings.Contains(f.String(), "unknown") {
			t.Errorf("%v: %s, %v: %s", v, data, err, f)
		}
	}
}

// The JSON is what documents and records keep for years.
func TestJSON(t *testing.T) {
	f := finding.Client{Pod: 2, Many: true}.Throttled(2.5)
	const want = `{"code":"ClientThrottled","severity":"Warning","measures":[{"name":"share","low":2.5,"high":2.5,"unit":"%"}],` +
		`"where":{"pod":"2"}}`
	data, err := json.Marshal(f)
	if err != nil || string(data) != want {
		t.Errorf("%v\n%s, want\n%s", err, data, want)
	}
	var read finding.Finding
	if err := json.Unmarshal(data, &read); err != nil || !cmp.Equal(f, read) {
		t.Errorf("%v: %s", err, cmp.Diff(f, read))
	}
}

// A record of a later release has findings that this one has no words for.
func TestUnknownCode(t *testing.T) {
	for text, want := range map[string]string{
		`{"code":"NotYetKnown"}`: "NotYetKnown",
		`{}`:                     "unknown",
		`{"code":"NotYetKnown","where":{"node":"n","a":"b"},"measures":[{"name":"share","low":1,"high":2.34567,"unit":"%"}]}`: "NotYetKnown (a b, node n, share 1–2.346%)",
	} {
		var f finding.Finding
		must.Do(t, json.Unmarshal([]byte(text), &f))
		must.Same(t, "text", want, f.String())
	}
}
