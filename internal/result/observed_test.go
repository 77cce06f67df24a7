// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result_test

import (
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
