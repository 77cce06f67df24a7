// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/stats/curves"
)

// checkPlots says which plot is of points that are not measured.
func checkPlots(list v1alpha1.Plots, points []claims.Series) error {
	for i := range list {
		p := &list[i]
		c := curves.Curve{Name: p.Name, Against: p.Against, Lines: p.Lines, Among: selector(p.Among)}
		if err := c.Check(points); err != nil {
			return err
		}
	}
	return nil
}

// NamedMetrics are the names of the metrics that claims and plots are about, besides the headline metric.
func NamedMetrics(list v1alpha1.Claims, plots v1alpha1.Plots) []string {
	names := map[string]bool{}
	for i := range list {
		names[list[i].Metric] = true
	}
	for i := range plots {
		names[plots[i].Metric] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}
