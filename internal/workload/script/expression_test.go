// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	language "github.com/benchrun-dev/benchrun/internal/workload/script"
)

// evaluate an expression as the second line of a script, and return it as it is sent.
func evaluate(t *testing.T, expression string) (text string, err error) {
	t.Helper()
	script := compile(t, "\\set one 1\n\\set x "+expression+"\nSELECT :x")
	vars := script.NewVars()
	err = script.Run(vars, language.NewRandom(1), func(int) error {
		text = string(script.Statements()[0].Append(nil, vars))
		return nil
	})
	return text, err
}

func TestEvaluate(t *testing.T) {
	for expression, want := range map[string]string{
		"1 + 2 * 3":                   "7",
		"(1 + 2) * 3":                 "9",
		"10 - 4 - 3":                  "3",
		"100 / 10 / 5":                "2",
		"2 * 7 % 4":                   "2",
		"1 - -1":                      "2",
		"1--1":                        "2",
		"-2 * -3":                     "6",
		"-(1 + 2)":                    " -3",
		"- :one - 1":                  " -2",
		"--:one":                      "1",
		"7 / 2":                       "3",
		"-7 / 2":                      " -3",
		"7 / -2":                      " -3",
		"-7 % 3":                      " -1",
		"7 % -3":                      "1",
		"mod(-7, 3)":                  " -1",
		"-9223372036854775808":        " -9223372036854775808",
		"- 9223372036854775808 % -1":  "0",
		"9223372036854775807 + 0":     "9223372036854775807",
		"-9223372036854775807 - 1":    " -9223372036854775808",
		"-1 - 9223372036854775807":    " -9223372036854775808",
		"-4611686018427387904 * 2":    " -9223372036854775808",
		"-9223372036854775808 * :one": " -9223372036854775808",
		"-9223372036854775808 / :one": " -9223372036854775808",
		"3037000499 * 3037000499":     "9223372030926249001",
		"0 * -5":                      "0",

		"7 / 2.0":                     "3.5",
		"1.5 + 1":                     "2.5",
		".5 * 4":                      "2",
		"1. / 3":                      "0.3333333333333333",
		"1e3 + 1E-1":                  "1000.1",
		"1e21":                        "1e+21",
		"-1.5":                        " -1.5",
		"1.5 - 2":                     " -0.5",
		"7.5 % 4":                     "0", // 8 % 4
		"mod(2.5, 3)":                 "2", // the even one
		"9223372036854775807 + 0.0":   "9.223372036854776e+18",
		"abs(-3)":                     "3",
		"abs(3) + Abs(-2.5)":          "5.5",
		"greatest(5)":                 "5",
		"greatest(1, 3, 2)":           "3",
		"greatest(1, 3, 2.5)":         "3",
		"least(4, 3.5, 7) * 2":        "7",
		"least(1, 2) / 2":             "0",
		"least(3, 2, 1, -1)":          " -1",
		"random(5, 5)":                "5",
		"random(4.6, 5.4)":            "5",
		"random_gaussian(5, 5, 2)":    "5",
		"random_exponential(5, 5, 1)": "5",
		"random_zipfian(5, 5, 1.001)": "5",
		"random(1, 3) * 0 \\\n + 1":   "1",
	} {
		text, err := evaluate(t, expression)
		if want = "SELECT " + want; err != nil || text != want {
			t.Errorf("%s: %s, error %v, want %s", expression, text, err, want)
		}
	}
}

// An expression that cannot be computed names its line, and the part of it that fails.
func TestEvaluateFails(t *testing.T) {
	const integer, decimal = "the result does not fit in a 64-bit integer", "the result exceeds the largest decimal, 1.8e308"
	for expression, want := range map[string]string{
		"1 + 2 / (:one - 1) * 3":        `line 2: in "2 / (:one - 1)": division by zero`,
		"1 + \\\n 2 / \\\n 0.0":         `line 3: in "2 / 0.0": division by zero`,
		"0.0 / 0":                       `line 2: in "0.0 / 0": division by zero`,
		"5 % 0":                         `line 2: in "5 % 0": division by zero`,
		"mod(5, 0.4)":                   `line 2: in "mod(5, 0.4)": division by zero`,
		"2 * (9223372036854775807 + 1)": `line 2: in "9223372036854775807 + 1": ` + integer,
		"-9223372036854775808 - 1":      `line 2: in "-9223372036854775808 - 1": ` + integer,
		"0 - -9223372036854775808":      `line 2: in "0 - -9223372036854775808": ` + integer,
		"3037000500 * 3037000500":       `line 2: in "3037000500 * 3037000500": ` + integer,
		"-9223372036854775808 * -1":     `line 2: in "-9223372036854775808 * -1": ` + integer,
		"4611686018427387904 * 2":       `line 2: in "4611686018427387904 * 2": ` + integer,
		"-9223372036854775808 / -1":     `line 2: in "-9223372036854775808 / -1": ` + integer,
		"-(-9223372036854775808)":       `line 2: in "-(-9223372036854775808)": ` + integer,
		"abs(-9223372036854775808)":     `line 2: in "abs(-9223372036854775808)": ` + integer,
		"1e308 * 10":                    `line 2: in "1e308 * 10": ` + decimal,
		"-1e308 - 1e308":                `line 2: in "-1e308 - 1e308": ` + decimal,
		"1 / 1e-309":                    `line 2: in "1 / 1e-309": ` + decimal,
		"9223372036854775808.0 % 2":     `line 2: in "9223372036854775808.0 % 2": an operand does not fit in a 64-bit integer`,
		"random(1, 1e19)":               `line 2: in "random(1, 1e19)": an operand does not fit in a 64-bit integer`,
		"random(10 * :one, 9)":          `line 2: in "random(10 * :one, 9)": the lower bound 10 is above the upper bound 9`,
		"random_zipfian(2, 1, 2)":       `line 2: in "random_zipfian(2, 1, 2)": the lower bound 2 is above the upper bound 1`,
		"random_gaussian(1, 2, 1.9)":    `line 2: in "random_gaussian(1, 2, 1.9)": the parameter is 1.9; it must be at least 2`,
		"random_exponential(1, 2, 0)":   `line 2: in "random_exponential(1, 2, 0)": the parameter is 0; it must be above 0`,
		"random_zipfian(1, 2, :one)":    `line 2: in "random_zipfian(1, 2, :one)": the parameter is 1; it must be from 1.001 to 1000`,
		"random_zipfian(1,2,1e4)":       `line 2: in "random_zipfian(1,2,1e4)": the parameter is 10000; it must be from 1.001 to 1000`,
	} {
		text, err := evaluate(t, expression)
		must.Same(t, expression+" is "+text, want, must.Text(err))
	}
}
