// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// claimLines are what the numbers say of claims, a line for each: what is said, whether it holds here, and whether the published
// figures say it.
func claimLines(list []claims.Judgement) []string {
	var lines []string
	for _, j := range list {
		line := fmt.Sprintf("%s **%s**: %s", j.Name, VerdictText(j.Verdict), j.Detail)
		if j.Statement != "" {
			line = fmt.Sprintf("%s, %q, **%s**: %s", j.Name, j.Statement, VerdictText(j.Verdict), j.Detail)
		}
		if j.Published != "" {
			line += "; " + PublishedText(&j)
		}
		lines = append(lines, line)
	}
	if len(lines) > 1 {
		lines = append(lines, "intervals: 95% confidence across all claims")
	}
	return lines
}

// PublishedText is what the published figures say of a claim, of which there are some.
func PublishedText(j *claims.Judgement) string {
	if j.Published == claims.CannotSay {
		return "the published data cannot say: " + j.PublishedDetail
	}
	return fmt.Sprintf("in the published data it %s: %s", VerdictText(j.Published), j.PublishedDetail)
}

// VerdictText is a verdict in words.
func VerdictText(v claims.Verdict) string {
	switch v {
	case claims.Holds:
		return "holds"
	case claims.DoesNotHold:
		return "does not hold"
	case claims.PremiseMissing:
		return "premise missing"
	case claims.CannotSay:
	}
	return "cannot say"
}
