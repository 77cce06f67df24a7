// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func drawingsOf(c pagetest.Case) []page.Drawing {
	all, _ := page.DrawingsOf(c.Report, c.Details)
	return all
}

func namesOf(all []page.Drawing) []string {
	var names []string
	for _, one := range all {
		names = append(names, one.Name)
	}
	return names
}

// named is the plot with that name, or nil.
func named(all []page.Drawing, name string) *plot.Plot {
	for _, one := range all {
		if one.Name == name {
			return one.Plot
		}
	}
	return nil
}

func svgOf(t *testing.T, p *plot.Plot) string {
	t.Helper()
	if p == nil {
		t.Fatal("there is no such plot")
	}
	var b bytes.Buffer
	must.Do(t, p.SVG(&b))
	return b.String()
}

// Files are named by what is fixed, and then by what the plot is against. They are the plots of the page, in its order.
func TestNamesOfDrawings(t *testing.T) {
	bare, comparison := pagetest.CommitSize(), pagetest.Comparison()
	bare.Details = nil
	constant := pagetest.Grid()
	for _, p := range constant.Report.Points {
		p.Parameters["mode"] = "a/b"
	}
	times := []string{"throughput_over_time", "longest_latency_over_time", "latency.commit"}
	for name, c := range map[string]struct {
		drawn []page.Drawing
		text  string
		want  []string
	}{
		"sweep":           {drawingsOf(pagetest.CommitSize()), runPage(t, pagetest.CommitSize()), append([]string{"against_rowsPerCommit"}, times...)},
		"no documents":    {drawingsOf(bare), runPage(t, bare), []string{"against_rowsPerCommit", "latency.commit"}},
		"grid":            {drawingsOf(pagetest.Grid()), runPage(t, pagetest.Grid()), append([]string{"against_clients"}, times...)},
		"fixed parameter": {drawingsOf(constant), runPage(t, constant), append([]string{"mode=a-b.against_clients"}, times[2:]...)},
		"parts":           {drawingsOf(pagetest.Words()), runPage(t, pagetest.Words()), []string{"against_uniqueChecks"}},
		"milestones":      {drawingsOf(pagetest.IIBench()), runPage(t, pagetest.IIBench()), append([]string{"against_repetition", "rate.against_rowsInserted"}, times...)},
		"nothing":         {drawingsOf(pagetest.Failed()), runPage(t, pagetest.Failed()), nil},
		"comparison": {drawingsOf(comparison), runPage(t, comparison), []string{
			"ratios", "rounds.variant=lazy.rowsPerCommit=1", "rounds.variant=lazy.rowsPerCommit=4", "rounds.variant=lazy.rowsPerCommit=16",
			"rounds.variant=lazy.rowsPerCommit=256", "rounds.variant=lazy.rowsPerCommit=1024", "rounds.variant=lazy.rowsPerCommit=64",
			"against_rowsPerCommit", "rowsPerCommit=1.throughput_over_time", "rowsPerCommit=1.longest_latency_over_time",
			"rowsPerCommit=1.latency.commit",
		}},
	} {
		must.Same(t, name, c.want, namesOf(c.drawn))
		for _, d := range c.drawn {
			_, after, found := strings.Cut(c.text, svgOf(t, d.Plot))
			if !found {
				t.Errorf("%s: the page lacks %s, or has it elsewhere", name, d.Name)
				continue
			}
			c.text = after
		}
		must.Lack(t, c.text, "<svg")
	}
}

const requested = `{"plots":[
 {"name":"env=a.against_threads","title":"clients, each size","against":"clients","lines":"tableSize"},
 {"name":"small","against":"clients","metric":"durationSeconds","among":{"parameters":{"tableSize":"10000"}}},
 {"name":"unknown","against":"clients","metric":"rows","among":{"parameters":{"tableSize":"10000"}}},
 {"name":"nowhere","against":"clients","among":{"parameters":{"tableSize":"7"}}},
 {"name":"THROUGHPUT_over_time","against":"tableSize","among":{"parameters":{"clients":"4"}}}]}`

// Plots of a file come first, under their own titles and names; those without values are left out with a remark.
func TestRequestedPlotsOfRun(t *testing.T) {
	c := pagetest.Grid()
	c.Report.Requested = pagetest.File(requested)
	c.Report.Claims = pagetest.CommitSize().Report.Claims
	d, left := page.DrawingsOf(c.Report, c.Details)
	want := []string{
		"env=a.against_threads", "small", "THROUGHPUT_over_time", "against_clients", "throughput_over_time-2",
	}
	must.Same(t, "names", want, namesOf(d)[:len(want)])
	remarks := []string{
		"The plot unknown is left out: no metric named rows was measured. There are: rowsPerSecond, serverMicrosPerRow, durationSeconds.",
		"The plot nowhere is left out: nothing was measured at its points.",
	}
	must.Same(t, "remarks", remarks, left)
	text := runPage(t, c)
	must.Same(t, "the first section", "plots", sections(text)[0])
	for _, part := range append(remarks, "<figcaption>clients, each size</figcaption>", "<figcaption>durationSeconds against clients</figcaption>") {
		must.Has(t, text, part)
	}
	// Five values of clients on each of four lines, and one line of durations.
	if lines, small := svgOf(t, named(d, "env=a.against_threads")), svgOf(t, named(d, "small")); strings.Count(lines, "<title>tableSize=") != 20 ||
		strings.Count(small, "<title>clients=") != 5 || !strings.Contains(small, ": 10 s (10–10), n = 4") {
		t.Errorf("%s\n%s", lines, small)
	}
}

// A plot of a comparison has a line for each variant, unless it names one.
func TestRequestedPlotsOfComparison(t *testing.T) {
	c := pagetest.Comparison()
	c.Report.Requested = pagetest.File(`{"plots":[{"name":"both","against":"rowsPerCommit"},
		{"name":"one","against":"rowsPerCommit","metric":"durationSeconds","among":{"variant":"lazy"}},
		{"name":"none","against":"rowsPerCommit","metric":"commits"}]}`)
	d, left := page.DrawingsOf(c.Report, c.Details)
	both, one := svgOf(t, named(d, "both")), svgOf(t, named(d, "one"))
	if strings.Count(both, "<title>lazy, rowsPerCommit=") != 6 || strings.Count(both, "<title>durable, rowsPerCommit=") != 6 {
		t.Error(both)
	}
	if strings.Count(one, ": 10 s (10–10), n = 10") != 6 || strings.Contains(one, "durable") {
		t.Error(one)
	}
	remarks := []string{"The plot none is left out: no metric named commits was measured. There are: rowsPerSecond, serverMicrosPerRow, durationSeconds."}
	must.Same(t, "remarks", remarks, left)
	must.Same(t, "the first sections", []string{"differences", "verdicts", "plots"}, sections(runPage(t, c))[:3])
}

// More lines than there are colours are told apart by their marks, in the order of their numbers; of too many the title says
// so.
func TestManyRequestedLines(t *testing.T) {
	c := pagetest.Grid()
	template := c.Report.Points[0]
	for n, title := range map[int]string{9: "rate", 20: "rate, 12 of 20 lines"} {
		c.Report.Points = nil
		for i := range n {
			p := template
			p.Parameters = map[string]string{"clients": "1", "tableSize": fmt.Sprint(n - i)}
			c.Report.Points = append(c.Report.Points, p)
		}
		c.Report.Requested = pagetest.File(`{"plots":[{"name":"p","title":"rate","against":"clients","lines":"tableSize"}]}`)
		p := named(drawingsOf(c), "p")
		text := svgOf(t, p)
		if p.Title != title || strings.Count(text, "<title>tableSize=") != min(n, plot.MaxLines) ||
			strings.Index(text, ">tableSize=1<") > strings.Index(text, fmt.Sprintf(">tableSize=%d<", n)) {
			t.Errorf("%s\n%s", p.Title, text)
		}
	}
}
