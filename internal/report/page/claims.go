// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// claim as the page shows it.
type claim struct {
	Name, Statement string
	// Verdict in words, and the class of its colour.
	Verdict, Class string
	Detail         string
	// Published says what the published figures say, or is empty.
	Published string
}

func judged(list []claims.Judgement) []claim {
	var shown []claim
	for _, j := range list {
		c := claim{Name: j.Name, Statement: j.Statement, Verdict: report.VerdictText(j.Verdict), Class: "open", Detail: j.Detail}
		switch j.Verdict {
		case claims.Holds:
			c.Class = "yes"
		case claims.DoesNotHold:
			c.Class = "no"
		case claims.CannotSay, claims.PremiseMissing:
		}
		if j.Published != "" {
			text := report.PublishedText(&j)
			c.Published = strings.ToUpper(text[:1]) + text[1:]
		}
		shown = append(shown, c)
	}
	return shown
}
