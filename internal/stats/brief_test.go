// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

func TestBrief(t *testing.T) {
	point := func(parameter, value, unit string, values ...float64) stats.Point {
		p := stats.Point{Metric: result.Metric{Unit: unit, Better: "higher"}, Values: values, Summary: stats.Summarize(values)}
		if parameter != "" {
			p.Parameters = map[string]string{parameter: value}
		}
		return p
	}
	for name, tc := range map[string]struct {
		points []stats.Point
		want   string
	}{
		"nothing":   {[]stats.Point{point("", "", "rows/s")}, ""},
		"one point": {[]stats.Point{point("", "", "rows/s", 1000)}, "1000 rows/s"},
		"a sweep": {
			[]stats.Point{point("rowsPerCommit", "1", "rows/s", 1000), point("rowsPerCommit", "1024", "rows/s", 14970)},
			"14970 rows/s at rowsPerCommit=1024",
		},
		"a long point": {
			[]stats.Point{point("secondaryIndexes", strings.Repeat("9", 30), "rows/s", 2), point("secondaryIndexes", "1", "rows/s", 1)},
			"2 rows/s, best of 2 points",
		},
		"a long unit": {[]stats.Point{point("", "", strings.Repeat("µ", 64), 2)}, "2 " + strings.Repeat("µ", 37) + "…"},
	} {
		if got := stats.Brief(tc.points); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// Comparisons without an answer are one if they differ only in their point and in what was measured.
func TestMergeUnanswered(t *testing.T) {
	noise := func(needed int, detectable float64) stats.Paired {
		return pair("higher", stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Rounds: 20, RoundsNeeded: needed, Detectable: detectable})
	}
	shown := func(low, high, detectable float64) stats.Paired {
		return pair("higher", stats.Comparison{Verdict: stats.NoDifferenceShown, Low: low, High: high, Detectable: detectable})
	}
	separate := func(ours, theirs int) stats.Paired {
		p := pair("higher", few)
		p.Separate, p.Values, p.BaselineValues = true, make([]float64, ours), make([]float64, theirs)
		return p
	}
	other := noise(30, 0.2)
	other.Variant = "eager"
	metrics := pair("higher", few)
	metrics.Measures(result.Metric{Name: "rowsPerSecond", Unit: "rows/s"}, result.Metric{Name: "totalSeconds", Unit: "s"})
	const scatter = "cannot say whether lazy differs from durable: the ratios vary too much between rounds"
	for name, tc := range map[string]struct {
		pairs []stats.Paired
		want  []string
	}{
		"none": {},
		"noise": {
			[]stats.Paired{noise(323, 0.58), noise(189, 0.075), other, noise(200, 0.2)},
			[]string{
				scatter + "; a difference of 5% would take about 189–323 rounds to show; a difference of 7.5–58% would probably have been detected",
				"cannot say whether eager differs from durable: the ratios vary too much between rounds; a difference of 5% would " +
					"take about 30 rounds to show; a difference of 20% would probably have been detected",
			},
		},
		"numbers that are not known": {
			[]stats.Paired{noise(10, 0.58), noise(60, math.Inf(1)), noise(5, math.Inf(1)), noise(5, 0.6)},
			[]string{
				scatter + "; a difference of 58–60% would probably have been detected", scatter + "; a difference of 5% would take about 60 rounds to show", scatter,
			},
		},
		"no difference": {
			[]stats.Paired{shown(0.96, 1.08, 0.061), shown(0.99, 1.1, 0.03)},
			[]string{"no difference shown between lazy and durable (ratio 0.96–1.10); a difference of 3–6.1% would probably have been detected"},
		},
		"too few": {
			[]stats.Paired{separate(2, 3), pair("higher", few), separate(3, 3), metrics},
			[]string{
				"cannot say whether lazy differs from durable: too few trials (3 and 2–3): an answer takes at least 4 on each side",
				"cannot say whether lazy differs from durable: too few rounds (3): an answer takes at least 4",
				"cannot say whether lazy differs from durable: different metrics: totalSeconds in s and rowsPerSecond in rows/s",
			},
		},
	} {
		var pairs []*stats.Paired
		for i := range tc.pairs {
			pairs = append(pairs, &tc.pairs[i])
		}
		var got []string
		n := 0
		for _, u := range stats.MergeUnanswered(pairs) {
			got, n = append(got, u.String()), n+len(u.From)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || n != len(pairs) {
			t.Errorf("%s: made of %d (-want +got):\n%s", name, n, diff)
		}
	}
}
