// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"strings"
	"testing"

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
