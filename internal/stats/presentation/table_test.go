// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package presentation_test

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
)

func TestTableCheck(t *testing.T) {
	run, comparison, alone := points(""), points("small", "large"), []claims.Series{{}}
	figure := func(metric string, of claims.Selector) presentation.Table {
		return presentation.Table{Metrics: []string{"rate", "seconds"}, Published: []presentation.Figure{{Of: of, Metric: metric, Value: 1}}}
	}
	narrowed := figure("", among("", "concurrency", "1"))
	narrowed.Among = among("", "concurrency", "5")
	for name, c := range map[string]struct {
		points []claims.Series
		table  presentation.Table
		want   string
	}{
		"all points":       {run, presentation.Table{}, ""},
		"some points":      {comparison, presentation.Table{Among: among("large", "concurrency", "5")}, ""},
		"a figure":         {run, figure("seconds", among("", "concurrency", "1")), ""},
		"of the one":       {alone, figure("", claims.Selector{}), ""},
		"no variant":       {comparison, presentation.Table{Among: among("a")}, "table t: among: there is no variant a; use one of small, large"},
		"no such point":    {run, presentation.Table{Among: among("", "concurrency", "1", "rows", "500")}, "table t: among: concurrency=1, rows=500 names no point"},
		"no metric":        {run, figure("x", among("", "concurrency", "1")), "table t: published figure 1: the table has no metric x; it has rate, seconds"},
		"of no value":      {run, figure("", among("", "concurrency", "4")), "table t: published figure 1: of: no point has concurrency=4; concurrency is one of 1, 5, 20"},
		"of several":       {run, figure("", among("", "concurrency", "5")), "table t: published figure 1: of: concurrency=5 names 2 points of the table, but must name exactly one: concurrency=5, rows=2000 and concurrency=5, rows=500 among them"},
		"of which":         {run, figure("", claims.Selector{}), "table t: published figure 1: of is missing: the table has several points"},
		"of both":          {comparison, figure("", among("", "concurrency", "1")), "table t: published figure 1: of: concurrency=1 names 2 points of the table, but must name exactly one: small concurrency=1, rows=2000 and large concurrency=1, rows=2000 among them"},
		"not in the table": {run, narrowed, "table t: published figure 1: of: concurrency=1 names no point of the table"},
	} {
		c.table.Name = "t"
		got := ""
		if err := c.table.Check(c.points); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestPublishedAt(t *testing.T) {
	table := presentation.Table{Metrics: []string{"rate", "seconds"}, Published: []presentation.Figure{
		{Of: among("", "rows", "500"), Value: 7}, {Of: among("", "rows", "500"), Metric: "seconds", Value: 8},
	}}
	all := points("")
	for _, c := range []struct {
		metric string
		point  int
		want   float64
	}{{"rate", 3, 7}, {"seconds", 3, 8}, {"rate", 0, 0}, {"other", 3, 0}} {
		if got, found := table.PublishedAt(c.metric, &all[c.point]); got != c.want || found != (c.want > 0) {
			t.Errorf("%s at %v: %g, %v; want %g", c.metric, all[c.point].Parameters, got, found, c.want)
		}
	}
}
