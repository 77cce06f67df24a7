// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// claimStatus is what the status says of claims, each and together.
func claimStatus(judged []claims.Judgement) (list []v1alpha1.ClaimStatus, together string) {
	counts := map[claims.Verdict]int{}
	for _, j := range judged {
		counts[j.Verdict]++
		list = append(list, v1alpha1.ClaimStatus{
			Name: j.Name, Verdict: v1alpha1.ClaimVerdict(j.Verdict), Detail: cut(detail(j), maxComparisonText),
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
		{claims.PremiseMissing, "without its premise", "without their premise"},
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
