// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// probed is an accepted trial with a value, before which the node was like that.
func probed(trial int, value float64, median, p95, work int64) *result.Record {
	return &result.Record{Trial: trial, Outcome: result.OutcomeAccepted, Summary: &result.Summary{
		Totals:  result.Totals{Micros: 1_000_000},
		Metrics: []result.Metric{{Name: "rowsPerSecond", Value: value, Unit: "rows/s", Better: "higher"}},
		Observed: &result.ObservedSummary{ThrottledMicros: -1, Probe: &result.NodeProbe{
			Fdatasync: result.FsyncLatency{Calls: 75, Median: median, P95: p95, Max: p95},
			CPU:       result.WorkTime{Times: 11, Median: work, P95: work},
		}},
	}}
}

// alike are trials before which the node was nearly the same.
func alike(first, last int) []*result.Record {
	var list []*result.Record
	for i := first; i <= last; i++ {
		list = append(list, probed(i, 1, 105, 200, 500_000))
	}
	return list
}

// unseen is a trial without an observer.
func unseen(trial int, value float64) *result.Record {
	r := probed(trial, value, 1, 1, 1)
	r.Summary.Observed = nil
	return r
}

// limited is a trial whose disk was limited, before which the node was like that.
func limited(trial int, median, p95 int64) *result.Record {
	r := probed(trial, 1, median, p95, 500_000)
	r.Fingerprint = &result.Fingerprint{BlockIO: "write 100/s on 254:0"}
	return r
}

// onDisk are trials before which the disk had these medians, with the same 95th percentile.
func onDisk(p95 int64, medians ...int64) []*result.Record {
	var list []*result.Record
	for i, median := range medians {
		list = append(list, probed(i+1, 1, median, p95, 500_000))
	}
	return list
}

func TestProbeFindings(t *testing.T) {
	unmeasured := probed(1, 1, -1, -1, -1)
	unmeasured.Summary.Observed.Probe.Fdatasync.Calls = 0
	for name, tc := range map[string]struct {
		records []*result.Record
		want    []string
	}{
		"nothing":             {},
		"nobody saw it":       {[]*result.Record{unseen(1, 5), unseen(2, 6)}, nil},
		"it was not measured": {[]*result.Record{unmeasured, probed(2, 1, 100, 200, 500_000)}, nil},
		"alike":               {[]*result.Record{probed(1, 1, 100, 300, 500_000), probed(2, 1, 125, 200, 620_000)}, nil},
		"limited":             {[]*result.Record{limited(1, 300, 98_000), limited(2, 2000, 97_000)}, nil},
		"in memory":           {[]*result.Record{probed(1, 1, 1, 2, 500_000), probed(2, 1, 4, 9, 500_000)}, nil},
		"the disk": {
			onDisk(200, 110, 104, 130, 200, 390, 400),
			[]string{"disk probe: fdatasync took 104 µs (p95 200 µs) before trial 2 and 400 µs (p95 200 µs) before trial 6"},
		},
		"the disk became faster": {
			onDisk(200, 400, 380, 210, 150, 110),
			[]string{"disk probe: fdatasync took 110 µs (p95 200 µs) before trial 5 and 400 µs (p95 200 µs) before trial 1"},
		},
		"the disk, in no order": {onDisk(200, 110, 400, 104, 390, 108, 380), nil},
		"too few trials":        {onDisk(200, 104, 130, 200, 400), nil},
		"the disk's limit": {
			[]*result.Record{limited(1, 104, 200), limited(2, 130, 200), limited(3, 200, 200), limited(4, 300, 200), limited(5, 400, 200)},
			nil,
		},
		"the disk's slowest calls": {
			[]*result.Record{
				probed(1, 1, 110, 156, 500_000), probed(2, 1, 104, 180, 500_000), probed(3, 1, 105, 300, 500_000),
				probed(4, 1, 106, 900, 500_000), probed(5, 1, 104, 1785, 500_000),
			},
			[]string{"disk probe: fdatasync took 110 µs (p95 156 µs) before trial 1 and 104 µs (p95 1785 µs) before trial 5"},
		},
		"the CPU": {
			[]*result.Record{probed(4, 1, 100, 200, 500_000), probed(5, 1, 100, 200, 640_100)},
			[]string{"CPU probe: 500–640.1 µs (fastest before trial 4, slowest before trial 5)"},
		},
		"one of many, and one more": {
			slices.Concat(alike(1, 18), []*result.Record{probed(19, 1, 900, 950, 500_000), probed(20, 1, 100, 110, 500_000)}),
			nil,
		},
		"several of many": {
			slices.Concat(alike(1, 15), []*result.Record{
				probed(16, 1, 400, 410, 500_000), probed(17, 1, 410, 420, 500_000), probed(18, 1, 420, 430, 500_000),
				probed(19, 1, 430, 440, 500_000), probed(20, 1, 440, 450, 500_000),
			}),
			[]string{"disk probe: fdatasync took 105 µs (p95 200 µs) before trial 2 and 430 µs (p95 440 µs) before trial 19"},
		},
	} {
		must.Same(t, name, tc.want, finding.Texts(stats.ProbeFindings(tc.records)))
	}
}

// Of runs on a steady disk, whose probes scatter, at most a twentieth say that it was not the same. Of those on a disk that
// becomes half as fast nearly all do.
func TestDiskDriftByChance(t *testing.T) {
	const runs = 2000
	random := rand.New(rand.NewPCG(7, 8))
	share := func(trials int, slower float64) float64 {
		said := 0
		for range runs {
			var records []*result.Record
			for i := range trials {
				median := 200 * math.Exp(0.12*random.NormFloat64()) * math.Pow(slower, float64(i)/float64(trials-1))
				records = append(records, probed(i+1, 1, int64(median), int64(2*median*math.Exp(0.4*math.Abs(random.NormFloat64()))), 1))
			}
			if len(stats.ProbeFindings(records)) > 0 {
				said++
			}
		}
		return float64(said) / runs
	}
	// The level is exact: two standard errors of the simulation are no excess.
	most := stats.ErrorProbability + 2*math.Sqrt(stats.ErrorProbability*(1-stats.ErrorProbability)/runs)
	for _, trials := range []int{3, 5, 6, 12, 30, 120} {
		if steady := share(trials, 1); steady > most {
			t.Errorf("%d trials: the disk is not the same in %.1f%% of runs on a steady one", trials, 100*steady)
		}
	}
	if found := share(30, 2); found < 0.95 {
		t.Errorf("a disk that becomes half as fast is found in %.1f%% of runs", 100*found)
	}
}

func TestThrottledWarning(t *testing.T) {
	held := func(share float64) *result.Record {
		r := probed(1, 1, 100, 100, 100)
		r.Summary.Observed.ThrottledMicros = int64(share * 1e6)
		return r
	}
	said := func(list []finding.Finding) (all []string) {
		for _, w := range list {
			all = append(all, w.String())
		}
		return all
	}
	const text = "the server was throttled at its CPU limit for 11–20% of the measured phase: the number depends on that limit"
	got := stats.PointWarnings([]*result.Record{held(0.11), held(0.2), held(0.009), unseen(4, 1)}, []float64{1, 1, 1, 1})
	must.Same(t, "warnings", []string{text + " (2 of 4 trials)"}, said(got))
	const most = "the server was throttled at its CPU limit for 100% of the measured phase: the number depends on that limit"
	got = stats.PointWarnings([]*result.Record{held(3)}, []float64{1})
	must.Same(t, "on several CPUs", []string{most}, said(got))
}
