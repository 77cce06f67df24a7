//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"
)

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
