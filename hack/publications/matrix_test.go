// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestVerdictCells(t *testing.T) {
	for verdict, want := range map[claims.Verdict]string{
		claims.Holds: "🟢 Holds", claims.DoesNotHold: "🔴 Does not hold", claims.CannotSay: "⚪ Cannot say",
		claims.PremiseMissing: "🟡 Premise missing", "": "–",
	} {
		must.Same(t, string(verdict), want, verdictCell(verdict))
	}
}

func TestQuotes(t *testing.T) {
	long := strings.Repeat("a word, ", 20)
	for statement, want := range map[string]string{
		"":                                  "",
		"faster":                            "“faster”",
		"from the figures: it takes less":   "it takes less",
		"from the figures: " + long:         strings.Repeat("a word, ", 11) + "a…",
		strings.Repeat("é", 80) + " ü ende": "“" + strings.Repeat("é", 80) + " ü ende”",
	} {
		c := conclusion{Judgement: &claims.Judgement{Statement: statement}}
		must.Same(t, statement, want, c.quote())
		must.Same(t, statement, strings.HasPrefix(want, "“"), !c.byUs())
	}
}

// A conclusion of the full file is in the small one under its name or in its words; others are in full only. Verdicts are counted.
func TestConclusions(t *testing.T) {
	root := repository(t)
	list := must.Get(load(t.Context(), root))(t)
	here := &list[0].reports[0]
	here.Claims = []claims.Judgement{
		{Name: "tenfold-to-16", Statement: "other words", Verdict: claims.PremiseMissing},
		{Name: "flat", Statement: list[0].full.objects[0].run.Spec.Claims[1].Statement, Verdict: claims.DoesNotHold},
	}
	var names []string
	for _, c := range list[0].conclusions() {
		names = append(names, c.Name)
	}
	must.Same(t, "conclusions", []string{"tenfold-to-16", "flat"}, names)
	const want = "1 of 2 are decided here (hold: 1, do not hold: 0). Premise missing: 1; cannot say: 0; in full only: 0."
	must.Has(t, matrix(list), want, "other words” | – | 🟡 Premise missing |")
}
