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

func TestEnvtestTableRules(t *testing.T) {
	tables := func(list string) string {
		return spec("tables: [" + list + "], workload: {commitSize: {sweep: {rowsPerCommit: [1, 4, 16]}}}")
	}
	table := func(s string) string { return tables("{name: t, metrics: [durationSeconds], " + s + "}") }
	figure := func(s string) string {
		if !strings.HasPrefix(s, "{") {
			s = "{" + s + "}"
		}
		return table("published: [" + s + "]")
	}
	metrics := func(list string) string { return tables("{name: t, metrics: [" + list + "]}") }
	numbered := func(format string, n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return strings.Join(list, ", ")
	}
	const one = `of: {parameters: {rowsPerCommit: "1"}}`
	checkRules(t, minimal, map[string]rule{
		"names": {
			allowed: []string{tables("{name: env=a.published, metrics: [x]}")},
			refused: []string{tables("{name: a/b, metrics: [x]}")}, says: "should match",
		},
		"names of Windows": {refused: []string{tables("{name: NUL, metrics: [x]}")}, says: "Windows takes no file of that name"},
		"named alike but for their case": {
			refused: []string{tables("{name: t, metrics: [x]}, {name: T, metrics: [x]}")},
			says:    "names of tables must differ in more than upper and lower case",
		},
		"number of them": {
			allowed: []string{tables(numbered("{name: t%d, metrics: [x]}", 8))},
			refused: []string{tables(numbered("{name: t%d, metrics: [x]}", 9))}, says: "spec.tables",
		},
		"metrics":           {refused: []string{tables("{name: t}")}, says: "spec.tables[0].metrics: Required value"},
		"number of metrics": {allowed: []string{metrics(numbered("m%d", 16))}, refused: []string{metrics(numbered("m%d", 17)), metrics("")}, says: "spec.tables[0].metrics"},
		"metrics twice":     {refused: []string{metrics("a, a")}, says: "Duplicate value"},
		"figures": {
			allowed: []string{figure(one + `, value: "127"`), figure(one + `, metric: durationSeconds, value: "0.5"`)},
			refused: []string{figure(one + `, value: "0"`), figure(one + `, value: "many"`)}, says: "spec.tables[0].published[0].value",
		},
		"a figure of no value": {refused: []string{figure(one)}, says: "published[0].value: Required value"},
		"number of figures": {
			allowed: []string{figure(numbered(`{of: {parameters: {rowsPerCommit: "1"}}, value: "1%d"}`, 64))},
			refused: []string{figure(numbered(`{of: {parameters: {rowsPerCommit: "1"}}, value: "1%d"}`, 65))}, says: "published",
		},
		"of nothing": {later: []string{figure(`{value: "1"}`)}, says: "table t: published figure 1: of is missing: the table has several points"},
		"no value": {
			later: []string{figure(`{of: {parameters: {rowsPerCommit: "2"}}, value: "1"}`)},
			says:  "table t: published figure 1: of: no point has rowsPerCommit=2; rowsPerCommit is one of 1, 4, 16",
		},
		"no metric": {
			later: []string{figure(`{` + one + `, metric: x, value: "1"}`)},
			says:  "table t: published figure 1: the table has no metric x; it has durationSeconds",
		},
		"a variant": {later: []string{table("among: {variant: a}")}, says: "table t: among: a run has no variants"},
	})
	comparison := func(s string) string {
		return spec("tables: [{name: t, metrics: [x], " + s + "}], template: {spec: {}}")
	}
	checkRules(t, minimalComparison, map[string]rule{
		"variants":   {allowed: []string{comparison("among: {variant: lazy}"), comparison("title: all of them")}},
		"no variant": {later: []string{comparison("among: {variant: other}")}, says: "there is no variant other; use one of durable, lazy"},
		"a template's": {
			refused: []string{template("tables: [{name: t, metrics: [x]}]")}, says: `unknown field "spec.template.spec.tables"`,
		},
	})
}

// claim is an overlay with one claim, about a run with three points.
func claim(s string) string {
	return spec("claims: [{name: c, " + s + "}], workload: {commitSize: {sweep: {rowsPerCommit: [1, 4, 16]}}}")
}

const ofTo = `of: {parameters: {rowsPerCommit: "16"}}, to: {parameters: {rowsPerCommit: "1"}}`

func TestEnvtestClaimRules(t *testing.T) {
	ratio := func(s string) string { return claim("ratio: {" + ofTo + ", " + s + "}") }
	figures := func(n int) string {
		return claim("ratio: {" + ofTo + `, atLeast: "8"}, published: [` +
			strings.Repeat(`{of: {parameters: {rowsPerCommit: "1"}}, value: "78"},`, n) + "]")
	}
	many := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{name: c%d, bestAt: {at: {parameters: {rowsPerCommit: "16"}}}}`, i))
		}
		return spec("claims: [" + strings.Join(list, ", ") + "], workload: {commitSize: {sweep: {rowsPerCommit: [1, 4, 16]}}}")
	}
	checkRules(t, minimal, map[string]rule{
		"ratio":         {allowed: []string{ratio(`atLeast: "8"`), ratio(`atMost: "7.25"`), ratio(`atLeast: "0.5", atMost: "2"`)}},
		"ratio's bound": {refused: []string{claim("ratio: {" + ofTo + "}")}, says: "set atLeast or atMost, or both"},
		"numbers": {
			refused: []string{ratio(`atLeast: "0"`), ratio(`atLeast: "0.0"`)}, says: "write a number above 0 in quotes",
		},
		"form of numbers": {refused: []string{ratio(`atLeast: "-1"`), ratio(`atLeast: "1e3"`), ratio(`atLeast: "8x"`)}, says: "should match"},
		"quotes":          {refused: []string{ratio("atLeast: 8")}, says: "must be of type string"},
		"values": {
			allowed: []string{
				claim("noDifference: {of: {parameters: {rowsPerCommit: 16}}, to: {parameters: {rowsPerCommit: '1'}}}"),
			},
			refused: []string{claim("noDifference: {of: {parameters: {rowsPerCommit: " + strings.Repeat("a", 257) + "}}, to: {variant: a}}")},
			says:    "may not be more than 256 bytes",
		},
		"a value with a point": {
			refused: []string{claim("noDifference: {of: {parameters: {rowsPerCommit: 1.5}}, to: {variant: a}}")}, says: "rowsPerCommit",
		},
		"one of four": {
			refused: []string{
				claim("statement: nothing"), claim("ratio: {" + ofTo + `, atLeast: "8"}, noDifference: {` + ofTo + "}"),
			},
			says: "a claim has exactly one of ratio, bestAt, monotonic and noDifference",
		},
		"no difference": {
			allowed: []string{claim("noDifference: {" + ofTo + "}"), claim("noDifference: {" + ofTo + ", withinPercent: 50}")},
			refused: []string{claim("noDifference: {" + ofTo + ", withinPercent: 51}"), claim("noDifference: {" + ofTo + ", withinPercent: 0}")},
			says:    "withinPercent",
		},
		"monotonic": {
			allowed: []string{claim("monotonic: {parameter: rowsPerCommit, direction: Rising}")},
			refused: []string{claim("monotonic: {parameter: rowsPerCommit, direction: Up}")}, says: `"Rising", "Falling"`,
		},
		"best":            {allowed: []string{claim(`bestAt: {at: {parameters: {rowsPerCommit: "16"}}}`)}},
		"published":       {allowed: []string{figures(1), figures(32)}, refused: []string{figures(33)}, says: "published"},
		"number of them":  {allowed: []string{many(16)}, refused: []string{many(17)}, says: "spec.claims"},
		"an empty list":   {refused: []string{spec("claims: []")}, says: "spec.claims"},
		"named alike":     {refused: []string{strings.Replace(many(2), "c1", "c0", 1)}, says: "Duplicate value"},
		"no such point":   {later: []string{claim(`bestAt: {at: {parameters: {rowsPerCommit: "2"}}}`)}, says: "claim c: bestAt: rowsPerCommit=2 names no point"},
		"not swept":       {later: []string{claim(`bestAt: {at: {parameters: {concurrency: "2"}}}`)}, says: "claim c: bestAt: concurrency=2 names no point"},
		"a variant":       {later: []string{claim("ratio: {of: {variant: a}, to: {variant: b}, atLeast: \"2\"}")}, says: "claim c: of: a names no point"},
		"nothing named":   {refused: []string{claim(`ratio: {of: {}, to: {parameters: {rowsPerCommit: "1"}}, atLeast: "2"}`)}, says: "ratio.of: Invalid value: 0: spec.claims[0].ratio.of in body should have at least 1 properties"},
		"among nothing":   {refused: []string{claim(`bestAt: {at: {parameters: {rowsPerCommit: "16"}}, among: {}}`)}, says: "at least 1 properties"},
		"order of two":    {later: []string{spec("claims: [{name: c, monotonic: {parameter: rowsPerCommit, direction: Rising}}], " + commits("1, 2"))}, says: "an order takes at least 3"},
		"order of others": {later: []string{claim("monotonic: {parameter: rows, direction: Rising}")}, says: "has no parameter rows"},
	})
	checkRules(t, minimalComparison, map[string]rule{
		"variants":   {allowed: []string{spec(`claims: [{name: c, ratio: {of: {variant: lazy}, to: {variant: durable}, atLeast: "2"}}]`)}},
		"no variant": {later: []string{spec(`claims: [{name: c, ratio: {of: {variant: other}, to: {variant: durable}, atLeast: "2"}}]`)}, says: "of: other names no point"},
		"a template's": {
			refused: []string{template(`claims: [{name: c, noDifference: {of: {variant: lazy}, to: {variant: durable}}}]`)},
			says:    "unknown field \"spec.template.spec.claims\"",
		},
	})
}
