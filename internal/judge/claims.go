// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// pointsIn a plan, of a variant, without what is measured at them.
func pointsIn(p *plan.Plan, variant string) []stats.Point {
	var list []stats.Point
	for _, point := range p.Points {
		list = append(list, stats.Point{Variant: variant, Parameters: point.Parameters})
	}
	return list
}

// ByFigures judges claims by their published figures alone, where nothing was measured. Plans are those of the variants, by their
// names, and of a run that of none; metric says what one of a name is, and without a name what the headline metric is.
func ByFigures(list v1alpha1.Claims, plans map[string]*plan.Plan, metric func(name string) result.Metric) []claims.Judgement {
	points := func(name string) []stats.Point {
		var all []stats.Point
		of := metric(name)
		for _, variant := range slices.Sorted(maps.Keys(plans)) {
			for _, s := range pointsIn(plans[variant], variant) {
				s.Metric = of
				all = append(all, s)
			}
		}
		return all
	}
	return claims.Judge(list, points, stats.PairedRatio)
}

// claimsOfRun are what the numbers of a run say of its claims.
func claimsOfRun(run *v1alpha1.BenchmarkRun, points []stats.Point) []claims.Judgement {
	measured := func(metric string) []stats.Point {
		var list []stats.Point
		for i := range points {
			list = append(list, points[i].In(metric))
			if len(list[i].Values) < len(list[i].Records) {
				return nil
			}
		}
		return list
	}
	judged := claims.Judge(run.Spec.Claims, measured, stats.PairedRatio)
	checkPremises(run.Spec.Claims, judged, func(int) []place {
		if len(recordsAt(points)) == 0 {
			return nil
		}
		return []place{placeOfRun(run, points)}
	})
	return judged
}

func (c *Compared) judgedClaims() []claims.Judgement {
	measured := func(metric string) []stats.Point {
		var list []stats.Point
		for v := range c.Variants {
			m, found := c.whole(v)[0].Metric(metric)
			if !found {
				return nil
			}
			for point, series := range pointsIn(c.Variants[v].Plan, c.Variants[v].Name) {
				series.Metric, series.Values = m, c.values(v, metric, point)
				list = append(list, series)
			}
		}
		return list
	}
	list := c.Run.Spec.Claims
	judged := claims.Judge(list, measured, c.design().Interval)
	checkPremises(list, judged, func(i int) []place { return c.placesOf(&list[i]) })
	return judged
}

// checkPremises takes the verdict from claims that need what the machine does not have: one about slow disks is neither true nor
// false on a fast one, after any number of rounds. places are where a claim, by its index, is about; none before any measurement.
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

// missingPremises are what a claim needs and places do not have, or are not known to have, each once, in a part of a sentence.
func missingPremises(needs *v1alpha1.ClaimNeeds, places []place) []string {
	var missing []string
	add := func(need, here string) { missing = stats.AppendNew(missing, "needs "+need+", "+here) }
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

// placesOf a claim are those of the variants that it names, or of all, as far as they were measured.
func (c *Compared) placesOf(claim *v1alpha1.Claim) []place {
	var places []place
	named := claims.Variants(claim)
	for i := range c.Variants {
		measured := c.environments(i)
		if len(measured) == 0 || len(named) > 0 && !slices.Contains(named, c.Variants[i].Name) {
			continue
		}
		e := measured[0]
		places = append(places, place{
			median: max(0, e.FdatasyncMicros), mean: max(0, e.FdatasyncMeanMicros),
			cpus: serverCPUs(&c.Variants[i].Run.Spec, int(e.CPUs)),
		})
	}
	return places
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

// CheckRun says which claim of a run with that plan is about points that it does not measure.
func CheckRun(run *v1alpha1.BenchmarkRun, p *plan.Plan) error {
	if err := cmp.Or(checkMetric(&run.Spec), checkCapacity(&run.Spec)); err != nil {
		return err
	}
	return claims.Check(run.Spec.Claims, pointsIn(p, ""))
}

// CheckClaims does for a run with variants what CheckRun does for one without: its points are those of all variants.
func (c *Compared) CheckClaims() error {
	var points []stats.Point
	for i := range c.Variants {
		points = append(points, pointsIn(c.Variants[i].Plan, c.Variants[i].Name)...)
	}
	if err := c.checkCapacity(); err != nil {
		return err
	}
	return claims.Check(c.Run.Spec.Claims, points)
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
