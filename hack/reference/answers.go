// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/kubectl"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

const (
	answersHead = "\n## Answers\n\n" +
		"What a run says about a pair of variants. The code that judges measurements has judged these examples.\n\n" +
		"| the values | the answer |\n|---|---|\n"
	claimsHead  = "\n## Claims\n\n| the claim | the answer |\n|---|---|\n"
	reasonsHead = "\n## Reasons\n\nThe reason of the condition `Ready`, as the column STATUS shows it; the message has the " +
		"details.\n[Troubleshooting](../troubleshooting.md#reasons) has those of failed runs.\n\n"
	causesHead = "\n## Causes\n\nWhy an attempt does not count, in its record and in the label `benchrun.dev/cause`; if only " +
		"what to do is here,\n[Troubleshooting](../troubleshooting.md) says what happened.\n\n"
)

var (
	rate  = result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}
	took  = result.Metric{Name: "totalSeconds", Unit: "s", Better: "lower"}
	share = result.Metric{Name: "errorPercent", Unit: "%", Better: "lower"}
)

// rounds are so many values around one, each off by a part of it.
func rounds(n int, value, scatter float64) []float64 {
	off := []float64{1, -1, 0.4, -0.6, 0.8, -0.2, -0.8, 0.5}
	values := make([]float64, 0, n)
	for i := range n {
		values = append(values, value*(1+scatter*off[(i+int(value))%len(off)]))
	}
	return values
}

// pairs are one of each kind of answer.
var pairs = []struct {
	about             string
	metric            result.Metric
	baseline, variant []float64
	other             *result.Metric
}{
	{"a rate that triples", rate, rounds(6, 100, 0.01), rounds(6, 310, 0.02), nil},
	{"a rate that rises", rate, rounds(6, 100, 0.01), rounds(6, 110, 0.02), nil},
	{"a time that doubles", took, rounds(6, 100, 0.01), rounds(6, 200, 0.02), nil},
	{"another metric that falls", share, rounds(6, 4, 0.01), rounds(6, 3, 0.02), nil},
	{"the same", rate, rounds(12, 100, 0.01), rounds(12, 101, 0.01), nil},
	{"much scatter", rate, rounds(20, 100, 0.1), rounds(20, 104, 0.5), nil},
	{"two rounds", rate, rounds(2, 100, 0.01), rounds(2, 310, 0.02), nil},
	{"no scatter measured because a value is 0", rate, rounds(6, 0, 0), rounds(6, 310, 0.02), nil},
	{"two metrics", rate, rounds(6, 100, 0.01), rounds(6, 310, 0.02), &took},
}

func answers(text *bytes.Buffer) {
	text.WriteString(answersHead)
	design := stats.Design{MinRounds: 6, MaxRounds: 20, EarlyStop: true, EquivalencePercent: 5, Comparisons: 1}
	for _, p := range pairs {
		pair := stats.Paired{Variant: "lazy", Baseline: "durable", BaselineValues: p.baseline, Values: p.variant}
		base := p.metric
		if p.other != nil {
			base = *p.other
		}
		pair.Measures(p.metric, base)
		pair.Judge(design)
		fmt.Fprintf(text, "| %s | %s |\n", p.about, pair.String())
	}
	for _, several := range []struct {
		about  string
		ratios []float64
	}{
		{"three points, two of which differ", []float64{1.2, 1, 1.3}},
		{"two points that differ in opposite directions", []float64{1.25, 0.8}},
	} {
		design.Comparisons = len(several.ratios)
		var list []stats.Paired
		for i, ratio := range several.ratios {
			pair := stats.Paired{
				Variant: "lazy", Baseline: "durable", Parameters: map[string]string{"rowsPerCommit": strconv.Itoa(16 << i)},
				BaselineValues: rounds(10, 100, 0.01), Values: rounds(10, 100*ratio, 0.01), Metric: rate,
			}
			pair.Judge(design)
			list = append(list, pair)
		}
		fmt.Fprintf(text, "| %s | %s |\n", several.about, stats.AnswerOf(design.Overall(list), list).Text)
	}
}

// judged claims, each kind with each verdict that it can have.
func judged(text *bytes.Buffer) {
	text.WriteString(claimsHead)
	at := func(value string) v1alpha1.PointSelector {
		return v1alpha1.PointSelector{Parameters: map[string]v1alpha1.SelectedValue{"rowsPerCommit": v1alpha1.SelectedText(value)}}
	}
	var series []claims.Series
	for i, value := range []float64{100, 500, 1000, 1010} {
		series = append(series, claims.Series{
			Parameters: map[string]string{"rowsPerCommit": []string{"1", "16", "256", "1024"}[i]}, Metric: rate,
			Values: rounds(8, value+float64(i), 0.01),
		})
	}
	ratio := func(of, to string, least v1alpha1.ClaimedNumber) v1alpha1.Claim {
		return v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: at(of), To: at(to), AtLeast: least}}
	}
	same := func(of, to string, within int32) v1alpha1.Claim {
		return v1alpha1.Claim{NoDifference: &v1alpha1.NoDifferenceClaim{Of: at(of), To: at(to), WithinPercent: within}}
	}
	list := []struct {
		about string
		claim v1alpha1.Claim
	}{
		{"ratio, at least 4", ratio("16", "1", "4")},
		{"ratio, at least 8", ratio("16", "1", "8")},
		{"ratio, at least 5, which is what is measured", ratio("16", "1", "5")},
		{"best at 256", v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: at("256")}}},
		{"best at 16", v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: at("16")}}},
		{"rising with rowsPerCommit", v1alpha1.Claim{
			Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit", WithinPercent: 5},
		}},
		{"falling with rowsPerCommit", v1alpha1.Claim{
			Monotonic: &v1alpha1.MonotonicClaim{Parameter: "rowsPerCommit", Direction: v1alpha1.DirectionFalling, WithinPercent: 5},
		}},
		{"no difference within 10%", same("256", "1024", 10)},
		{"no difference within 5%, but there is one", same("16", "1024", 5)},
	}
	for _, c := range list {
		c.claim.Name = "claim"
		j := claims.Judge([]v1alpha1.Claim{c.claim}, func(string) []claims.Series { return series }, stats.PairedRatio)[0]
		fmt.Fprintf(text, "| %s | **%s**: %s |\n", c.about, report.VerdictText(j.Verdict), j.Detail)
	}
}

// advised are reasons or causes, with what to do. Of those that stand in a table of another page, at most what to do is said.
func advised(text *bytes.Buffer, head string, list []kubectl.Explained, page string, remedies bool) {
	text.WriteString(head)
	for _, e := range list {
		if elsewhere := strings.Contains(page, "| `"+e.Name+"` |"); elsewhere && (!remedies || e.Do == "") {
			continue
		} else if elsewhere {
			e.Means = ""
		}
		item(text, e.Name, e.Means, e.Do)
	}
}
