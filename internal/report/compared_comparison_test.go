// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// comparisonToCompare has six whole rounds at one point, of which the comparison has compared lazy with durable.
func comparisonToCompare() *report.Comparison {
	s := reportOfComparison()
	s.Spec = json.RawMessage(`{"maxRounds":20,"equivalencePercent":5,"earlyStop":{"policy":"WhenDecided","minRounds":6}}`)
	s.Rounds = 6
	s.Runs = nil
	for round := range s.Rounds {
		for v, variant := range []string{"durable", "lazy", "same"} {
			s.Runs = append(s.Runs, report.ComparisonRun{
				Round: round + 1, Variant: variant, Outcome: "Complete", Metric: "rowsPerSecond", Unit: "rows/s",
				Values: []report.ComparisonValue{{
					Parameters: map[string]string{"rowsPerCommit": "1"}, Value: (1 - 0.1*float64(v)) * around100[round],
				}},
			})
		}
	}
	// A round that is not whole does not count.
	s.Runs = append(s.Runs, report.ComparisonRun{
		Round: 7, Variant: "durable", Outcome: "Complete", Metric: "rowsPerSecond", Unit: "rows/s",
		Values: []report.ComparisonValue{{Parameters: map[string]string{"rowsPerCommit": "1"}, Value: 1}},
	})
	s.Pairs, s.Overall = s.Pairs[:1], nil
	s.Pairs[0].BaselineValues, s.Pairs[0].Values = around100, times(3, around100)
	return s
}

// Two variants are compared round by round, by the comparison's own verdict if it has one.
func TestCompareVariants(t *testing.T) {
	s := comparisonToCompare()
	own, err := report.CompareVariants(s, "durable", "lazy", "")
	if err != nil || len(own.Pairs) != 1 || cmp.Diff(s.Pairs[0], own.Pairs[0]) != "" {
		t.Errorf("not the comparison's own: %v, %+v", err, own)
	}
	c, err := report.CompareVariants(s, "lazy", "same", "rowsPerSecond")
	if err != nil {
		t.Fatal(err)
	}
	// 0.9 and 0.8 of values that go up and down: paired, their ratio does not scatter at all. They have one decimal.
	if p := c.Pairs[0]; p.Verdict != stats.Slower || p.Separate || p.Rounds != 6 || p.High-p.Low > 0.01 {
		t.Errorf("%+v", p)
	}
	for name, test := range map[string]struct {
		baseline, variant, metric, says string
		change                          func(*report.Comparison)
	}{
		"unknown":    {"durable", "nothing", "", `no variant "nothing"; it has durable, lazy, same`, nil},
		"itself":     {"durable", "durable", "", "both are variant durable", nil},
		"metric":     {"durable", "lazy", "other", "compared only", nil},
		"unfinished": {"durable", "lazy", "", "has not completed: Unfinished", func(s *report.Comparison) { s.Outcome = report.Unfinished }},
		"no outcome": {"durable", "lazy", "", "has not completed: Unfinished", func(s *report.Comparison) { s.Outcome = "" }},
		"failed":     {"durable", "lazy", "", "has not completed", func(s *report.Comparison) { s.Outcome = "Failed" }},
		"empty":      {"durable", "lazy", "", "no pairs", func(s *report.Comparison) { s.Pairs = nil }},
		"verdict":    {"durable", "lazy", "", "contradicts itself", func(s *report.Comparison) { s.Pairs[0].Verdict = stats.Slower }},
		"unknown v":  {"durable", "lazy", "", "contradicts itself", func(s *report.Comparison) { s.Pairs[0].Verdict = "Splendid" }},
		"cut":        {"durable", "lazy", "", "contradicts itself", func(s *report.Comparison) { s.Pairs[0].Values = s.Pairs[0].Values[:5] }},
		"all points": {"durable", "lazy", "", "contradicts itself", func(s *report.Comparison) {
			s.Overall = slices.Clone(s.Pairs)
			s.Overall[0].Verdict = stats.Slower
		}},
		"spec": {"lazy", "same", "", "reading the specification", func(s *report.Comparison) { s.Spec = json.RawMessage(`{`) }},
	} {
		s := comparisonToCompare()
		if test.change != nil {
			test.change(s)
		}
		if _, err := report.CompareVariants(s, test.baseline, test.variant, test.metric); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Variants of two comparisons were not measured in the same rounds.
func TestCompareVariantsOfTwoComparisons(t *testing.T) {
	other := comparisonToCompare()
	other.Name, other.UID = "other", "other"
	a, err := report.VariantSide(comparisonToCompare(), "durable", "", "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := report.VariantSide(other, "same", "", "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := report.CompareSides(a, b, 5, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Pairs[0]; !p.Separate || p.Verdict != stats.Slower || len(p.BaselineValues) != 6 || c.Baseline != "durable-or-not:durable" || c.Variant != "other:same" {
		t.Errorf("%+v", c)
	}
}
