// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Table is the table of a run's points, which every format prints in its own way.
type Table struct {
	// Parameters are the names of the swept parameters.
	Parameters []string
	// Metrics stand beside the headline metric, and Operations have latencies.
	Metrics    []result.Metric
	Operations []string
	Rows       []Row
}

// Row is a point in the table.
type Row struct {
	*stats.Point
	// Mark says how the point ranks, and Ratio compares it with the first point.
	Mark  Mark
	Ratio stats.Ratio
	// Values of the table's metrics and Latencies of its operations, in their order; nil where nothing was measured.
	Values    [][]float64
	Latencies []*stats.Latency
}

// Mark says how a point ranks; it is empty for most points, and for all if there are too few trials to tell them apart.
type Mark string

const (
	// MarkBest: the point is better than all others.
	MarkBest Mark = "best"
	// MarkBestMedian: the point has the best median, and others may be as good.
	MarkBestMedian Mark = "best?"
	// MarkRival: the point may be as good as that with the best median.
	MarkRival Mark = "as good?"
)

// TableOf points at which something was measured, in their order, with these parameters and operations.
func TableOf(points []stats.Point, parameters, operations []string) *Table {
	t := &Table{Parameters: parameters, Operations: operations}
	t.Metrics = Metrics(points, func(p *stats.Point, m result.Metric) bool { return m.Shown && m.Name != p.Metric.Name })
	marks := marksOf(points)
	for i, ratio := range stats.RatioTo(points, 0) {
		p := &points[i]
		row := Row{Point: p, Mark: marks[i], Ratio: ratio}
		for _, m := range t.Metrics {
			row.Values = append(row.Values, ValuesOf(p.Records, m.Name))
		}
		for _, op := range operations {
			var latency *stats.Latency
			if l, found := stats.LatencyOf(p.Records, op); found {
				latency = &l
			}
			row.Latencies = append(row.Latencies, latency)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Merged says whether all percentiles are those of merged histograms; otherwise some are medians of the trials' own percentiles.
func (t *Table) Merged() bool {
	for i := range t.Rows {
		for _, l := range t.Rows[i].Latencies {
			if l != nil && !l.Merged {
				return false
			}
		}
	}
	return true
}

// marksOf points.
func marksOf(points []stats.Point) []Mark {
	marks := make([]Mark, len(points))
	if !stats.Ranked(points) {
		return marks
	}
	standing := stats.Stand(points)
	for _, i := range standing.Rivals {
		marks[i] = MarkRival
	}
	marks[standing.Best] = MarkBest
	if len(standing.Rivals) > 0 {
		marks[standing.Best] = MarkBestMedian
	}
	return marks
}

// Metrics of the trials of points that are to be kept, in the order in which they first come; their Value is unused.
func Metrics(points []stats.Point, keep func(*stats.Point, result.Metric) bool) []result.Metric {
	var list []result.Metric
	seen := map[string]bool{}
	for i := range points {
		for _, record := range points[i].Records {
			for _, m := range record.Summary.Metrics {
				if !seen[m.Name] && keep(&points[i], m) {
					seen[m.Name], m.Value = true, 0
					list = append(list, m)
				}
			}
		}
	}
	return list
}

// ValuesOf a metric in accepted records; one that has no such metric is left out.
func ValuesOf(records []*result.Record, metric string) []float64 {
	var values []float64
	for _, r := range records {
		for _, m := range r.Summary.Metrics {
			if m.Name == metric {
				values = append(values, m.Value)
			}
		}
	}
	return values
}

// CheckRun says which claim of a run with that plan is about points that it does not measure.
func CheckRun(run *v1alpha1.BenchmarkRun, p *plan.Plan) error {
	if err := checkMetric(&run.Spec); err != nil {
		return err
	}
	return checkClaims(run.Spec.Claims, pointsIn(p, ""))
}

// CheckClaims does for a run with variants what CheckRun does for one without: its points are those of all variants.
func (c *Compared) CheckClaims() error {
	var points []claims.Series
	for i := range c.Variants {
		points = append(points, pointsIn(c.Variants[i].Plan, c.Variants[i].Name)...)
	}
	return checkClaims(c.Run.Spec.Claims, points)
}

// checkClaims says which claim is about points that are not measured.
func checkClaims(list v1alpha1.Claims, points []claims.Series) error {
	for i := range list {
		if err := claims.Check(&list[i], points); err != nil {
			return err
		}
	}
	return nil
}

// checkMetric refuses a headline that a program of one's own does not report, as far as it says what it does.
func checkMetric(spec *v1alpha1.BenchmarkRunSpec) error {
	w := spec.Workload.Custom
	if spec.Metric == "" || spec.Metric == result.DurationMetric || w == nil || w.Result == nil {
		return nil
	}
	var names []string
	for _, m := range w.Result.Metrics {
		names = append(names, m.Name)
	}
	if slices.Contains(names, spec.Metric) {
		return nil
	}
	return fmt.Errorf("metric: %s is none of custom.result.metrics: %s", spec.Metric, strings.Join(names, ", "))
}
