// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"maps"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// claimsOf are the claims of a specification.
func claimsOf(list v1alpha1.Claims) []claims.Claim {
	var all []claims.Claim
	for i := range list {
		c := &list[i]
		claim := claims.Claim{Name: c.Name, Statement: c.Statement, Metric: c.Metric}
		switch {
		case c.Ratio != nil:
			claim.Ratio = &claims.Ratio{
				Of: selector(c.Ratio.Of), To: selector(c.Ratio.To), ToMetric: c.Ratio.ToMetric,
				AtLeast: number(c.Ratio.AtLeast), AtMost: number(c.Ratio.AtMost),
			}
		case c.BestAt != nil:
			claim.BestAt = &claims.BestAt{At: selector(c.BestAt.At), Among: selector(c.BestAt.Among)}
		case c.Monotonic != nil:
			claim.Monotonic = &claims.Monotonic{
				Parameter: c.Monotonic.Parameter, Falling: c.Monotonic.Direction == v1alpha1.DirectionFalling,
				Among: selector(c.Monotonic.Among), WithinPercent: c.Monotonic.WithinPercent,
			}
		case c.NoDifference != nil:
			claim.NoDifference = &claims.NoDifference{
				Of: selector(c.NoDifference.Of), To: selector(c.NoDifference.To), WithinPercent: c.NoDifference.WithinPercent,
			}
		}
		for _, p := range c.Published {
			claim.Published = append(claim.Published, claims.Figure{Of: selector(p.Of), Metric: p.Metric, Value: number(p.Value)})
		}
		all = append(all, claim)
	}
	return all
}

func selector(s v1alpha1.PointSelector) claims.Selector {
	parameters := map[string]string{}
	for name, value := range s.Parameters {
		parameters[name] = value.String()
	}
	return claims.Selector{Variant: s.Variant, Parameters: parameters}
}

// number is 0 if there is none; the API server has checked its form.
func number(n v1alpha1.ClaimedNumber) float64 {
	v, _ := strconv.ParseFloat(string(n), 64)
	return v
}

// pointsIn a plan, of a variant, without what is measured at them.
func pointsIn(p *plan.Plan, variant string) []claims.Series {
	var list []claims.Series
	for _, point := range p.Points {
		list = append(list, claims.Series{Variant: variant, Parameters: point.Parameters})
	}
	return list
}

// ByFigures judges claims by their published figures alone, where nothing was measured. Plans are those of the variants, by their
// names, and of a run that of none; metric says what one of a name is, and without a name what the headline metric is.
func ByFigures(list v1alpha1.Claims, plans map[string]*plan.Plan, metric func(name string) result.Metric) []claims.Judgement {
	points := func(name string) []claims.Series {
		var all []claims.Series
		of := metric(name)
		for _, variant := range slices.Sorted(maps.Keys(plans)) {
			for _, s := range pointsIn(plans[variant], variant) {
				s.Metric = of
				all = append(all, s)
			}
		}
		return all
	}
	return claims.Judge(claimsOf(list), points, stats.PairedRatio)
}

// claimsOfRun are what the numbers of a run say of its claims.
func claimsOfRun(run *v1alpha1.BenchmarkRun, points []stats.Point) []claims.Judgement {
	measured := func(metric string) []claims.Series {
		var list []claims.Series
		for i := range points {
			s := claims.Series{Parameters: points[i].Parameters}
			for _, r := range points[i].Records {
				m, found := r.Summary.Metric(metric)
				if !found {
					return nil
				}
				s.Metric = m
				s.Values = append(s.Values, m.Value)
			}
			s.Metric.Value = 0
			list = append(list, s)
		}
		return list
	}
	judged := claims.Judge(claimsOf(run.Spec.Claims), measured, stats.PairedRatio)
	at := placeOfRun(run, points)
	checkPremises(run.Spec.Claims, judged, func(int) []place {
		if !slices.ContainsFunc(points, func(p stats.Point) bool { return len(p.Records) > 0 }) {
			return nil
		}
		return []place{at}
	})
	addReasons(run.Spec.Claims, judged, at)
	return judged
}

// claimsOfComparison are what the whole rounds of a comparison say of its claims.
func claimsOfComparison(
	comparison *v1alpha1.BenchmarkComparison, p *ComparisonPlan, runs *ComparisonRuns, rounds int,
) []claims.Judgement {
	measured := func(metric string) []claims.Series {
		var list []claims.Series
		for v := range p.Variants {
			series := pointsIn(p.Variants[v].Plan, comparison.Spec.Variants[v].Name)
			for i, m := range p.Members[:rounds*len(p.Variants)] {
				if m.Variant != v {
					continue
				}
				of, values := runs.Members[i].Measured.Of(metric)
				if values == nil {
					return nil
				}
				for point := range series {
					series[point].Metric = of
					series[point].Values = append(series[point].Values, values[point])
				}
			}
			list = append(list, series...)
		}
		return list
	}
	d := DesignOf(&comparison.Spec, len(p.Pairs))
	interval := func(of, to []float64, comparisons int) (stats.Ratio, string) {
		d.Comparisons, d.Together = comparisons, false
		return d.Interval(of, to)
	}
	list := claimsOf(comparison.Spec.Claims)
	judged := claims.Judge(list, measured, interval)
	checkPremises(comparison.Spec.Claims, judged, func(i int) []place { return placesOfClaim(&list[i], comparison, p, runs) })
	addComparisonReasons(judged, list, comparison, p, runs)
	addReasons(comparison.Spec.Claims, judged, placeOfComparison(p, runs))
	return judged
}
