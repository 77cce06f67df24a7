// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// wideSpread is the range of a point's values relative to their median from which on it is warned of.
const wideSpread = 0.25

// WarningsAt points, each once, from the points with these indexes: those that differ only in what they measured are one.
func WarningsAt(points []Point) []finding.Merged {
	return MergeLists(len(points), func(i int) []finding.Finding { return points[i].Warnings })
}

// MergeLists merges the findings of so many lists, each once: From has the indexes of the lists, ascending, as often as they have
// the finding.
func MergeLists(n int, list func(i int) []finding.Finding) []finding.Merged {
	var all []finding.Finding
	var of []int
	for i := range n {
		for _, f := range list(i) {
			all, of = append(all, f), append(of, i)
		}
	}
	merged := finding.Merge(all)
	for _, m := range merged {
		for k, i := range m.From {
			m.From[k] = of[i]
		}
	}
	return merged
}

// Placed is a finding about points, given by their parameters, of so many that were measured.
type Placed struct {
	finding.Finding
	Points   []map[string]string
	Measured int
}

// PlacedAt are the warnings of those points that were measured, each once.
func PlacedAt(points []Point) []Placed {
	measured := Measured(points)
	var list []Placed
	for _, m := range WarningsAt(measured) {
		one := Placed{Finding: m.Finding, Measured: len(measured)}
		for _, i := range m.From {
			one.Points = append(one.Points, measured[i].Parameters)
		}
		list = append(list, one)
	}
	return list
}

// PointWarnings are those that belong to a point: those of its trials, each once, and a wide spread.
func PointWarnings(records []*result.Record, values []float64) []finding.Finding {
	var list []finding.Finding
	for _, m := range MergeLists(len(records), func(i int) []finding.Finding { return findingsOf(records[i]) }) {
		list = append(list, m.InTrials(len(slices.Compact(m.From)), len(records)))
	}
	if s := Summarize(values); s.N > 1 && slices.Max(values)-slices.Min(values) > wideSpread*math.Abs(s.Median) {
		list = append(list, finding.Spread(100*wideSpread).InTrials(len(records), len(records)))
	}
	return list
}

// findingsOf a trial are those of its loader, those about where it ran, and one about a server that its limit held back.
func findingsOf(r *result.Record) []finding.Finding {
	list := slices.Concat(r.Summary.Findings, r.Neighbors.Findings(), r.Place.Findings())
	const fromPart = 0.01 // of the measured phase
	if share := r.Summary.Throttled(); share >= fromPart {
		list = append(list, finding.HeldBack(100*share))
	}
	return list
}

// MaxLabels is how many points of several parameters are named; of more there is only the number.
const MaxLabels = 4

// Place names some points, given by their parameters, of so many that were measured: rowsPerCommit=1, 2, 4. It is empty for all.
func Place(some []map[string]string, measured int) string {
	var names, values []string
	for _, parameters := range some {
		names = append(names, Label(parameters))
		for _, value := range parameters {
			values = append(values, value)
		}
	}
	switch {
	case len(some) == measured || len(some) == 0:
		return ""
	case len(values) > len(names) && len(names) > MaxLabels:
		return fmt.Sprintf("%d of %d points", len(names), measured)
	case len(values) > len(names):
		return strings.Join(names, "; ")
	}
	name, _, _ := strings.Cut(names[0], "=")
	return name + "=" + strings.Join(values, ", ")
}

const (
	// driftBound is by what factor probes may differ without a warning.
	driftBound = 1.25
	// driftBoundP95 is that of a 95th percentile, which is a few calls of a hundred and varies by itself.
	driftBoundP95 = 2
	// minDrift is a difference of latencies, in µs, that no load can tell: a file system in memory answers within one or two.
	minDrift = 10
)

// Probe of a server's node: over several trials, the medians. 0 is unknown.
type Probe = v1alpha1.TrialProbe

// ProbeOf a trial; the zero Probe if there is none.
func ProbeOf(r *result.Record) Probe {
	if r.Summary == nil || r.Summary.Observed == nil || r.Summary.Observed.Probe == nil {
		return Probe{}
	}
	p := r.Summary.Observed.Probe
	found := Probe{WorkNanos: max(0, p.CPU.Median)}
	if p.Fdatasync.Calls > 0 {
		// Less than a microsecond is not nothing.
		found.FdatasyncMicros, found.FdatasyncP95Micros = max(1, p.Fdatasync.Median), max(1, p.Fdatasync.P95)
	}
	return found
}

// ProbeOfAll is the median of the probes before trials; the zero Probe if there are none.
func ProbeOfAll(records []*result.Record) Probe {
	median := func(of func(Probe) int64) int64 {
		var values []float64
		for _, r := range records {
			if value := of(ProbeOf(r)); value > 0 {
				values = append(values, float64(value))
			}
		}
		return int64(Summarize(values).Median)
	}
	return Probe{
		FdatasyncMicros:    median(func(p Probe) int64 { return p.FdatasyncMicros }),
		FdatasyncP95Micros: median(func(p Probe) int64 { return p.FdatasyncP95Micros }),
		WorkNanos:          median(func(p Probe) int64 { return p.WorkNanos }),
	}
}

// ProbeDifferences say how the nodes of two runs differed, in the medians of all trials, beyond what one node does at two times.
func ProbeDifferences(before, after Probe) []string {
	var list []string
	if differs(before.FdatasyncMicros, after.FdatasyncMicros, driftBound, minDrift) ||
		differs(before.FdatasyncP95Micros, after.FdatasyncP95Micros, driftBoundP95, minDrift) {
		list = append(list, fmt.Sprintf("fdatasync on the data volume before the trials: %d µs (p95 %d µs) → %d µs (p95 %d µs)",
			before.FdatasyncMicros, before.FdatasyncP95Micros, after.FdatasyncMicros, after.FdatasyncP95Micros))
	}
	if differs(before.WorkNanos, after.WorkNanos, driftBound, 0) {
		list = append(list, fmt.Sprintf("CPU time of a fixed piece of work before the trials: %s µs → %s µs",
			Format(workMicros(before)), Format(workMicros(after))))
	}
	return list
}

// ProbeFindings say between which trials the node differed the most. Of runs on a steady disk, at most ErrorProbability have a
// finding about it: the two numbers of its probe share the level.
func ProbeFindings(records []*result.Record) []finding.Finding {
	var list []finding.Finding
	for _, disk := range []struct {
		of    func(Probe) int64
		bound float64
	}{
		{func(p Probe) int64 { return p.FdatasyncMicros }, driftBound},
		{func(p Probe) int64 { return p.FdatasyncP95Micros }, driftBoundP95},
	} {
		fast, slow := extremes(records, disk.of)
		low, high := ProbeOf(fast), ProbeOf(slow)
		if !limited(records) && differs(disk.of(low), disk.of(high), disk.bound, minDrift) && trends(records, disk.of) {
			list = append(list, finding.DiskDrift(fdatasync(low), fdatasync(high), fast.Trial, slow.Trial))
			break
		}
	}
	fast, slow := extremes(records, func(p Probe) int64 { return p.WorkNanos })
	if low, high := ProbeOf(fast), ProbeOf(slow); differs(low.WorkNanos, high.WorkNanos, driftBound, 0) {
		list = append(list, finding.CPUDrift(workMicros(low), workMicros(high), fast.Trial, slow.Trial))
	}
	return list
}

// trends says whether a number of the disk's probe rose or fell over the trials (Mann and Kendall). A few dozen calls of
// fdatasync scatter so much on a steady disk that the extremes of a run say nothing. It takes five trials, and does not see a
// change that is over in the middle of a run.
func trends(records []*result.Record, of func(Probe) int64) bool {
	var trials, values []float64
	for _, r := range records {
		if value := of(ProbeOf(r)); value > 0 {
			trials, values = append(trials, float64(r.Trial)), append(values, float64(value))
		}
	}
	trend := concordance(trials, values)
	// Half of the level for each number of the probe, and half of that for each direction.
	return concordanceTail(len(values), max(trend, -trend)) <= ErrorProbability/4
}

// limited says whether block I/O was. Some calls then pass at once and others wait, so that a few say nothing about the disk.
func limited(records []*result.Record) bool {
	return slices.ContainsFunc(records, func(r *result.Record) bool { return r.Fingerprint != nil && r.Fingerprint.Limited() })
}

// extremes are the trials with the lowest and the highest probe by one of its numbers; empty ones if none has it. Of many, a
// twentieth at either end is left out: among hundreds there is always one whose probe met something, and that is no drift.
func extremes(records []*result.Record, of func(Probe) int64) (low, high *result.Record) {
	all := slices.DeleteFunc(slices.Clone(records), func(r *result.Record) bool { return of(ProbeOf(r)) <= 0 })
	if len(all) == 0 {
		return new(result.Record), new(result.Record)
	}
	slices.SortStableFunc(all, func(a, b *result.Record) int { return cmp.Compare(of(ProbeOf(a)), of(ProbeOf(b))) })
	odd := len(all) / 20
	return all[odd], all[len(all)-1-odd]
}

// differs says whether two numbers, neither of which is unknown, differ by more than a factor, and by more than a least amount.
func differs(a, b int64, bound float64, least int64) bool {
	low, high := min(a, b), max(a, b)
	return low > 0 && float64(high) > bound*float64(low) && high-low > least
}

func fdatasync(p Probe) finding.Fdatasync {
	return finding.Fdatasync{Median: p.FdatasyncMicros, P95: p.FdatasyncP95Micros}
}

func workMicros(p Probe) float64 { return float64(p.WorkNanos) / 1000 }

// concordance of two lists of the same length is how many pairs of places have the same order in both, less those that have
// opposite ones. Divided by the number of pairs it is Kendall's rank correlation. That of gonum counts equal values as rising.
func concordance(a, b []float64) int {
	sum := 0
	for i := range a {
		for j := range i {
			switch product := (a[i] - a[j]) * (b[i] - b[j]); {
			case product > 0:
				sum++
			case product < 0:
				sum--
			}
		}
	}
	return sum
}

func pairsOf(n int) int { return n * (n - 1) / 2 }

// concordanceTail is the probability that two lists of n values that have nothing to do with each other have at least that
// concordance. It is exact without equal values, and too large with them, up to maxExactTrials.
func concordanceTail(n, concordance int) float64 {
	if n > maxExactTrials {
		return distuv.UnitNormal.Survival(float64(concordance-1) / math.Sqrt(float64(pairsOf(n)*(2*n+5))/9))
	}
	discordant := (pairsOf(n) - concordance + 1) / 2
	// The number of discordant pairs is a sum: the value at place i has an opposite order with 0 to i of those before it.
	share := make([]float64, discordant+1)
	share[0] = 1
	for i := 1; i < n; i++ {
		next, window := make([]float64, discordant+1), 0.0
		for d := range next {
			if window += share[d]; d > i {
				window -= share[d-i-1]
			}
			next[d] = window / float64(i+1)
		}
		share = next
	}
	tail := 0.0
	for _, p := range share {
		tail += p
	}
	return tail
}
