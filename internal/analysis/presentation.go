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
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
)

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
