// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
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
		var missing []string
		for _, at := range places(i) {
			for _, text := range missingPremises(&list[i].Needs, at) {
				if !slices.Contains(missing, text) {
					missing = append(missing, text)
				}
			}
		}
		if len(missing) > 0 {
			j := &judged[i]
			j.Verdict, j.Settled = claims.PremiseMissing, true
			j.Detail = strings.Join(missing, "; ") + "; without that: " + j.Detail
		}
	}
}

// missingPremises are what a claim needs and a place does not have, each in a part of a sentence. What is not known is missing.
func missingPremises(needs *v1alpha1.ClaimNeeds, at place) []string {
	var missing []string
	if least := needs.FdatasyncMicros.AtLeast; max(at.median, at.mean) < least {
		text := fmt.Sprintf("needs an fdatasync of at least %s ms, ", stats.Format(float64(least)/1000))
		if at.median > 0 {
			text += "and here it takes " + fdatasyncText(at.median, at.mean)
		} else {
			text += "which was not measured here"
		}
		missing = append(missing, text)
	}
	if least := float64(needs.CPUsOfDatabase.AtLeast); at.cpus < least {
		text := fmt.Sprintf("needs at least %s for the database, ", cpuCount(least))
		if at.cpus > 0 {
			text += "and here it has " + cpuCount(at.cpus)
		} else {
			text += "whose number is not known here"
		}
		missing = append(missing, text)
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
