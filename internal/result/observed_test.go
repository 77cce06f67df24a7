// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestObservedUsed(t *testing.T) {
	before := result.ProcessFacts{
		Process: "7@1", UserMicros: 100, SystemMicros: 50, ReadBytes: 0, WriteBytes: 4096, ReadCalls: -1, WriteCalls: 5,
		VoluntarySwitches: 900, CPULimitMillis: 1000, ThrottledMicros: 10, MaxRSSBytes: 1,
	}
	after := result.ProcessFacts{
		Process: "7@1", UserMicros: 400, SystemMicros: 50, ReadBytes: 0, WriteBytes: 12288, ReadCalls: 9, WriteCalls: 8,
		VoluntarySwitches: 800, CPULimitMillis: 500, ThrottledMicros: 60, MaxRSSBytes: 3,
	}
	want := result.ProcessFacts{
		Process: "7@1", UserMicros: 300, WriteBytes: 8192, ReadCalls: -1, WriteCalls: 3, VoluntarySwitches: -1,
		CPULimitMillis: 500, ThrottledMicros: 50, MaxRSSBytes: 3,
	}
	o := &result.Observed{Before: &before, After: &after}
	used, known := o.Used()
	if diff := cmp.Diff(want, used); diff != "" || !known {
		t.Errorf("known %t (-want +got):\n%s", known, diff)
	}
	later := after
	later.Process = "8@2"
	for name, o := range map[string]*result.Observed{
		"nothing": nil, "no before": {After: &after}, "no after": {Before: &before}, "another process": {Before: &before, After: &later},
	} {
		if _, known := o.Used(); known || o.Summarize() != nil {
			t.Errorf("%s: something is known", name)
		}
	}
}

func TestObservedSummarize(t *testing.T) {
	node := &result.NodeProbe{CPU: result.WorkTime{Times: 1, Median: 5, P95: 5}}
	facts := func(limit, throttled int64) *result.ProcessFacts {
		return &result.ProcessFacts{Process: "7@1", CPULimitMillis: limit, ThrottledMicros: throttled}
	}
	for name, tc := range map[string]struct {
		observed *result.Observed
		want     *result.ObservedSummary
	}{
		"a probe only":     {&result.Observed{Probe: node}, &result.ObservedSummary{Probe: node, ThrottledMicros: -1, CPULimitMillis: -1}},
		"no limit":         {&result.Observed{Before: facts(0, 0), After: facts(0, 0)}, &result.ObservedSummary{}},
		"a limit came":     {&result.Observed{Before: facts(0, 0), After: facts(500, 9)}, &result.ObservedSummary{ThrottledMicros: 9, CPULimitMillis: 500}},
		"a limit fell":     {&result.Observed{Before: facts(900, 0), After: facts(500, 9)}, &result.ObservedSummary{ThrottledMicros: 9, CPULimitMillis: 500}},
		"unknown":          {&result.Observed{Before: facts(-1, -1), After: facts(500, 9)}, &result.ObservedSummary{ThrottledMicros: -1, CPULimitMillis: -1}},
		"process vanished": {&result.Observed{Before: facts(1, 1)}, nil},
	} {
		must.Same(t, name, tc.want, tc.observed.Summarize())
	}
}

func TestThrottled(t *testing.T) {
	for name, tc := range map[string]struct {
		summary result.Summary
		want    float64
	}{
		"unknown":         {result.Summary{Totals: result.Totals{Micros: 1000}}, -1},
		"not told":        {result.Summary{Totals: result.Totals{Micros: 1000}, Observed: &result.ObservedSummary{ThrottledMicros: -1}}, -1},
		"nothing timed":   {result.Summary{Observed: &result.ObservedSummary{ThrottledMicros: 5}}, -1},
		"a tenth":         {result.Summary{Totals: result.Totals{Micros: 1000}, Observed: &result.ObservedSummary{ThrottledMicros: 100}}, 0.1},
		"on several CPUs": {result.Summary{Totals: result.Totals{Micros: 1000}, Observed: &result.ObservedSummary{ThrottledMicros: 4000}}, 1},
	} {
		must.Same(t, name, tc.want, tc.summary.Throttled())
	}
}

func TestDecodeObservation(t *testing.T) {
	o, err := result.DecodeObservation([]byte(`{"version":1,"process":{"process":"7@1","userMicros":5}}`))
	if err != nil || o.Process == nil || o.Process.UserMicros != 5 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, text := range []string{"", "{", `{"version":2}`} {
		if _, err := result.DecodeObservation([]byte(text)); err == nil {
			t.Errorf("%q is an observation", text)
		}
	}
}

// ofNothing is the SHA-256 of an empty file, ofABC that of "abc", as FIPS 180-4 has it.
const (
	ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	ofABC     = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)

func TestDigest(t *testing.T) {
	must.Same(t, "the digest", ofABC, result.Digest([]byte("abc")))
	must.Same(t, "with its name", "sha256:"+ofNothing, result.NamedDigest(nil))
}

func TestSums(t *testing.T) {
	sums := result.Sums{"b  c": ofNothing, "a": ofABC}
	text := ofABC + "  a\n" + ofNothing + "  b  c\n"
	must.Same(t, "the text", text, string(sums.Text()))
	got, err := result.ParseSums([]byte(text))
	if diff := cmp.Diff(sums, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for name, text := range map[string]string{
		"no line":     ofABC,
		"one space":   ofABC + " a\n",
		"no name":     ofABC + "  \n",
		"short":       ofABC[2:] + "  a\n",
		"no hex":      strings.Repeat("x", 64) + "  a\n",
		"twice":       ofABC + "  a\n" + ofNothing + "  a\n",
		"empty line":  ofABC + "  a\n\n" + ofABC + "  b\n",
		"cut in name": ofABC + "  a\n" + ofABC + "  b",
	} {
		if sums, err := result.ParseSums([]byte(text)); err == nil {
			t.Errorf("%s: it is read as %v", name, sums)
		}
	}
}

func TestProgress(t *testing.T) {
	rows := int64(10000)
	for _, tc := range []struct {
		progress   result.Progress
		line, text string
	}{
		{result.Progress{Seconds: 1, Phase: "start"}, `{"kind":"benchrun-progress","seconds":1,"phase":"start"}`, "   1 s: start"},
		{
			result.Progress{Seconds: 12, Phase: "measure", Rows: &rows, Note: `it said "x", 3 rows`},
			`{"kind":"benchrun-progress","seconds":12,"phase":"measure","rows":10000,"note":"it said \"x\", 3 rows"}`,
			`  12 s: measure, 10000 rows, it said "x", 3 rows`,
		},
	} {
		must.Same(t, "the line", tc.line, tc.progress.Line())
		got, is := result.ParseProgress(tc.line)
		if diff := cmp.Diff(tc.progress, got); !is || diff != "" {
			t.Errorf("%s: progress %t (-want +got):\n%s", tc.line, is, diff)
		}
		must.Same(t, "for people", tc.text, tc.progress.String())
	}
	for _, line := range []string{
		"", "error: x", "benchrun-document 1 AAAA", "   1 s: measure, 10 rows", "{", `{"phase":"measure","seconds":1}`,
		`{"kind":"benchrun-progress"}`, `{"kind":"benchrun-progress","phase":"a","seconds":"1"}`,
	} {
		if p, is := result.ParseProgress(line); is {
			t.Errorf("%q is taken for progress: %v", line, p)
		}
	}
}
