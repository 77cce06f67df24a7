// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func runPage(tb testing.TB, c pagetest.Case) string {
	tb.Helper()
	var b bytes.Buffer
	must.Do(tb, page.Write(&b, c.Report, c.Details))
	return b.String()
}

// pages of every kind.
func pages(t *testing.T) map[string]string {
	t.Helper()
	commit, comparison, one := pagetest.CommitSize(), pagetest.Comparison(), pagetest.Comparison()
	commit.Details, comparison.Details = nil, nil
	one.Report.Pairs, one.Report.Records, one.Report.Points, one.Report.Outcome = nil, nil, nil, "Failed"
	unfinished := pagetest.CommitSize()
	unfinished.Report.Outcome, unfinished.Report.Claims = "", nil
	for i := range unfinished.Report.Points[4:] {
		p := &unfinished.Report.Points[4+i]
		*p = stats.Looks{}.Summarized(stats.Point{Parameters: p.Parameters})
	}
	unfinished.Report.Records = unfinished.Report.Records[:15]
	return map[string]string{
		"unfinished": runPage(t, unfinished),
		"run":        runPage(t, pagetest.CommitSize()), "run without details": runPage(t, commit), "grid": runPage(t, pagetest.Grid()),
		"words": runPage(t, pagetest.Words()), "milestones": runPage(t, pagetest.IIBench()), "failed": runPage(t, pagetest.Failed()),
		"single": runPage(t, pagetest.Single()), "comparison": runPage(t, pagetest.Comparison()), "comparison without details": runPage(t, comparison),
		"failed comparison": runPage(t, one),
	}
}

// sections of a page, in their order.
func sections(text string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`<section id="(\w+)">`).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// What a page says, and what it must not say. The recordings have whole pages of every other kind.
func TestTexts(t *testing.T) {
	all := pages(t)
	for name, texts := range map[string][]string{
		"run without details": {"Latency of commit"},
		"unfinished":          {"15 of 66 trials at 11 points", " at rowsPerCommit=8</p>", "rowsPerSecond against rowsPerCommit"},
		"failed comparison":   {"Cannot say."},
	} {
		must.Has(t, all[name], texts...)
	}
	must.Lack(t, all["run without details"], "Rate over time")
	want := "differences claims validity environment specification downloads"
	must.Same(t, "a failed comparison has the sections", want, strings.Join(sections(all["failed comparison"]), " "))
}

// A page loads nothing, and all that it points to is in it.
func TestNothingFromOutside(t *testing.T) {
	for name, text := range pages(t) {
		for _, m := range regexp.MustCompile(`(?:href|src|action|xlink:href|srcset)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			switch to := m[1]; {
			case strings.HasPrefix(to, "data:"):
			case strings.HasPrefix(to, "#") && strings.Contains(text, `id="`+to[1:]+`"`):
			default:
				t.Errorf("%s refers to %.60s", name, to)
			}
		}
		must.Lack(t, text, "@import", "url(", "ZgotmplZ")
	}
}

// The names of resources and the messages of servers are text.
func TestEscaping(t *testing.T) {
	c := pagetest.CommitSize()
	const evil = `<script>alert(1)</script>"'`
	c.Report.Name, c.Report.Findings = evil, []finding.Finding{finding.OfProgram(evil)}
	c.Report.Records[20].Message = evil
	for i := range c.Report.Points {
		c.Report.Points[i].Parameters = map[string]string{evil: evil + c.Report.Points[i].Parameters["rowsPerCommit"]}
		c.Report.Points[i].Warnings = []finding.Finding{finding.OfProgram(evil).InTrials(1, 1)}
	}
	if text := runPage(t, c); strings.Contains(text, "<script>alert") || strings.Count(text, "<script>") != 1 {
		t.Error("the page has a script of somebody else")
	}
}

// What is to be downloaded is what the other printers write.
func TestDownloads(t *testing.T) {
	c := pagetest.CommitSize()
	var csv, everything bytes.Buffer
	must.Do(t, errors.Join(report.CSV(&csv, c.Report), report.JSON(&everything, c.Report)))
	text := runPage(t, c)
	for name, want := range map[string]string{"results.csv": csv.String(), "results.json": everything.String()} {
		m := regexp.MustCompile(`download="` + regexp.QuoteMeta(name) + `" href="data:[\w/]+;base64,([^"]*)"`).FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s is not there", name)
			continue
		}
		got, err := base64.StdEncoding.DecodeString(html.UnescapeString(m[1]))
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s\n%v", name, diff, err)
		}
	}
}

// What was not the same for all trials is marked.
func TestDifferencesBetweenTrials(t *testing.T) {
	c := pagetest.CommitSize()
	must.Lack(t, runPage(t, c), `<tr class="differs">`)
	c.Report.Records[7].Place.DatabaseNode = "elsewhere"
	doc := &result.Document{Server: result.ServerFacts{SettingsDigest: "other", Variables: map[string]string{"innodb_buffer_pool_size": "5"}}}
	c.Details.Add(c.Report.Records[7], doc)
	text := runPage(t, c)
	must.Has(t, text,
		`<tr class="differs"><th scope="row">database node</th><td>worker (65 trials)</td>`, "elsewhere (trials 8)",
		"trial 8: innodb_buffer_pool_size (134217728 → 5)",
	)
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk is full") }

func TestWriteErrors(t *testing.T) {
	must.Fail(t, page.Write(full{}, pagetest.Single().Report, nil), "disk is full")
	must.Fail(t, page.Write(full{}, pagetest.Comparison().Report, nil), "disk is full")
}

// A page of a thousand points has all of them, and stays small enough to be sent to a reader.
func TestThousandPoints(t *testing.T) {
	c := pagetest.Many(1000, 10)
	for _, r := range c.Report.Records {
		r.Summary.Latencies[0].Histogram = "" // decoding all of them is for the benchmark
	}
	text := runPage(t, c)
	must.Same(t, "rows", 1000, strings.Count(text, `<th scope="row" class="n `))
	const most = 3 << 20
	if len(text) > most {
		t.Errorf("the page has %d bytes", len(text))
	}
	must.Has(t, text, "it is too large for this page: the ConfigMap many-results has it")
}

// However much is measured, the details keep as much.
func TestDetailsAreBounded(t *testing.T) {
	c := pagetest.IIBench()
	for i := range 200 {
		doc := &result.Document{}
		for n := range 5000 {
			doc.Series = append(doc.Series, result.Interval{EndMicros: int64(n+1) * 1000, Rows: 1})
			doc.Milestones = append(doc.Milestones, result.Milestone{Rows: int64(n*200 + i), Micros: int64(n), RowsPerSecond: 1})
		}
		c.Details.Add(c.Report.Records[0], doc)
	}
	text := runPage(t, c)
	if n := strings.Count(text, "<tr"); n > 150 {
		t.Errorf("%d rows of tables", n)
	}
	if len(text) > 200<<10 {
		t.Errorf("the page has %d bytes", len(text))
	}
}

// The matrix has a row for each point and one for all of them, and a cell for each variant; who points at one sees its interval.
func TestMatrix(t *testing.T) {
	const variants, points = 14, 33
	text := runPage(t, pagetest.Versions(variants, points))
	_, table, found := strings.Cut(text, "<caption>Ratios to 11-0</caption>")
	table, _, _ = strings.Cut(table, "</table>")
	if rows := strings.Count(table, `<tr><th scope="row"`); !found || rows != points+1 {
		t.Fatalf("%d rows:\n%.2000s", rows, table)
	}
	cells := regexp.MustCompile(`<td class="n (\w+)" data-v="[\d.]+" title="([^"]*)">\d\.\d\d</td>`).FindAllStringSubmatch(table, -1)
	if want := (points + 1) * (variants - 1); len(cells) != want {
		t.Fatalf("%d cells, want %d:\n%.2000s", len(cells), want, table)
	}
	verdicts := map[string]int{}
	for _, c := range cells {
		verdicts[c[1]]++
	}
	if verdicts["faster"] > 0 || verdicts["slower"] == 0 || verdicts["equal"] == 0 || verdicts["nodifferenceshown"]+verdicts["cannotsay"] == 0 {
		t.Errorf("%v", verdicts)
	}
	tip := regexp.MustCompile(`^0\.\d\d–\d\.\d\d, [a-z0-9% ]+ \(rounds: 10\)\nserverMicrosPerTransaction: 61 → 60 µs/transaction$`)
	if last := cells[len(cells)-1]; !tip.MatchString(last[2]) {
		t.Errorf("%q", last[2])
	}
	must.Lack(t, runPage(t, pagetest.Comparison()), "<caption>Ratios to")
}

func BenchmarkMatrix(b *testing.B) {
	c := pagetest.Versions(16, 67)
	for b.Loop() {
		b.ReportMetric(float64(len(runPage(b, c))), "bytes")
	}
}

func BenchmarkThousandPoints(b *testing.B) {
	c := pagetest.Many(1000, 10)
	for b.Loop() {
		b.ReportMetric(float64(len(runPage(b, c))), "bytes")
	}
}
