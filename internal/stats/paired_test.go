// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// pair is a comparison of lazy with durable with that outcome.
func pair(better string, c stats.Comparison, parameters ...string) stats.Paired {
	p := stats.Paired{
		Variant: "lazy", Baseline: "durable", Metric: result.Metric{Better: better}, EquivalencePercent: 5, FirstLook: 4, Comparison: c,
	}
	for _, value := range parameters {
		p.Parameters = map[string]string{"rowsPerCommit": value}
	}
	return p
}

var (
	threefold = stats.Comparison{Verdict: stats.Faster, Ratio: 3.117, Low: 2.803, High: 3.441}
	third     = stats.Comparison{Verdict: stats.Faster, Ratio: 1 / 3.117, Low: 1 / 3.441, High: 1 / 2.803}
	slightly  = stats.Comparison{Verdict: stats.Faster, Ratio: 1.081, Low: 1.041, High: 1.126}
	slower    = stats.Comparison{Verdict: stats.Slower, Ratio: 0.929, Low: 0.908, High: 0.951}
	equal     = stats.Comparison{Verdict: stats.Equal, Ratio: 1.002, Low: 0.981, High: 1.029}
	none      = stats.Comparison{Verdict: stats.NoDifferenceShown, Ratio: 1.02, Low: 0.96, High: 1.08, Detectable: 0.061}
	noisy     = stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Rounds: 20, RoundsNeeded: 60, Detectable: 0.21}
	wide      = stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Ratio: 1.08, Low: 0.95, High: 1.23}
	few       = stats.Comparison{Verdict: stats.CannotSay, Cause: stats.TooFewRounds, Rounds: 3}
)

// inUnit is a comparison of a metric of which less is better. Its verdict follows from the ratio.
func inUnit(unit string, c stats.Comparison) stats.Paired {
	c.Verdict = stats.Faster
	if c.Ratio > 1 {
		c.Verdict = stats.Slower
	}
	p := pair("lower", c)
	p.Metric.Name, p.Metric.Unit = "cost", unit
	return p
}

func TestVerdictsInWords(t *testing.T) {
	for _, tc := range []struct {
		paired stats.Paired
		want   string
	}{
		{pair("higher", threefold), "lazy is 3.1× as fast as durable (2.8–3.4×)"},
		{inUnit("s", third), "lazy is 3.1× as fast as durable (2.8–3.4×)"},
		{inUnit("s", slower), "lazy takes 7.1% less time than durable (4.9–9.2%)"},
		{inUnit("µs", slightly), "lazy takes 8.1% more time than durable (4.1–13%)"},
		{inUnit("s", threefold), "lazy takes 3.1× as long as durable (2.8–3.4×)"},
		{inUnit("fsyncs/row", third), "cost is 68% lower with lazy than with durable (64–71%)"},
		{pair("higher", slightly), "lazy is 8.1% faster than durable (4.1–13%)"},
		{pair("higher", slower), "lazy is 7.1% slower than durable (4.9–9.2%)"},
		{pair("higher", equal), "lazy and durable are equal within 5% (ratio 0.98–1.03)"},
		{pair("higher", none), "no difference shown between lazy and durable (ratio 0.96–1.08); a difference of 6.1% would probably have been detected"},
		{pair("higher", few), "cannot say whether lazy differs from durable: too few rounds (3): an answer takes at least 4"},
		{pair("higher", wide), "1.08× (0.95–1.23) from durable to lazy: not decided: the ratios vary too much between rounds"},
		{pair("higher", noisy), "cannot say whether lazy differs from durable: the ratios vary too much between rounds; " +
			"a difference of 5% would take about 60 rounds to show; a difference of 21% would probably have been detected"},
	} {
		must.Same(t, "text", tc.want, tc.paired.String())
	}
}

func TestAnswer(t *testing.T) {
	other := pair("higher", slightly)
	other.Variant = "eager"
	for name, tc := range map[string]struct {
		list []stats.Paired
		want string
	}{
		"nothing":   {nil, ""},
		"one":       {[]stats.Paired{pair("higher", slower)}, "lazy is 7.1% slower than durable (4.9–9.2%)"},
		"one point": {[]stats.Paired{pair("higher", threefold, "1")}, "lazy is 3.1× as fast as durable (2.8–3.4×) at rowsPerCommit=1"},
		"points": {
			[]stats.Paired{pair("higher", slightly, "16"), pair("higher", threefold, "1"), pair("higher", equal, "1024")},
			"lazy is 3.1× as fast as durable (2.8–3.4×) at rowsPerCommit=1; 2 of 3 points differ",
		},
		"variants": {
			[]stats.Paired{pair("higher", threefold), other},
			"lazy is 3.1× as fast as durable (2.8–3.4×); 2 of 2 pairs differ",
		},
		"all equal": {[]stats.Paired{pair("higher", equal, "1"), pair("higher", equal, "2")}, "equal within 5% for all 2 points"},
		"some equal": {
			[]stats.Paired{pair("higher", equal, "1"), pair("higher", none, "2")},
			"equal within 5% for 1 of 2 points; no difference shown for the others",
		},
		"none": {[]stats.Paired{pair("higher", none, "1"), pair("higher", none, "2")}, "no difference shown for any of 2 points"},
		"few of both": {
			[]stats.Paired{pair("higher", none, "1"), pair("higher", few, "2")},
			"no difference shown for 1 of 2 points; no answer for the others",
		},
		"for several causes": {[]stats.Paired{pair("higher", noisy, "1"), pair("higher", few, "2")}, "no answer for any of 2 points"},
		"equal or unknown": {
			[]stats.Paired{pair("higher", equal, "1"), pair("higher", none, "2"), pair("higher", few, "3")},
			"equal within 5% for 1 of 3 points; no answer for the others",
		},
		"too few": {[]stats.Paired{pair("higher", few, "1"), pair("higher", few, "2")}, "no answer: too few rounds (3): an answer takes at least 4"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "text", tc.want, stats.AnswerOf(nil, tc.list).Text)
		})
	}
}

// A variant whose metric is another one than the baseline's is not compared.
func TestMetricsDiffer(t *testing.T) {
	p := pair("higher", stats.Comparison{})
	p.Values, p.BaselineValues = []float64{1, 2}, []float64{1, 2}
	p.Measures(result.Metric{Name: "rowsPerSecond", Unit: "rows/s"}, result.Metric{Name: "totalSeconds", Unit: "s"})
	p.Judge(stats.Design{MaxRounds: 2, Comparisons: 1})
	if p.Verdict != stats.CannotSay || p.Cause != stats.MetricsDiffer || p.Answered() || p.String() != "cannot say whether lazy differs from durable: different metrics: totalSeconds in s and rowsPerSecond in rows/s" {
		t.Errorf("%+v: %s", p.Comparison, &p)
	}
}
