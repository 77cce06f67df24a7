// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Findings that differ only in what they measured are one, and can be merged with others later; other names are other findings.
func TestMerge(t *testing.T) {
	list := []finding.Finding{
		finding.Debt("dirty pages", 5, 1940, 81), finding.Unobserved(), finding.Debt("undo records", 5, 7, 0),
		finding.Debt("dirty pages", 6, 1200, 81), finding.Client{Pod: 1, Many: true}.Throttled(2), finding.Unobserved(),
		finding.Client{Pod: 2, Many: true}.Throttled(3), finding.Stopped{Limit: 5}.Finding(),
		finding.Stopped{Limit: 5, Rows: 1, Planned: 2}.Finding(),
	}
	type mergedText struct {
		Text string
		From []int
	}
	want := []mergedText{
		{"the server did not settle: after 5–6 s it still had 1200–1940 dirty pages (goal: 81)", []int{0, 3}},
		{"the observer in the database Pod did not answer: the server's resource usage is unknown", []int{1, 5}},
		{"the server did not settle: after 5 s it still had 7 undo records (goal: 0)", []int{2}},
		{"the client of Pod 1 was throttled at its CPU limit for 2.0% of the time", []int{4}},
		{"the client of Pod 2 was throttled at its CPU limit for 3.0% of the time", []int{6}},
		{"stopped at the limit of 5 s", []int{7}},
		{"stopped at the limit of 5 s, after 1 of 2 rows", []int{8}},
	}
	merged := finding.Merge(list)
	var got []mergedText
	for _, m := range merged {
		got = append(got, mergedText{m.String(), m.From})
	}
	must.Same(t, "", want, got)
	must.Same(t, "merging has changed what was merged", float64(5), list[0].Measures[0].High)
	again := finding.Merge([]finding.Finding{finding.Debt("dirty pages", 9, 90, 81), merged[0].Finding})
	if text := again[0].String(); len(again) != 1 ||
		text != "the server did not settle: after 5–9 s it still had 90–1940 dirty pages (goal: 81)" {
		t.Errorf("merged again: %s", text)
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
	for name, tc := range map[string]struct {
		list list
		want []string
	}{
		"none": {},
		"a busy client": {
			list{one(85), one(9), one(100)},
			[]string{"the client used 9–100% of one CPU, the most that one connection can use: it may have been the bottleneck"},
		},
		"ranges that are written alike": {
			list{one(85.1), one(84.9)},
			[]string{"the client used 85% of one CPU, the most that one connection can use: it may have been the bottleneck"},
		},
		"retries": {
			list{finding.Retried(20, 1.5), finding.Retried(3, 0.2)},
			[]string{"3–20 transactions (0.2–1.5% of all) were rolled back and retried"},
		},
		"a load that was stopped": {
			list{
				finding.Stopped{Limit: 60, Rows: 1000, Planned: 20000, Estimate: 1200}.Finding(),
				finding.Stopped{Limit: 60, Rows: 900, Planned: 20000, Estimate: 1333}.Finding(),
			},
			[]string{"stopped at the limit of 60 s, after 900–1000 of 20000 rows; at the terminal rate, all rows would take 1200–1333 s"},
		},
		"a rate": {
			list{
				finding.Missed{Rate: 100, Reached: 90.1, Share: 90.1, Waiting: 5, Unit: "transactions/s"}.Finding(),
				finding.Missed{Rate: 100, Reached: 88, Share: 87.9, Waiting: 50, Unit: "transactions/s"}.Finding(),
				finding.Missed{Rate: 100, Reached: 88, Share: 87.9, Waiting: 50, Unit: "rows/s"}.Finding(),
			},
			[]string{
				"the rate of 100 transactions/s was not reached: 88.0–90.1 transactions/s, 87.9–90.1% of the offered load; 5–50 were still " +
					"queued at the end and have no latency",
				"the rate of 100 rows/s was not reached: 88.0 rows/s, 87.9% of the offered load; 50 were still queued at the end and " +
					"have no latency",
			},
		},
		"connections": {list{finding.Anew("sysbench", 2), finding.Anew("sysbench", 1)}, []string{"sysbench reconnected 1–2× during the measurement"}},
		"settings": {
			list{finding.FlushedLate("innodb_flush_log_at_trx_commit", "0"), finding.FlushedLate("innodb_flush_log_at_trx_commit", "2"), finding.Rounded("v", "8000000", "8388608", 4.9), finding.Rounded("v", "4000000", "4194304", 4.9)},
			[]string{
				"commits are not durable: innodb_flush_log_at_trx_commit is 0", "commits are not durable: innodb_flush_log_at_trx_commit is 2",
				"the server rounded v=8000000 to 8388608, which is 4.9% off", "the server rounded v=4000000 to 4194304, which is 4.9% off",
			},
		},
		"Pods": {
			list{of(0, 2.5), of(3, 3.5), of(0, 1.5), finding.Arrived("b/28 and 2 more", 0), finding.Arrived("b/29 and 2 more", 0)},
			[]string{
				"the client of Pod 0 was throttled at its CPU limit for 1.5–2.5% of the time",
				"the client of Pod 3 was throttled at its CPU limit for 3.5% of the time",
				"Pods started on the database node during the attempt: b/28 and 2 more, and others",
			},
		},
		"Pods that are not named": {
			list{finding.Arrived("", 3), finding.Arrived("", 12)},
			[]string{"Pods started on the database node during the attempt: 3–12 of other namespaces"},
		},
		"the same Pods": {
			list{finding.Departed("b/28", 0), finding.Departed("b/28", 0), finding.Arrived("b/28", 0)},
			[]string{"Pods left the database node during the attempt: b/28", "Pods started on the database node during the attempt: b/28"},
		},
		"Pods of which some are named": {
			list{
				finding.Departed("b/28", 3),
				finding.Departed("b/29", 1), finding.Departed("b/30", 0),
			},
			[]string{
				"Pods left the database node during the attempt: b/28, and others, 1–3 of other namespaces",
				"Pods left the database node during the attempt: b/30",
			},
		},
		"versions": {
			list{finding.OtherServer("c", "5.1.73", "5.1.x"), finding.OtherServer("c", "5.1.72", "5.1.x")},
			[]string{"deviates from c: server version 5.1.73 instead of 5.1.x", "deviates from c: server version 5.1.72 instead of 5.1.x"},
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
		must.Same(t, name, tc.want, got)
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
		must.Same(t, "findings in what was merged", len(list), n)
	})
}
