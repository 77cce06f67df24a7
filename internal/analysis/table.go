// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
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
	t := &Table{Parameters: parameters, Metrics: shownMetrics(points), Operations: operations}
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

// shownMetrics are those that stand beside the headline.
func shownMetrics(points []stats.Point) []result.Metric {
	var list []result.Metric
	for _, p := range points {
		for _, record := range p.Records {
			for _, m := range record.Summary.Metrics {
				known := slices.ContainsFunc(list, func(have result.Metric) bool { return have.Name == m.Name })
				if m.Shown && m.Name != p.Metric.Name && !known {
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

// CheckRun says which claim, plot or table of a run with that plan is about points that it does not measure.
func CheckRun(run *v1alpha1.BenchmarkRun, p *plan.Plan) error {
	return check(run.Spec.Claims, run.Spec.Plots, run.Spec.Tables, pointsIn(p, ""))
}

// CheckComparison does for a comparison what CheckRun does for a run: its points are those of all variants.
func CheckComparison(comparison *v1alpha1.BenchmarkComparison, p *ComparisonPlan) error {
	var points []claims.Series
	for i := range p.Variants {
		points = append(points, pointsIn(p.Variants[i].Plan, comparison.Spec.Variants[i].Name)...)
	}
	return check(comparison.Spec.Claims, comparison.Spec.Plots, comparison.Spec.Tables, points)
}

func check(list v1alpha1.Claims, plots v1alpha1.Plots, tables v1alpha1.Tables, points []claims.Series) error {
	if err := checkClaims(list, points); err != nil {
		return err
	}
	if err := checkPlots(plots, points); err != nil {
		return err
	}
	return checkTables(tables, points)
}

// checkClaims says which claim is about points that are not measured.
func checkClaims(list v1alpha1.Claims, points []claims.Series) error {
	for _, c := range claimsOf(list) {
		if err := c.Check(points); err != nil {
			return err
		}
	}
	return nil
}

// checkPlots says which plot is of points that are not measured.
func checkPlots(list v1alpha1.Plots, points []claims.Series) error {
	for _, c := range Curves(list) {
		if err := c.Check(points); err != nil {
			return err
		}
	}
	return nil
}

// checkTables says which table is of points that are not measured, and which published figure has no place in its table.
func checkTables(list v1alpha1.Tables, points []claims.Series) error {
	tables, err := Tables(list)
	for i := range tables {
		if err := tables[i].Check(points); err != nil {
			return err
		}
	}
	return err
}

// Curves are the plots of a specification.
func Curves(list v1alpha1.Plots) []presentation.Curve {
	var all []presentation.Curve
	for i := range list {
		p := &list[i]
		all = append(all, presentation.Curve{
			Name: p.Name, Title: p.Title, Against: p.Against, Lines: p.Lines, Metric: p.Metric, Among: selector(p.Among),
		})
	}
	return all
}

// Tables are the tables of a specification. The error names one whose published figures are not numbers.
func Tables(list v1alpha1.Tables) ([]presentation.Table, error) {
	var all []presentation.Table
	for i := range list {
		t := &list[i]
		of := presentation.Table{Name: t.Name, Title: t.Title, Metrics: t.Metrics, Among: selector(t.Among)}
		for _, f := range t.Published {
			value, err := strconv.ParseFloat(string(f.Value), 64)
			if err != nil {
				return all, fmt.Errorf("reading the published figures of table %s: %w", t.Name, err)
			}
			of.Published = append(of.Published, presentation.Figure{Of: selector(f.Of), Metric: f.Metric, Value: value})
		}
		all = append(all, of)
	}
	return all, nil
}

// NamedMetrics are the names of the metrics that claims, plots and tables are about, besides the headline metric.
func NamedMetrics(list v1alpha1.Claims, plots v1alpha1.Plots, tables v1alpha1.Tables) []string {
	names := map[string]bool{}
	for i := range list {
		names[list[i].Metric] = true
		if ratio := list[i].Ratio; ratio != nil {
			names[ratio.ToMetric] = true
		}
	}
	for i := range plots {
		names[plots[i].Metric] = true
	}
	for i := range tables {
		for _, name := range tables[i].Metrics {
			names[name] = true
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}
