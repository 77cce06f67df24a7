// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestReadRequested(t *testing.T) {
	plot := func(s string) string { return "plots: [{" + s + "}]" }
	table := func(s string) string { return "tables: [{name: t, metrics: [x], " + s + "}]" }
	many := func(format string, n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return strings.Join(list, ", ")
	}
	plots, tables := "plots: ["+many("{name: p%d, against: a}", 17)+"]", "tables: ["+many("{name: t%d, metrics: [x]}", 9)+"]"
	const windows, letters = "Windows takes no file of that name", "use up to 80 letters, digits"
	for text, want := range map[string]string{
		"": "",
		plot("name: env=default_config.c=5.a+b-c, title: T, against: a, lines: b, metric: m, among: {variant: v, parameters: {c: 16, d: x}}"): "",
		table(`published: [{value: "78"}, {value: 7.5, metric: x, of: {variant: v}}]`):                                                        "",
		"tables: [{name: t, metrics: [" + many("m%d", 16) + "]}]":                                                                             "",
		table("published: [" + many("{value: 1%d}", 64) + "]"):                                                                                "",
		strings.Replace(plots, ", {name: p16, against: a}", "", 1):                                                                            "",
		"plot: []":                              `unknown field "plot"`,
		plot("name: p, against: a, color: red"): `unknown field "color"`,
		table("published: [{value: 1, if: x}]"): `unknown field "if"`,
		plot("name: p, name: q, against: a"):    "already set in map",
		"plots: 7":                              "cannot unmarshal number into Go struct field Requested.plots",
		"plots: [":                              "yaml: line 1",
		plots:                                   "17 plots and 0 tables: at most 16 and 8 are allowed",
		tables:                                  "0 plots and 9 tables",
		plot("against: a"):                      `plots[0]: name "": ` + letters,
		plot("against: a, name: " + strings.Repeat("a", 81)):            letters,
		plot("against: a, name: ../a"):                                  letters,
		plot("against: a, name: .a"):                                    letters,
		plot("against: a, name: a."):                                    letters,
		plot("against: a, name: ä"):                                     letters,
		plot("against: a, name: con.against_x"):                         windows,
		plot("against: a, name: LPT1"):                                  windows,
		"tables: [{name: NUL, metrics: [x]}]":                           `tables[0]: name "NUL": ` + windows,
		"tables: [{name: t, metrics: [x]}, {name: T, metrics: [x]}]":    `tables[1]: name "T": names must differ in more than upper and lower case`,
		plot("name: p, against: a, title: " + strings.Repeat("a", 129)): "title: at most 128 characters",
		plot("name: p"):                                           "plots[0]: against: name a swept parameter",
		plot("name: p, against: a, lines: a"):                     "another one than that of lines",
		"tables: [{name: t}]":                                     "tables[0]: metrics: name 1 to 16, each once",
		"tables: [{name: t, metrics: [a, b, a]}]":                 "each once",
		"tables: [{name: t, metrics: ['']}]":                      "each once",
		"tables: [{name: t, metrics: [" + many("m%d", 17) + "]}]": "name 1 to 16",
		table("published: [" + many("{value: 1%d}", 65) + "]"):    "published: at most 64 figures",
		table("published: [{value: 1}, {of: {variant: v}}]"):      "tables[0]: published[1].value: write a number above 0",
		table("published: [{value: '0'}]"):                        "published[0].value",
		table("published: [{value: many}]"):                       "invalid number literal",
	} {
		_, err := report.ReadRequested("my.plots", []byte(text))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s is refused: %v", text, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), "my.plots: ") || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// What is not measured is named, all of it.
func TestRequestOfWhatIsNotMeasured(t *testing.T) {
	q := pagetest.File("{plots: [{name: p, against: rows}], tables: [{name: t, metrics: [x], among: {variant: other}}]}")
	const unswept = "plot p: against: rows is not swept; use one of rowsPerCommit\n"
	must.Same(t, "error", unswept+"table t: among: a run has no variants", must.Text(small().Request(&q)))
	s := reportOfComparison()
	must.Same(t, "error", unswept+"table t: among: there is no variant other; use one of durable, lazy, same", must.Text(s.Request(&q)))
}

// The files of samples can be read.
func TestPlotsOfSamples(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/*.plots")
	more, _ := filepath.Glob("../../config/samples/publications/*.plots")
	if files = append(files, more...); err != nil || len(files) != 14 {
		t.Errorf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		must.Get(report.ReadRequested(file, text))(t)
	}
}
