//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"
)

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
		"not swept":       {later: []string{claim(`bestAt: {at: {parameters: {clients: "2"}}}`)}, says: "claim c: bestAt: clients=2 names no point"},
		"a variant":       {later: []string{claim("ratio: {of: {variant: a}, to: {variant: b}, atLeast: \"2\"}")}, says: "claim c: of: a names no point"},
		"nothing named":   {refused: []string{claim(`ratio: {of: {}, to: {parameters: {rowsPerCommit: "1"}}, atLeast: "2"}`)}, says: "ratio.of: Invalid value: 0: spec.claims[0].ratio.of in body should have at least 1 properties"},
		"among nothing":   {refused: []string{claim(`bestAt: {at: {parameters: {rowsPerCommit: "16"}}, among: {}}`)}, says: "at least 1 properties"},
		"order of two":    {later: []string{spec("claims: [{name: c, monotonic: {parameter: rowsPerCommit, direction: Rising}}], " + commits("1, 2"))}, says: "an order takes at least 3"},
		"order of others": {later: []string{claim("monotonic: {parameter: rows, direction: Rising}")}, says: "has no parameter rows"},
	})
	checkRules(t, minimalVariants, map[string]rule{
		"variants":   {allowed: []string{spec(`claims: [{name: c, ratio: {of: {variant: lazy}, to: {variant: durable}, atLeast: "2"}}]`)}},
		"no variant": {later: []string{spec(`claims: [{name: c, ratio: {of: {variant: other}, to: {variant: durable}, atLeast: "2"}}]`)}, says: "of: other names no point"},
	})
}
