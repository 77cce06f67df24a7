// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
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
	earlier := stats.Probe{FdatasyncMicros: 100, FdatasyncP95Micros: 200, WorkNanos: 500_000}
	unmeasured := probed(1, 1, -1, -1, -1)
	unmeasured.Summary.Observed.Probe.Fdatasync.Calls = 0
	const run = "last-week"
	for name, tc := range map[string]struct {
		records []*result.Record
		earlier stats.Probe
		run     string
		want    []string
	}{
		"nothing":             {},
		"nobody saw it":       {[]*result.Record{unseen(1, 5), unseen(2, 6)}, earlier, run, nil},
		"it was not measured": {[]*result.Record{unmeasured, probed(2, 1, 100, 200, 500_000)}, earlier, run, nil},
		"alike":               {[]*result.Record{probed(1, 1, 100, 300, 500_000), probed(2, 1, 125, 200, 620_000)}, earlier, run, nil},
		"limited":             {[]*result.Record{limited(1, 300, 98_000), limited(2, 2000, 97_000)}, earlier, run, nil},
		"in memory":           {[]*result.Record{probed(1, 1, 1, 2, 500_000), probed(2, 1, 4, 9, 500_000)}, stats.Probe{}, "", nil},
		"the disk": {
			onDisk(200, 110, 104, 130, 200, 390, 400),
			stats.Probe{},
			"",
			[]string{"disk probe: fdatasync took 104 µs (p95 200 µs) before trial 2 and 400 µs (p95 200 µs) before trial 6"},
		},
		"the disk became faster": {
			onDisk(200, 400, 380, 210, 150, 110),
			stats.Probe{},
			"",
			[]string{"disk probe: fdatasync took 110 µs (p95 200 µs) before trial 5 and 400 µs (p95 200 µs) before trial 1"},
		},
		"the disk, in no order": {onDisk(200, 110, 400, 104, 390, 108, 380), stats.Probe{}, "", nil},
		"too few trials":        {onDisk(200, 104, 130, 200, 400), stats.Probe{}, "", nil},
		"the disk's limit": {
			[]*result.Record{limited(1, 104, 200), limited(2, 130, 200), limited(3, 200, 200), limited(4, 300, 200), limited(5, 400, 200)},
			stats.Probe{}, "", nil,
		},
		"the disk's slowest calls": {
			[]*result.Record{
				probed(1, 1, 110, 156, 500_000), probed(2, 1, 104, 180, 500_000), probed(3, 1, 105, 300, 500_000),
				probed(4, 1, 106, 900, 500_000), probed(5, 1, 104, 1785, 500_000),
			},
			stats.Probe{},
			"",
			[]string{"disk probe: fdatasync took 110 µs (p95 156 µs) before trial 1 and 104 µs (p95 1785 µs) before trial 5"},
		},
		"the CPU": {
			[]*result.Record{probed(4, 1, 100, 200, 500_000), probed(5, 1, 100, 200, 640_100)},
			stats.Probe{},
			"",
			[]string{"CPU probe: 500–640.1 µs (fastest before trial 4, slowest before trial 5)"},
		},
		"one of many, and one more": {
			slices.Concat(alike(1, 18), []*result.Record{probed(19, 1, 900, 950, 500_000), probed(20, 1, 100, 110, 500_000)}),
			stats.Probe{},
			"", nil,
		},
		"several of many": {
			slices.Concat(alike(1, 15), []*result.Record{
				probed(16, 1, 400, 410, 500_000), probed(17, 1, 410, 420, 500_000), probed(18, 1, 420, 430, 500_000),
				probed(19, 1, 430, 440, 500_000), probed(20, 1, 440, 450, 500_000),
			}),
			stats.Probe{},
			"",
			[]string{"disk probe: fdatasync took 105 µs (p95 200 µs) before trial 2 and 430 µs (p95 440 µs) before trial 19"},
		},
		"another day": {
			[]*result.Record{probed(1, 1, 300, 800, 800_000), probed(2, 1, 310, 820, 810_000)},
			earlier, run,
			[]string{
				"disk probe: fdatasync took 305 µs (p95 810 µs), but 100 µs (p95 200 µs) in run last-week, the last with the same specification",
				"CPU probe: 805 µs, but 500 µs in run last-week, the last with the same specification",
			},
		},
		"the slowest calls of another day": {
			[]*result.Record{probed(1, 1, 100, 1785, 500_000)},
			stats.Probe{FdatasyncMicros: 100, FdatasyncP95Micros: 156},
			run,
			[]string{"disk probe: fdatasync took 100 µs (p95 1785 µs), but 100 µs (p95 156 µs) in run last-week, the last with the same specification"},
		},
	} {
		if diff := cmp.Diff(tc.want, finding.Texts(stats.ProbeFindings(tc.records, tc.earlier, tc.run))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A wide spread is explained only if there are enough trials, the values follow the probe, and in the direction that makes
// sense.
func TestSpreadExplained(t *testing.T) {
	const spread = "the values span more than 25% of their median"
	values := []float64{900, 1000, 700, 1400, 800, 1200}
	point := func(latency func(i int) int64, work func(i int) int64) []*result.Record {
		var records []*result.Record
		for i, v := range values {
			records = append(records, probed(i+1, v, latency(i), 2*latency(i), work(i)))
		}
		return records
	}
	same := func(int) int64 { return 100 }
	slower := func(i int) int64 { return int64(math.Round(1e6 / values[i])) }
	faster := func(i int) int64 { return int64(values[i]) }
	lower := point(faster, same)
	for _, r := range lower {
		r.Summary.Metrics[0].Better = "lower"
	}
	missing := point(slower, same)
	missing[3].Summary.Observed = nil
	swapped := point(slower, same) // the best value has the second best latency, and so on: 1 of 15 pairs
	a, b := swapped[3].Summary.Observed, swapped[5].Summary.Observed
	swapped[3].Summary.Observed, swapped[5].Summary.Observed = b, a
	for name, tc := range map[string]struct {
		records []*result.Record
		want    string
	}{
		"the disk":            {point(slower, same), spread + " and follow the disk probe before each trial (rank correlation 1.00)"},
		"the disk, nearly":    {swapped, spread + " and follow the disk probe before each trial (rank correlation 0.87)"},
		"the CPU":             {point(same, slower), spread + " and follow the CPU probe before each trial (rank correlation 1.00)"},
		"seconds":             {lower, spread + " and follow the disk probe before each trial (rank correlation 1.00)"},
		"the wrong direction": {point(faster, same), spread},
		"nothing varied":      {point(same, same), spread},
		"too few trials":      {point(slower, same)[:4], spread},
		"one was not seen":    {missing, spread},
	} {
		p := stats.Summarized(nil, tc.records)
		if len(p.Warnings) != 1 || p.Warnings[0].Finding.String() != tc.want {
			t.Errorf("%s: %v, want %q", name, p.Warnings, tc.want)
		}
	}
}

// Of runs whose values have nothing to do with the node, at most a twentieth say that it explains a point.
func TestSpreadExplainedByChance(t *testing.T) {
	const runs, points = 1000, 10
	random := rand.New(rand.NewPCG(5, 6))
	for _, trials := range []int{6, 7, 12} {
		explained := 0
		for range runs {
			follows := false
			for range points {
				var records []*result.Record
				var values []float64
				for i := range trials {
					values = append(values, 1000*math.Exp(0.3*random.NormFloat64()))
					latency, work := 1000*math.Exp(0.3*random.NormFloat64()), 1e6*math.Exp(0.3*random.NormFloat64())
					records = append(records, probed(i+1, values[i], int64(latency), int64(2*latency), int64(work)))
				}
				for _, w := range stats.PointFindings(records, values, points) {
					follows = follows || w.Code == finding.SpreadFollowsDisk || w.Code == finding.SpreadFollowsCPU
				}
			}
			if follows {
				explained++
			}
		}
		if share := float64(explained) / runs; share > stats.ErrorProbability {
			t.Errorf("%d trials: the node explains a point in %.1f%% of runs", trials, 100*share)
		}
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
			if len(stats.ProbeFindings(records, stats.Probe{}, "")) > 0 {
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
	said := func(list []stats.PointFinding) (all []string) {
		for _, w := range list {
			all = append(all, w.String())
		}
		return all
	}
	const text = "the server was throttled at its CPU limit for 11–20% of the measured phase: the number depends on that limit"
	got := stats.PointFindings([]*result.Record{held(0.11), held(0.2), held(0.009), unseen(4, 1)}, []float64{1, 1, 1, 1}, 1)
	if diff := cmp.Diff([]string{text + " (2 of 4 trials)"}, said(got)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	const most = "the server was throttled at its CPU limit for 100% of the measured phase: the number depends on that limit"
	got = stats.PointFindings([]*result.Record{held(3)}, []float64{1}, 1)
	if diff := cmp.Diff([]string{most}, said(got)); diff != "" {
		t.Errorf("on several CPUs (-want +got):\n%s", diff)
	}
}
