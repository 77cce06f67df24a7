//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestEnvtestPlotRules(t *testing.T) {
	plots := func(list string) string {
		return spec("plots: [" + list + "], workload: {commitSize: {sweep: {rowsPerCommit: [1, 4, 16]}}}")
	}
	plot := func(s string) string { return plots("{name: p, against: rowsPerCommit, " + s + "}") }
	name := func(s string) string { return plots(`{name: "` + s + `", against: rowsPerCommit}`) }
	many := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("{name: p%d, against: rowsPerCommit}", i))
		}
		return plots(strings.Join(list, ", "))
	}
	checkRules(t, minimal, map[string]rule{
		"names": {
			allowed: []string{
				name("env=default_config.c=5.against_rows_per_stmt"), name("a"), name("a+b-c"), name("console"), name(strings.Repeat("a", 80)),
			},
			refused: []string{
				name("a/b"), name("../a"), name(`a\\b`), name("a:b"), name("a*"), name("a?"), name("a b"), name("ä"), name(".a"), name("a."),
				name("-a"), name("'a'"),
			},
			says: "should match",
		},
		"length of names": {refused: []string{name(strings.Repeat("a", 81))}, says: "Too long"},
		"names of Windows": {
			refused: []string{name("NUL"), name("con.against_x"), name("lpt1")}, says: "Windows takes no file of that name",
		},
		"named alike": {refused: []string{strings.Replace(many(2), "p1", "p0", 1)}, says: "Duplicate value"},
		"named alike but for their case": {
			refused: []string{strings.Replace(many(2), "p1", "P0", 1)}, says: "names of plots must differ in more than upper and lower case",
		},
		"number of them": {allowed: []string{many(16)}, refused: []string{many(17)}, says: "spec.plots"},
		"an empty list":  {refused: []string{spec("plots: []")}, says: "spec.plots"},
		"against":        {refused: []string{plots("{name: p}")}, says: "spec.plots[0].against: Required value"},
		"two parameters": {refused: []string{plot("lines: rowsPerCommit")}, says: "against and lines must be two parameters"},
		"all fields": {
			allowed: []string{plot(`title: T, metric: durationSeconds, among: {parameters: {rowsPerCommit: "16"}}`)},
			refused: []string{plot("color: red")}, says: "unknown field",
		},
		"not swept": {later: []string{plots("{name: p, against: rows}")}, says: "plot p: against: rows is not swept; use one of rowsPerCommit"},
		"no lines":  {later: []string{plot("lines: threads")}, says: "plot p: lines: threads is not swept; use one of rowsPerCommit"},
		"no value": {
			later: []string{plot(`among: {parameters: {rowsPerCommit: "2"}}`)},
			says:  "plot p: among: no point has rowsPerCommit=2; rowsPerCommit is one of 1, 4, 16",
		},
		"a variant": {later: []string{plot("among: {variant: a}")}, says: "plot p: among: a run has no variants"},
	})
	sweep := "workload: {commitSize: {sweep: {rowsPerCommit: [1, 4, 16]}}}"
	comparison := func(s string) string {
		return spec("plots: [{name: p, against: rowsPerCommit, " + s + "}], template: {spec: {" + sweep + "}}")
	}
	checkRules(t, minimalComparison, map[string]rule{
		"variants":   {allowed: []string{comparison("among: {variant: lazy}"), comparison("title: all of them")}},
		"no variant": {later: []string{comparison("among: {variant: other}")}, says: "there is no variant other; use one of durable, lazy"},
		"a template's": {
			refused: []string{template("plots: [{name: p, against: rowsPerCommit}]")}, says: `unknown field "spec.template.spec.plots"`,
		},
	})
}
