// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// tables is a report of a load of two tables, with and without checks.
func tables() *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	r.Workload = "TPROCHLoad"
	number := 0
	for i, values := range [][][]float64{{{10, 8, 2}, {12, 9.5, 2.5}, {11, 8.5, 2.25}}, {{5, 4, 1}}} {
		parameters := map[string]string{"uniqueChecks": []string{"true", "false"}[i]}
		var records []*result.Record
		for _, v := range values {
			number++
			record := testutil.Record(number, 1, parameters, 0)
			record.Summary.Metrics = []result.Metric{
				{Name: "totalSeconds", Value: v[0], Unit: "s", Better: "lower"},
				{Name: "ordersSeconds", Value: v[2], Unit: "s", Better: "lower", Part: "ORDERS"},
				{Name: "lineitemSeconds", Value: v[1], Unit: "s", Better: "lower", Part: "LINEITEM"},
			}
			records = append(records, record)
		}
		r.Records = append(r.Records, records...)
		r.Points = append(r.Points, stats.Looks{}.Summarized(stats.Point{Parameters: parameters, Records: records}))
	}
	return r
}

func TestPartsAreShownOnlyIfThereAreAny(t *testing.T) {
	must.Has(t, printed(t, report.Summary, tables()), "Medians by part, s:")
	must.Lack(t, printed(t, report.Summary, small()), "part")
}

// poisoned is a report whose texts, as those of a stranger or of a program, want to be more than text.
func poisoned() *report.Report {
	const text = "x [click](https://evil.example/) ![i](https://evil.example/p.png) \\[y](https://evil.example/) <script>1</script> " +
		"\x1b]0;title\a\x1b[2J\r\u009b31m \u202egnp.exe\u2066 a|b ``` @all"
	r := hostile()
	r.Name, r.Message, r.Workload, r.Findings = text, text, text, []finding.Finding{finding.OfProgram(text)}
	for i := range r.Points {
		r.Points[i].Parameters = map[string]string{"query": "=HYPERLINK(1)", "sum": "+1+1", "at": "@SUM(1)", "tab": "\t=1", text: "-2+3"}
		for _, record := range r.Points[i].Records {
			record.Parameters = r.Points[i].Parameters
			record.Summary.Metrics[1].Name = "-rate"
		}
	}
	for _, record := range r.Records {
		record.Message = text
	}
	return r
}

// commands are characters that a terminal obeys, or that change the order in which a text is shown.
var commands = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]")

// A text that a terminal shows, or that a page renders, is a text and nothing else: no command, no link, no image, no HTML.
func TestTextsStayTexts(t *testing.T) {
	// A bracket or an angle that Markdown would give a meaning: no backslash is before it, or an even number of them.
	markup := regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*[\[<]`)
	for name, printer := range map[string]func(io.Writer, *report.Report) error{
		"text": report.Text, "markdown": report.Summary,
	} {
		text := printed(t, printer, poisoned())
		if at := commands.FindStringIndex(text); at != nil {
			t.Errorf("%s has a command at %q", name, text[max(0, at[0]-20):at[1]])
		}
		if name == "text" {
			continue
		}
		if at := markup.FindStringIndex(text); at != nil {
			t.Errorf("%s has markup at %q", name, text[at[0]:min(len(text), at[1]+40)])
		}
		cells := strings.NewReplacer(`\\`, "", `\|`, "")
		lengths := map[int]int{}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "|") {
				lengths[strings.Count(cells.Replace(line), "|")]++
			}
		}
		must.Same(t, fmt.Sprintf("%s: the rows have different numbers of cells: %v", name, lengths), 1, len(lengths))
	}
}

// A spreadsheet takes no cell for a formula, and every number for a number.
func TestCSVHasNoFormulas(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, report.CSV(&b, poisoned()))
	rows := must.Get(csv.NewReader(&b).ReadAll())(t)
	var all []string
	for _, cells := range rows {
		for _, c := range cells {
			if _, err := strconv.ParseFloat(c, 64); err != nil && c != "" && strings.ContainsAny(c[:1], "=+-@\t\r") {
				t.Errorf("%q is a formula", c)
			}
			all = append(all, c)
		}
	}
	for _, want := range []string{"'=HYPERLINK(1)", "'+1+1", "'@SUM(1)", "'\t=1", "'-2+3", "'-rate", "1020.5"} {
		if !slices.Contains(all, want) {
			t.Errorf("no cell is %q", want)
		}
	}
}

// Of variants, the baseline's settings are shown, and those in which the others differ: what was asked, what the server made of it.
func TestSettings(t *testing.T) {
	pool := result.AppliedSetting{
		Name: "innodb_buffer_pool_size", Requested: "100M", Effective: "134217728", Outcome: result.SettingAdjusted,
	}
	flush := func(v string) result.AppliedSetting {
		return result.AppliedSetting{
			Name: "innodb_flush_log_at_trx_commit", Requested: v, Effective: v, Outcome: result.SettingEffective,
		}
	}
	server := func(v string) result.Document {
		return result.Document{Server: result.ServerFacts{Settings: []result.AppliedSetting{pool, flush(v)}}}
	}
	record := &result.Record{Outcome: result.OutcomeAccepted, Sides: []result.SideRecord{{Variant: "lazy"}, {Variant: "durable"}, {Variant: "idle"}}}
	doc := &result.Document{Sides: []result.SideDocument{
		{Variant: "lazy", Document: server("0")}, {Variant: "durable", Document: server("1")}, {Variant: "idle", Document: server("0")},
	}}
	r := &report.Report{Variation: report.Variation{Variants: []report.Variant{{Name: "lazy"}, {Name: "durable", Baseline: true}, {Name: "idle"}}}}
	r.AddSettings(&result.Record{Outcome: result.OutcomeInvalidated, Sides: record.Sides}, doc)
	must.Same(t, "settings of an attempt that does not count", 0, len(r.Settings))
	r.AddSettings(record, doc)
	r.AddSettings(record, &result.Document{Sides: []result.SideDocument{{Variant: "lazy", Document: server("2")}}})
	must.Same(t, "table", [][]string{
		{"variable", "variant", "requested", "effective", "outcome"},
		{"innodb_flush_log_at_trx_commit", "lazy", "0", "0", "Effective"},
		{pool.Name, "durable", "100M", "134217728", "Adjusted"},
		{"innodb_flush_log_at_trx_commit", "durable", "1", "1", "Effective"},
		{"innodb_flush_log_at_trx_commit", "idle", "0", "0", "Effective"},
	}, r.SettingsTable().Texts())

	alone := &report.Report{}
	if alone.SettingsTable() != nil {
		t.Error("there is a table of nothing")
	}
	one := server("1")
	alone.AddSettings(&result.Record{Outcome: result.OutcomeAccepted}, &one)
	must.Same(t, "table of one server", [][]string{
		{"variable", "requested", "effective", "outcome"},
		{pool.Name, "100M", "134217728", "Adjusted"},
		{"innodb_flush_log_at_trx_commit", "1", "1", "Effective"},
	}, alone.SettingsTable().Texts())
}
