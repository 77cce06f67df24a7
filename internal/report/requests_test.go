// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// points of two variants: three connections, and two statement sizes at one of them.
func points(variants ...string) []stats.Point {
	var list []stats.Point
	for _, v := range variants {
		for _, p := range [][2]string{{"1", "2000"}, {"5", "2000"}, {"20", "2000"}, {"5", "500"}} {
			list = append(list, stats.Point{Variant: v, Parameters: map[string]string{"clients": p[0], "rows": p[1]}})
		}
	}
	return list
}

func among(variant string, parameters ...string) claims.Selector {
	s := claims.Selector{Variant: variant, Parameters: map[string]string{}}
	for i := 0; i < len(parameters); i += 2 {
		s.Parameters[parameters[i]] = parameters[i+1]
	}
	return s
}

func TestCheck(t *testing.T) {
	run, comparison := points(""), points("small", "large")
	var many []stats.Point
	for i := range 20 {
		many = append(many, stats.Point{Parameters: map[string]string{"n": fmt.Sprint(i)}})
	}
	odd := append(points(""), stats.Point{Parameters: map[string]string{"rows": "7"}})
	for name, c := range map[string]struct {
		points []stats.Point
		curve  report.PlotRequest
		want   string
	}{
		"lines":          {run, report.PlotRequest{Against: "clients", Lines: "rows"}, ""},
		"a selection":    {run, report.PlotRequest{Against: "rows", Among: among("", "clients", "5")}, ""},
		"a number":       {run, report.PlotRequest{Against: "clients", Among: among("", "rows", "2e3")}, ""},
		"all variants":   {comparison, report.PlotRequest{Against: "clients", Lines: "rows"}, ""},
		"a variant":      {comparison, report.PlotRequest{Against: "clients", Lines: "rows", Among: among("large")}, ""},
		"no parameter":   {run, report.PlotRequest{Against: "threads"}, "plot p: against: threads is not swept; use one of clients, rows"},
		"no lines":       {run, report.PlotRequest{Against: "rows", Lines: "x"}, "plot p: lines: x is not swept; use one of clients, rows"},
		"nothing swept":  {[]stats.Point{{}}, report.PlotRequest{Against: "rows"}, "plot p: against: rows is not swept: nothing is"},
		"no variants":    {run, report.PlotRequest{Against: "rows", Among: among("a")}, "plot p: among: a run has no variants"},
		"no variant":     {comparison, report.PlotRequest{Against: "rows", Among: among("a")}, "plot p: among: there is no variant a; use one of small, large"},
		"no such name":   {run, report.PlotRequest{Against: "rows", Among: among("", "x", "1")}, "plot p: among: parameters: x is not swept; use one of clients, rows"},
		"no such value":  {run, report.PlotRequest{Against: "rows", Among: among("", "clients", "4")}, "plot p: among: no point has clients=4; clients is one of 1, 5, 20"},
		"of many values": {many, report.PlotRequest{Against: "n", Among: among("", "n", "x")}, "plot p: among: no point has n=x; n is one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more"},
		"no such point":  {run, report.PlotRequest{Against: "rows", Among: among("", "clients", "1", "rows", "500")}, "plot p: among: clients=1, rows=500 names no point"},
		"one place":      {run, report.PlotRequest{Against: "clients"}, "plot p: clients=5, rows=2000 and clients=5, rows=500 would be drawn at the same place: set rows in among, or name it in lines"},
		"one lacks it":   {odd, report.PlotRequest{Against: "rows", Lines: "clients"}, "plot p: rows=7 has no parameter clients: name other points in among"},
	} {
		c.curve.Name = "p"
		r := &report.Report{Points: c.points}
		must.Same(t, name, c.want, must.Text(r.Request(&report.Requested{Plots: []report.PlotRequest{c.curve}})))
	}
}

func TestTableCheck(t *testing.T) {
	run, comparison, alone := points(""), points("small", "large"), []stats.Point{{}}
	figure := func(metric string, of claims.Selector) report.TableRequest {
		return report.TableRequest{Metrics: []string{"rate", "seconds"}, Published: []report.Figure{{Of: of, Metric: metric, Value: "1"}}}
	}
	narrowed := figure("", among("", "clients", "1"))
	narrowed.Among = among("", "clients", "5")
	for name, c := range map[string]struct {
		points []stats.Point
		table  report.TableRequest
		want   string
	}{
		"all points":       {run, report.TableRequest{}, ""},
		"some points":      {comparison, report.TableRequest{Among: among("large", "clients", "5")}, ""},
		"a figure":         {run, figure("seconds", among("", "clients", "1")), ""},
		"of the one":       {alone, figure("", claims.Selector{}), ""},
		"no variant":       {comparison, report.TableRequest{Among: among("a")}, "table t: among: there is no variant a; use one of small, large"},
		"no such point":    {run, report.TableRequest{Among: among("", "clients", "1", "rows", "500")}, "table t: among: clients=1, rows=500 names no point"},
		"no metric":        {run, figure("x", among("", "clients", "1")), "table t: published figure 1: the table has no metric x; it has rate, seconds"},
		"of no value":      {run, figure("", among("", "clients", "4")), "table t: published figure 1: of: no point has clients=4; clients is one of 1, 5, 20"},
		"of several":       {run, figure("", among("", "clients", "5")), "table t: published figure 1: of: clients=5 names 2 points but must name exactly one: clients=5, rows=2000 and clients=5, rows=500 are among them"},
		"of both":          {comparison, figure("", among("", "clients", "1")), "table t: published figure 1: of: clients=1 names 2 points but must name exactly one: small at clients=1, rows=2000 and large at clients=1, rows=2000 are among them"},
		"not in the table": {run, narrowed, "table t: published figure 1: of: clients=1 names no point"},
	} {
		c.table.Name = "t"
		r := &report.Report{Points: c.points}
		must.Same(t, name, c.want, must.Text(r.Request(&report.Requested{Tables: []report.TableRequest{c.table}})))
	}
}

func TestPublishedAt(t *testing.T) {
	table := report.TableRequest{Metrics: []string{"rate", "seconds"}, Published: []report.Figure{
		{Of: among("", "rows", "500"), Value: "7"}, {Of: among("", "rows", "500"), Metric: "seconds", Value: "8"},
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
