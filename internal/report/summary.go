// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Table is the table of the points at which something was measured; nil if there are none.
func (r *Report) Table() *analysis.Table {
	points := r.Measured()
	if len(points) == 0 {
		return nil
	}
	_, operations := r.Columns()
	return analysis.TableOf(points, r.Parameters(), operations)
}

// tableRows are a row per point: its parameters, the median, the interval, how many times the first point that is, the medians of
// other metrics that are shown, and latencies. The best point is marked, and those that may be as good.
func tableRows(t *analysis.Table) [][]string {
	several := len(t.Rows) > 1
	header := append(slices.Clone(t.Parameters), t.Rows[0].Metric.Unit, "interval", "n")
	if several {
		name, of := RatioToFirst(t)
		header = append(header, "", name+" ("+of+")")
	}
	for _, m := range t.Metrics {
		header = append(header, m.Name)
	}
	unit, scale := LatencyUnit(t)
	for _, op := range t.Operations {
		header = append(header, op+" p50 "+unit, op+" p99 "+unit)
	}
	rows := [][]string{header}
	for i := range t.Rows {
		row := &t.Rows[i]
		var cells []string
		for _, name := range t.Parameters {
			cells = append(cells, row.Parameters[name])
		}
		cells = append(cells, stats.Format(row.Summary.Median), row.Summary.Range(), strconv.Itoa(row.Summary.N))
		if several {
			cells = append(cells, string(row.Mark), RatioText(row.Ratio))
		}
		for _, values := range row.Values {
			cells = append(cells, median(values))
		}
		for _, l := range row.Latencies {
			cells = append(cells, latencyCells(l, scale)...)
		}
		rows = append(rows, cells)
	}
	return rows
}

// Intervals says what the table's numbers are.
func Intervals(points []stats.Point) string {
	m := points[0].Metric
	of := fmt.Sprintf("of %s (%s is better); ", m.Name, m.Better)
	if !slices.ContainsFunc(points, func(p stats.Point) bool { return p.Summary.N > 1 }) {
		return "Values " + of + "with one trial each, their spread is unknown."
	}
	for _, p := range points {
		if p.Summary.Interval == stats.MinMax {
			return fmt.Sprintf("Medians %sintervals are minimum to maximum (a 95%% interval takes %d trials).",
				of, stats.MinForInterval)
		}
	}
	text := "Medians " + of + "intervals are those of the median at 95% confidence"
	if points[0].Summary.Looked {
		text += ", adjusted for early stopping"
	}
	return text + "."
}

// Pilots say how many rows they decided for the trials of their point.
func (r *Report) Pilots() []string {
	var list []string
	for _, d := range r.Records {
		if d.Outcome == result.OutcomePilot {
			list = append(list, fmt.Sprintf("%s%d rows per trial; the pilot inserted %d in %.1f s", label(d.Parameters), d.Rows,
				d.Summary.Totals.Rows, float64(d.Summary.Totals.Micros)/1e6))
		}
	}
	return list
}

func (r *Report) disturbances() []string {
	var list []string
	for _, d := range r.Disturbed() {
		list = append(list, fmt.Sprintf("trial %d, attempt %d, %s%s: %s: %s", d.Trial, d.Attempt, label(d.Parameters), d.Outcome,
			d.Cause, d.Message))
	}
	return list
}

// where is the environment of the last accepted attempt.
func (r *Report) where() []string {
	list := r.Accepted()
	if len(list) == 0 {
		return nil
	}
	e := analysis.EnvironmentOf(list)
	lines := []string{
		fmt.Sprintf("server %s, image %s", e.ServerVersion, e.Place.DatabaseImage),
		fmt.Sprintf("database on node %s, loader on node %s", e.Place.DatabaseNode, strings.Join(e.Place.Loaders(), ", ")),
	}
	if f := e.Fingerprint; f != nil {
		lines = append(
			lines,
			fmt.Sprintf("%d × %s, %s memory, kernel %s", f.CPUs, f.CPUModel, memory(f.MemoryBytes), f.Kernel),
			fmt.Sprintf("data on %s (%s), I/O scheduler %s%s; %s", f.Filesystem, f.MountOptions, f.IOScheduler, limited(f),
				fdatasync(f.FdatasyncMicros)),
		)
		if text := VolumeBenchmark(f.VolumeBenchmark); text != "" {
			lines = append(lines, "the empty volume, one operation at a time: "+text)
		}
	}
	if text := ProbeText(e.Probe); text != "" {
		lines = append(lines, "probes before the trials, medians: "+text)
	}
	lines = append(lines, tuned(r.HostTuning)...)
	lines = append(lines, inputLines(list[len(list)-1].Summary)...)
	return append(lines, "settings "+e.SettingsDigest, "specification "+r.SpecDigest)
}

// ProbeText says what a node was like before trials; it is empty if that is not known.
func ProbeText(p stats.Probe) string {
	if p.FdatasyncMicros <= 0 {
		return ""
	}
	return fmt.Sprintf("fdatasync %s (p95 %s), CPU %s", Micros(p.FdatasyncMicros), Micros(p.FdatasyncP95Micros),
		Micros(float64(p.WorkNanos)/1000))
}

// memory of a machine; the probe says -1 if it does not know.
func memory(bytes int64) string {
	if bytes < 0 {
		return result.Unknown
	}
	return fmt.Sprintf("%.1f GiB of", float64(bytes)/(1<<30))
}

// fdatasync says what the probe has measured, which may be nothing.
func fdatasync(l result.FsyncLatency) string {
	if l.Calls == 0 {
		return "fdatasync was not measured"
	}
	return fmt.Sprintf("fdatasync takes %s (median of %d; p95 %s)", FdatasyncMicros(l), l.Calls, Micros(l.P95))
}

// FdatasyncMicros is the median latency, with the mean where that is far above: a limit makes one call of several wait.
func FdatasyncMicros(l result.FsyncLatency) string {
	if l.Mean > 2*l.Median {
		return fmt.Sprintf("%s on average, %s", Micros(l.Mean), Micros(l.Median))
	}
	return Micros(l.Median)
}

// Micros is a time, given in microseconds, with its unit.
func Micros[N int64 | float64](v N) string { return finding.Micros(float64(v), float64(v)) }

// VolumeBenchmark says what a volume can do; it is empty if that was not measured.
func VolumeBenchmark(list []result.IOPattern) string {
	var parts []string
	for _, p := range list {
		parts = append(parts, fmt.Sprintf("%s %d/s (median %s, p99 %s)", p.Name, p.PerSecond, Micros(p.Median), Micros(p.P99)))
	}
	return strings.Join(parts, ", ")
}

// limited says what limits block I/O, or nothing.
func limited(f *result.Fingerprint) string {
	if !f.Limited() {
		return ""
	}
	return ", block I/O limited: " + f.BlockIO
}

func label(parameters map[string]string) string {
	if len(parameters) == 0 {
		return ""
	}
	return stats.Label(parameters) + ": "
}
