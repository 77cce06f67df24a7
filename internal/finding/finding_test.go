// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

// samples has a finding of every code, with its text.
var samples = []struct {
	of   finding.Finding
	text string
}{
	{finding.Short(false), "the measured phase took less than a second: ask for more rows"},
	{finding.Short(true), "the measured phase took less than a second: let the program do more"},
	{finding.Retried(12, 3.25), "12 transactions, 3.2 % of all, were rolled back and tried again"},
	{
		finding.Client{}.Busy(89.4, finding.CPUBound{NodeCPUs: 4}),
		"the client used 89 % of the node's 4 CPUs: it may be what was measured",
	},
	{
		finding.Client{Pod: 2, Many: true}.Busy(90, finding.CPUBound{Connections: 8}),
		"the client of Pod 2 used 90 % of 8 CPUs, one for each connection: it may be what was measured",
	},
	{
		finding.Client{}.Busy(90, finding.CPUBound{LimitMillis: 500}),
		"the client used 90 % of its limit of 500 thousandths of a CPU: it may be what was measured",
	},
	{
		finding.Client{}.Busy(85, finding.CPUBound{Connections: 1}),
		"the client used 85 % of one CPU, and one connection cannot use more: it may be what was measured",
	},
	{
		finding.Client{Pod: 3, Many: true}.Busy(85, finding.CPUBound{}),
		"the client of Pod 3 used 85 % of one CPU, and one connection cannot use more: it may be what was measured",
	},
	{
		finding.Client{Pod: 0, Many: true}.Throttled(1),
		"the client of Pod 0 was held back at its CPU limit for 1.0 % of the time",
	},
	{
		finding.Late(7), "7 insert latencies are too long: they last until the client had made its next statement, because its " +
			"kernel does not say when an answer came",
	},
	{finding.FlushedLate("2"), "commits are not durable: innodb_flush_log_at_trx_commit is 2"},
	{finding.SyncedLate("0"), "the binary log is not durable: sync_binlog is 0"},
	{finding.Rounded("x", "100", "95", 5), "the server made 95 of x=100, a difference of 5.0 %"},
	{
		finding.Debt("dirty pages", 5, 1940, 0),
		"the server did not come to rest: after 5s it had 1940 dirty pages (the goal is 0)",
	},
	{finding.Unobserved(), "the observer in the database's Pod did not answer: what the server used is unknown"},
	{finding.Left("b", "no"), "the schema b may still be on the server, because removing it failed: no"},
	{finding.Stopped{Limit: 5}.Finding(), "stopped by the limit of 5 s"},
	{
		finding.Stopped{Limit: 5, Rows: 1000, Planned: 1_000_000_000}.Finding(),
		"stopped by the limit of 5 s, after 1000 of 1000000000 rows",
	},
	{
		finding.Stopped{Limit: 5, Rows: 10, Planned: 50, Estimate: 25.2}.Finding(),
		"stopped by the limit of 5 s, after 10 of 50 rows; at the terminal rate all would take 25 s",
	},
	{
		finding.Missed{Rate: 100, Reached: 90.26, Share: 90.3, Unit: "rows/s"}.Finding(),
		"the rate of 100 rows/s was not reached: 90.3 rows/s, 90.3 % of those that were due",
	},
	{
		finding.Missed{Rate: 100, Reached: 90, Share: 90, Waiting: 3, Unit: "transactions/s"}.Finding(),
		"the rate of 100 transactions/s was not reached: 90.0 transactions/s, 90.0 % of those that were due; 3 still waited at the " +
			"end, and are in no latency",
	},
	{finding.Anew("sysbench", 2), "sysbench connected anew 2 times while it measured"},
	{finding.PartOf("a.csv", 100, 40), "of the 100 rows of a.csv, the first 40 were asked for: bulkInsert.rows"},
	{finding.OtherRows("the contest", 7, 1e9), "deviates from the contest: 7 rows in place of 1000000000"},
	{finding.OtherServer("the contest", "11.8", "5.1.x"), "deviates from the contest: the server is 11.8, not 5.1.x"},
	{
		finding.OtherHardware("the contest"),
		"deviates from the contest: hardware is not limited to 8 cores, 16 GB of memory and 8 drives: see the environment",
	},
	{finding.OfProgram("it was [cold] {x}"), "it was [cold] {x}"},
	{finding.Arrived(finding.Pods{Names: "ns/a and 2 more"}), "Pods came to the database's node during the attempt: ns/a and 2 more"},
	{
		finding.Departed(finding.Pods{Names: "ns/a", Others: []finding.PodCount{{"from Jobs", 3}, {"without an owner", 1}}}),
		"Pods left the database's node during the attempt: ns/a, 3 from Jobs, 1 without an owner",
	},
	{
		finding.Departed(finding.Pods{Others: []finding.PodCount{{"from Jobs", 3}}}),
		"Pods left the database's node during the attempt: 3 from Jobs",
	},
	{
		finding.Troubled([]string{"DiskPressure", "PIDPressure"}),
		"the database's node had conditions that disturb: DiskPressure, PIDPressure",
	},
	{
		finding.Unguaranteed([]string{"database Burstable"}),
		"Pods are not Guaranteed (database Burstable): others on their nodes may take CPU and memory from them",
	},
	{
		finding.HeldBack(12.4),
		"the server was held back at its CPU limit for 12 % of the measured phase: the number is also that of the limit",
	},
	{
		finding.Shortened("document.json.gz", 200000, 131072),
		"the summary of the result document has 200000 bytes, at most 131072 are kept: see document.json.gz for all warnings, " +
			"settings and latencies",
	},
	{finding.Spread(25), "the values differ by more than 25 % of their median"},
	{
		finding.SpreadFollows(finding.SpreadFollowsDisk, 25, 0.9),
		"the values differ by more than 25 % of their median, and follow fdatasync's latency before each trial (rank correlation " +
			"0.90): the node explains it",
	},
	{
		finding.SpreadFollows(finding.SpreadFollowsCPU, 25, 0.9),
		"the values differ by more than 25 % of their median, and follow the speed of the node's CPU before each trial (rank " +
			"correlation 0.90): the node explains it",
	},
	{
		finding.DiskDrift(finding.Fdatasync{Median: 100, P95: 200}, finding.Fdatasync{Median: 300, P95: 400}, 2, 5),
		"fdatasync took from 100 µs (p95 200) before trial 2 to 300 µs (p95 400) before trial 5: the disk was not the same for all " +
			"trials",
	},
	{
		finding.CPUDrift(420.123, 548.9, 2, 5),
		"a fixed piece of work took from 420.1 µs of the node's CPU before trial 2 to 548.9 µs before trial 5: the CPU was not as " +
			"fast for all trials",
	},
	{
		finding.OtherDisk(finding.Fdatasync{Median: 100, P95: 200}, finding.Fdatasync{Median: 300, P95: 400}, "before"),
		"fdatasync took 100 µs on the data volume (p95 200); in run before, the last that asked for the same, 300 µs (p95 400)",
	},
	{
		finding.OtherCPU(420, 0.01234567, "before"),
		"a fixed piece of work took 420 µs of the node's CPU; in run before, the last that asked for the same, 0.01235 µs",
	},
	{finding.Changed("a", "sha256 x for trial 1"), "input a was not the same for all trials: sha256 x for trial 1"},
	{
		finding.FewRounds(1, 5, 2),
		"rounds (1) is too small for any verdict: the first is possible after 5 rounds (comparisons: 2)",
	},
	{
		finding.Differ(finding.EnvironmentsDiffer, "the runs", "kernels", []string{"6.1", "6.6"}),
		"the runs had different kernels: 6.1, 6.6",
	},
	{
		finding.Differ(finding.Unrequested, "a and b", "server images", []string{"x", "y"}),
		"a and b had different server images: x, y, although the same is asked for",
	},
	{
		finding.OtherLog("a", "b"),
		"a writes a binary log and b does not: what the log costs is part of the difference",
	},
}

func TestTexts(t *testing.T) {
	missing := finding.Codes()
	for _, tc := range samples {
		if diff := cmp.Diff(tc.text, tc.of.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.of.Code, diff)
		}
		missing = slices.DeleteFunc(missing, func(c finding.Code) bool { return c == tc.of.Code })
		e, known := finding.Lookup(tc.of.Code)
		if !known || tc.of.Severity != e.Severity || e.Means == "" {
			t.Errorf("%s: %+v is not what the table says: %+v", tc.of.Code, tc.of, e)
		}
	}
	if len(missing) > 0 {
		t.Errorf("codes without a sample: %v", missing)
	}
}

// Every name and measure of a finding is in its text, and everything that the text names is something that findings have.
func TestTableFitsFindings(t *testing.T) {
	placeholder := regexp.MustCompile(`{([A-Za-z0-9]+)(?::[0-9g+])?}`)
	has := map[finding.Code][]string{}
	for _, tc := range samples {
		for name := range tc.of.Where {
			has[tc.of.Code] = append(has[tc.of.Code], name)
		}
		if e, _ := finding.Lookup(tc.of.Code); strings.Contains(e.Text, ":+}") {
			continue // all measures
		}
		for _, m := range tc.of.Measures {
			has[tc.of.Code] = append(has[tc.of.Code], m.Name)
		}
	}
	for _, code := range finding.Codes() {
		e, _ := finding.Lookup(code)
		var named []string
		for _, m := range placeholder.FindAllStringSubmatch(e.Text, -1) {
			named = append(named, m[1])
		}
		named = slices.Compact(slices.Sorted(slices.Values(named)))
		mine := slices.Compact(slices.Sorted(slices.Values(has[code])))
		if diff := cmp.Diff(mine, named); diff != "" {
			t.Errorf("%s: what findings have and what the text names (-have +named):\n%s", code, diff)
		}
		if strings.ContainsAny(e.Pattern(), "{}") {
			t.Errorf("%s: %s", code, e.Pattern())
		}
	}
}

// Findings that differ only in what they measured are one, and can be merged with others later; other names are other findings.
func TestMerge(t *testing.T) {
	list := []finding.Finding{
		finding.Debt("dirty pages", 5, 1940, 81), finding.Unobserved(), finding.Debt("undo records", 5, 7, 0),
		finding.Debt("dirty pages", 6, 1200, 81), finding.Client{Pod: 1, Many: true}.Throttled(2), finding.Unobserved(),
		finding.Client{Pod: 2, Many: true}.Throttled(3), finding.Stopped{Limit: 5}.Finding(),
		finding.Stopped{Limit: 5, Rows: 1, Planned: 2}.Finding(),
	}
	type said struct {
		Text string
		From []int
	}
	want := []said{
		{"the server did not come to rest: after 5–6s it had 1200–1940 dirty pages (the goal is 81)", []int{0, 3}},
		{"the observer in the database's Pod did not answer: what the server used is unknown", []int{1, 5}},
		{"the server did not come to rest: after 5s it had 7 undo records (the goal is 0)", []int{2}},
		{"the client of Pod 1 was held back at its CPU limit for 2.0 % of the time", []int{4}},
		{"the client of Pod 2 was held back at its CPU limit for 3.0 % of the time", []int{6}},
		{"stopped by the limit of 5 s", []int{7}},
		{"stopped by the limit of 5 s, after 1 of 2 rows", []int{8}},
	}
	merged := finding.Merge(list)
	var got []said
	for _, m := range merged {
		got = append(got, said{m.String(), m.From})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list[0].Measures[0].High != 5 {
		t.Error("merging has changed what was merged")
	}
	again := finding.Merge([]finding.Finding{finding.Debt("dirty pages", 9, 90, 81), merged[0].Finding})
	if text := again[0].String(); len(again) != 1 ||
		text != "the server did not come to rest: after 5–9s it had 90–1940 dirty pages (the goal is 81)" {
		t.Errorf("merged again: %s", text)
	}
}

// Whatever a finding has, what is kept of it in memory is bounded, and can be merged and printed.
func TestCondensed(t *testing.T) {
	f := finding.Rounded("x", "100", "95", 5)
	if diff := cmp.Diff(f, f.Condensed(2048, 16)); diff != "" {
		t.Errorf("a usual finding (-want +got):\n%s", diff)
	}
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
		if _, err := json.Marshal(finding.HeldBack(v)); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// What one finding says and what several say, of findings that this program makes. Measures have a range; names, settings and the
// words of a user's own program have none.
func TestMergedTexts(t *testing.T) {
	type list = []finding.Finding
	one := func(share float64) finding.Finding {
		return finding.Client{}.Busy(share, finding.CPUBound{Connections: 1})
	}
	of := func(pod int, share float64) finding.Finding {
		return finding.Client{Pod: pod, Many: true}.Throttled(share)
	}
	from := func(counts ...finding.PodCount) finding.Finding { return finding.Arrived(finding.Pods{Others: counts}) }
	for name, tc := range map[string]struct {
		list list
		want []string
	}{
		"none": {},
		"a busy client": {
			list{one(85), one(9), one(100)},
			[]string{"the client used 9–100 % of one CPU, and one connection cannot use more: it may be what was measured"},
		},
		"ranges that are written alike": {
			list{one(85.1), one(84.9)},
			[]string{"the client used 85 % of one CPU, and one connection cannot use more: it may be what was measured"},
		},
		"retries": {
			list{finding.Retried(20, 1.5), finding.Retried(3, 0.2)},
			[]string{"3–20 transactions, 0.2–1.5 % of all, were rolled back and tried again"},
		},
		"a load that was stopped": {
			list{
				finding.Stopped{Limit: 60, Rows: 1000, Planned: 20000, Estimate: 1200}.Finding(),
				finding.Stopped{Limit: 60, Rows: 900, Planned: 20000, Estimate: 1333}.Finding(),
			},
			[]string{"stopped by the limit of 60 s, after 900–1000 of 20000 rows; at the terminal rate all would take 1200–1333 s"},
		},
		"a rate": {
			list{
				finding.Missed{Rate: 100, Reached: 90.1, Share: 90.1, Waiting: 5, Unit: "transactions/s"}.Finding(),
				finding.Missed{Rate: 100, Reached: 88, Share: 87.9, Waiting: 50, Unit: "transactions/s"}.Finding(),
				finding.Missed{Rate: 100, Reached: 88, Share: 87.9, Waiting: 50, Unit: "rows/s"}.Finding(),
			},
			[]string{
				"the rate of 100 transactions/s was not reached: 88.0–90.1 transactions/s, 87.9–90.1 % of those that were due; 5–50 still " +
					"waited at the end, and are in no latency",
				"the rate of 100 rows/s was not reached: 88.0 rows/s, 87.9 % of those that were due; 50 still waited at the end, and are " +
					"in no latency",
			},
		},
		"connections": {
			list{finding.Anew("sysbench", 2), finding.Anew("sysbench", 1)}, []string{"sysbench connected anew 1–2 times while it measured"},
		},
		"settings": {
			list{finding.FlushedLate("0"), finding.FlushedLate("2"), finding.Rounded("v", "8000000", "8388608", 4.9), finding.Rounded("v", "4000000", "4194304", 4.9)},
			[]string{
				"commits are not durable: innodb_flush_log_at_trx_commit is 0", "commits are not durable: innodb_flush_log_at_trx_commit is 2",
				"the server made 8388608 of v=8000000, a difference of 4.9 %", "the server made 4194304 of v=4000000, a difference of 4.9 %",
			},
		},
		"Pods": {
			list{of(0, 2.5), of(3, 3.5), of(0, 1.5), finding.Arrived(finding.Pods{Names: "b/28 and 2 more"}), finding.Arrived(finding.Pods{Names: "b/29 and 2 more"})},
			[]string{
				"the client of Pod 0 was held back at its CPU limit for 1.5–2.5 % of the time",
				"the client of Pod 3 was held back at its CPU limit for 3.5 % of the time",
				"Pods came to the database's node during the attempt: b/28 and 2 more",
				"Pods came to the database's node during the attempt: b/29 and 2 more",
			},
		},
		"Pods that are not named": {
			list{
				from(finding.PodCount{"from Jobs", 3}, finding.PodCount{"without an owner", 1}),
				from(finding.PodCount{"from Jobs", 12}, finding.PodCount{"without an owner", 2}), from(finding.PodCount{"from DaemonSets", 1}),
			},
			[]string{
				"Pods came to the database's node during the attempt: 3–12 from Jobs, 1–2 without an owner",
				"Pods came to the database's node during the attempt: 1 from DaemonSets",
			},
		},
		"versions": {
			list{finding.OtherServer("c", "5.1.73", "5.1.x"), finding.OtherServer("c", "5.1.72", "5.1.x")},
			[]string{"deviates from c: the server is 5.1.73, not 5.1.x", "deviates from c: the server is 5.1.72, not 5.1.x"},
		},
		"a program's own words": {
			list{finding.OfProgram("lost 3 rows"), finding.OfProgram("lost 5 rows"), finding.OfProgram("lost 3 rows")},
			[]string{"lost 3 rows", "lost 5 rows"},
		},
	} {
		merged := finding.Merge(tc.list)
		var got []string
		var from []int
		var parts list
		for _, m := range merged {
			got, from, parts = append(got, m.String()), append(from, m.From...), append(parts, m.Finding)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		slices.Sort(from)
		for i := range from {
			if from[i] != i || len(from) != len(tc.list) {
				t.Fatalf("%s: made of %v", name, from)
			}
		}
		if again := finding.Merge(append(parts, tc.list...)); len(again) != len(merged) {
			t.Errorf("%s: merged again with its own: %v", name, again)
		}
	}
}

// Findings of strangers, and of later releases, are merged by their identity like all others, and nothing that they say makes two
// that differ look alike.
func TestMergeStrangers(t *testing.T) {
	a := finding.Measure{Name: "a", Low: 1, High: 1, Unit: "s"}
	twice := finding.Finding{Code: "Later", Severity: finding.Notice, Measures: []finding.Measure{a, {Name: "a", Low: 5, High: 7, Unit: "s"}}}
	other := finding.Finding{Code: "Later", Severity: finding.Warning, Measures: []finding.Measure{{Name: "a", Low: 3, High: 4, Unit: "s"}, {Name: "a", Low: 6, High: 6, Unit: "s"}}}
	want := finding.Finding{Code: "Later", Severity: finding.Warning, Measures: []finding.Measure{{Name: "a", Low: 1, High: 4, Unit: "s"}, {Name: "a", Low: 5, High: 7, Unit: "s"}}}
	merged := finding.Merge([]finding.Finding{twice, other})
	if len(merged) != 1 || cmp.Diff(want, merged[0].Finding) != "" || merged[0].String() != "Later (a 1–4 s, a 5–7 s)" {
		t.Errorf("%+v", merged)
	}
	alike := []finding.Finding{
		{Code: `X "a" in "s"`},
		{Code: "X", Measures: []finding.Measure{a}},
		{Code: `X "a"="b"`},
		{Code: "X", Where: map[string]string{"a": "b"}},
		{Code: "X", Where: map[string]string{"a": `b" "c"="d`}},
		{Code: "X", Where: map[string]string{"a": "b", "c": "d"}},
		{Code: "X"},
		{},
		{Code: "X", Where: map[string]string{`a"="b" "c`: "d"}},
		{Code: "X", Measures: []finding.Measure{a, a}},
	}
	if merged := finding.Merge(append(alike, alike...)); len(merged) != len(alike) {
		t.Errorf("%d of %d: %+v", len(merged), len(alike), merged)
	}
}

// Whatever findings a document has, merging and printing them does not fail, and every one is in what was merged.
func FuzzMerge(f *testing.F) {
	f.Add(`[{"code":"ServerNotAtRest","measures":[{"name":"seconds","low":5,"high":6}]},{"code":"ServerNotAtRest"}]`)
	f.Add(`[{"code":"X \"a\" in \"\"","measures":[]},{"code":"X","measures":[{"name":"a"}]},{"code":"","where":{"":""}}]`)
	f.Add(`[{"code":"PodsArrived","measures":[{"name":"from Jobs","low":1,"high":1}]},{"code":"WideSpread","where":{"bound":"{["}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var list []finding.Finding
		if json.Unmarshal([]byte(text), &list) != nil {
			return
		}
		n, short := 0, make([]finding.Finding, 0, len(list))
		for _, m := range finding.Merge(list) {
			n += len(m.From)
			_ = m.String()
		}
		for _, f := range list {
			short = append(short, f.Condensed(64, 2))
		}
		for _, m := range finding.Merge(short) {
			_ = m.String()
		}
		if n != len(list) {
			t.Errorf("%d of %d", n, len(list))
		}
	})
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
		`{"code":"NotYetKnown","where":{"node":"n","a":"b"},"measures":[{"name":"share","low":1,"high":2.34567,"unit":"%"}]}`: "NotYetKnown (a b, node n, share 1–2.346 %)",
	} {
		var f finding.Finding
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		if got := f.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
