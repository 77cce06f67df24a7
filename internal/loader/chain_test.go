// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrun-dev/benchrun/internal/result"
)

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
	if diff := cmp.Diff(want, values(perSecond(series, rows)), cmpopts.EquateApprox(0, 1)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
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

// What nobody has observed is left out, and not zero.
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
	if diff := cmp.Diff(want, values(deviceCosts(o, 10))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
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
