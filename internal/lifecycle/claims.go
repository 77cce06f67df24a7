// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
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
				Of: selector(c.Ratio.Of), To: selector(c.Ratio.To), AtLeast: number(c.Ratio.AtLeast), AtMost: number(c.Ratio.AtMost),
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
			claim.Published = append(claim.Published, claims.Figure{Of: selector(p.Of), Value: number(p.Value)})
		}
		all = append(all, claim)
	}
	return all
}

func selector(s v1alpha1.PointSelector) claims.Selector {
	parameters := map[string]string{}
	for name, value := range s.Parameters {
		parameters[name] = string(value)
	}
	return claims.Selector{Variant: s.Variant, Parameters: parameters}
}

// number is 0 if there is none; the API server has checked its form.
func number(n v1alpha1.ClaimedNumber) float64 {
	v, _ := strconv.ParseFloat(string(n), 64)
	return v
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

// pointsIn a plan, of a variant, without what is measured at them.
func pointsIn(p *plan.Plan, variant string) []claims.Series {
	var list []claims.Series
	for _, point := range p.Points {
		list = append(list, claims.Series{Variant: variant, Parameters: point.Parameters})
	}
	return list
}

// ClaimsOfRun are what the numbers of a run say of its claims.
func ClaimsOfRun(run *v1alpha1.BenchmarkRun, points []stats.Point) []claims.Judgement {
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
	addReasons(run.Spec.Claims, judged, placeOfRun(run, points))
	return judged
}

// claimStatus is what the status says of claims, each and together.
func claimStatus(judged []claims.Judgement) (list []v1alpha1.ClaimStatus, together string) {
	counts := map[claims.Verdict]int{}
	for _, j := range judged {
		counts[j.Verdict]++
		list = append(list, v1alpha1.ClaimStatus{
			Name: j.Name, Verdict: v1alpha1.ClaimVerdict(j.Verdict), Detail: cut(detail(j), maxSuiteText),
			Published: v1alpha1.ClaimVerdict(j.Published),
		})
	}
	var parts []string
	for _, v := range []struct {
		verdict   claims.Verdict
		one, many string
	}{
		{claims.Holds, "holds", "hold"},
		{claims.DoesNotHold, "does not hold", "do not hold"},
		{claims.CannotSay, "undecided", "undecided"},
	} {
		switch n := counts[v.verdict]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+v.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, v.many))
		}
	}
	return list, strings.Join(parts, ", ")
}

// detail of a judgement, with what the published figures say.
func detail(j claims.Judgement) string {
	if j.PublishedDetail == "" {
		return j.Detail
	}
	return j.Detail + "; published: " + j.PublishedDetail
}

// ClaimsOfSuite are what the whole rounds of a suite say of its claims.
func ClaimsOfSuite(suite *v1alpha1.BenchmarkSuite, p *SuitePlan, seen *SuiteObserved, rounds int) []claims.Judgement {
	measured := func(metric string) []claims.Series {
		var list []claims.Series
		for v := range p.Variants {
			series := pointsIn(p.Variants[v].Plan, suite.Spec.Variants[v].Name)
			for i, m := range p.Members[:rounds*len(p.Variants)] {
				if m.Variant != v {
					continue
				}
				of, values := seen.Members[i].Measured.Of(metric)
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
	d := design(suite, p)
	interval := func(of, to []float64, comparisons int) (stats.Ratio, string) {
		d.Comparisons = comparisons
		return d.Interval(of, to)
	}
	list := claimsOf(suite.Spec.Claims)
	judged := claims.Judge(list, measured, interval)
	addSuiteReasons(judged, list, suite, p, seen)
	addReasons(suite.Spec.Claims, judged, placeOfSuite(p, seen))
	return judged
}
