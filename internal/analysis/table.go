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

// CheckRun says which claim of a run with that plan is about points that it does not measure.
func CheckRun(run *v1alpha1.BenchmarkRun, p *plan.Plan) error {
	if err := checkMetric(&run.Spec); err != nil {
		return err
	}
	return checkClaims(run.Spec.Claims, pointsIn(p, ""))
}

// CheckClaims does for a run with variants what CheckRun does for one without: its points are those of all variants.
func (c *Compared) CheckClaims() error {
	var points []stats.Point
	for i := range c.Variants {
		points = append(points, pointsIn(c.Variants[i].Plan, c.Variants[i].Name)...)
	}
	return checkClaims(c.Run.Spec.Claims, points)
}

// checkClaims says which claim is about points that are not measured.
func checkClaims(list v1alpha1.Claims, points []stats.Point) error {
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
