// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

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
func placesOfClaim(c *claims.Claim, comparison *v1alpha1.BenchmarkComparison, p *ComparisonPlan, runs *ComparisonRuns) []place {
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
