// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"maps"
	"slices"
	"strconv"
	"strings"

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
	comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan, runs *ComparisonRuns, rounds int,
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

// checkPremises takes the verdict from claims that need what the machine does not have: a claim about slow disks is neither true
// nor false on a fast one. places are where a claim, by its index, is about; none before anything is measured there. More rounds
// do not bring a premise.
func checkPremises(list v1alpha1.Claims, judged []claims.Judgement, places func(claim int) []place) {
	for i := range judged {
		missing := missingPremises(&list[i].Needs, places(i))
		if len(missing) == 0 {
			continue
		}
		judged[i].Verdict, judged[i].Settled = claims.PremiseMissing, true
		judged[i].Detail = strings.Join(missing, "; ") + "; without that: " + judged[i].Detail
	}
}

// missingPremises are what a claim needs and places do not have, each once, in a part of a sentence. What is not known counts as
// missing.
func missingPremises(needs *v1alpha1.ClaimNeeds, places []place) []string {
	var missing []string
	add := func(need, here string) {
		if text := "needs " + need + ", " + here; !slices.Contains(missing, text) {
			missing = append(missing, text)
		}
	}
	for _, at := range places {
		if least := needs.FdatasyncMicros.AtLeast; max(at.median, at.mean) < least {
			here := "which was not measured here"
			if at.median > 0 {
				here = "and here it takes " + fdatasyncText(at.median, at.mean)
			}
			add("an fdatasync of at least "+stats.Format(float64(least)/1000)+" ms", here)
		}
		if least := float64(needs.CPUsOfDatabase.AtLeast); at.cpus < least {
			here := "whose number is not known here"
			if at.cpus > 0 {
				here = "and here it has " + cpuCount(at.cpus)
			}
			add("at least "+cpuCount(least)+" for the database", here)
		}
	}
	return missing
}

// placesOfClaim are those of the variants that a claim names, or of all, as far as they were measured.
func placesOfClaim(c *claims.Claim, comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan, runs *ComparisonRuns) []place {
	var places []place
	named := c.Variants()
	for i := range p.Variants {
		if len(named) > 0 && !slices.Contains(named, comparison.Spec.Variants[i].Name) {
			continue
		}
		measured := environments(p, runs, i)
		if len(measured) == 0 {
			continue
		}
		e := measured[0]
		places = append(places, place{
			median: max(0, e.FdatasyncMicros), mean: max(0, e.FdatasyncMeanMicros),
			cpus: serverCPUs(&p.Variants[i].Run.Spec, int(e.CPUs)),
		})
	}
	return places
}
