// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// product of the values of parameters.
func product(axes map[string][]string) []map[string]string {
	points := []map[string]string{{}}
	for name, values := range axes {
		var more []map[string]string
		for _, p := range points {
			for _, v := range values {
				point := map[string]string{name: v}
				maps.Copy(point, p)
				more = append(more, point)
			}
		}
		points = more
	}
	return points
}

// Points are drawn along the parameter of numbers that has the most values.
func TestSweepOf(t *testing.T) {
	for name, c := range map[string]struct {
		axes map[string][]string
		want string
	}{
		"one":             {map[string][]string{"a": {"x", "y"}}, "a"},
		"the most values": {map[string][]string{"a": {"1", "2"}, "b": {"1", "2", "3"}}, "b"},
		"numbers first":   {map[string][]string{"a": {"x", "y", "z"}, "b": {"1", "2"}}, "b"},
	} {
		var names []string
		for _, n := range []string{"a", "b"} {
			if c.axes[n] != nil {
				names = append(names, n)
			}
		}
		if got := sweepOf(names, product(c.axes)); got.along != c.want || len(got.others) != len(names)-1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// On a line, numbers are in their order, whatever the order of the sweep is; words stay as they are.
func TestGroup(t *testing.T) {
	for in, want := range map[string]string{"4 16 1": "1 4 16", "b c a": "b c a"} {
		var points []stats.Point
		for v := range strings.FieldsSeq(in) {
			points = append(points, stats.Point{Parameters: map[string]string{"size": v, "mode": "m"}})
		}
		series := sweep{"size", []string{"mode"}}.group(points)
		if len(series) != 1 || series[0].Name != "mode=m" {
			t.Fatalf("%+v", series)
		}
		var got []string
		for _, p := range series[0].Points {
			got = append(got, p.Parameters["size"])
		}
		must.Same(t, in, want, strings.Join(got, " "))
	}
}

func TestSpread(t *testing.T) {
	for n, want := range map[int]string{3: "[0 4 9]", 2: "[0 9]", 10: "[0 1 2 3 4 5 6 7 8 9]", 20: "[0 1 2 3 4 5 6 7 8 9]"} {
		must.Same(t, fmt.Sprint(n), want, fmt.Sprint(spread([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, n)))
	}
}

// Neighbouring intervals become one: their sums, their longest latency, their end.
func TestThinned(t *testing.T) {
	var series []result.Interval
	for i := range 2*maxIntervals + 1 {
		series = append(series, result.Interval{EndMicros: int64(i + 1), Rows: 1, Transactions: 2, MaxMicros: int64(5 - i%5)})
	}
	short := thinned(series)
	must.Same(t, "the first", result.Interval{EndMicros: 3, Rows: 3, Transactions: 6, MaxMicros: 5}, short[0])
	rows := int64(0)
	for _, i := range short {
		rows += i.Rows
	}
	if len(short) > maxIntervals || rows != int64(len(series)) || short[len(short)-1].EndMicros != int64(len(series)) {
		t.Errorf("%d intervals of %d rows", len(short), rows)
	}
}

// Of each point a few values of each milestone are kept, and a few histograms.
func TestDetailsOfAPointAreBounded(t *testing.T) {
	h := hdrhistogram.New(1, 1000, 3)
	must.Do(t, h.RecordValue(7))
	encoded := must.Get(h.Encode(hdrhistogram.V2CompressedEncodingCookieBase))(t)
	doc := &result.Document{
		Milestones: []result.Milestone{{Rows: 1}, {Rows: 2}}, Latencies: []result.Latency{{Operation: "commit", Histogram: string(encoded)}},
	}
	var d Details
	const trials = 100
	for range trials {
		d.Add(&result.Record{Outcome: result.OutcomeAccepted}, doc)
	}
	of := d.of(nil)
	must.Same(t, "count", maxTrials, len(of.rates[2]))
	if n := len(of.latencies["commit"]); n > maxUnmerged {
		t.Errorf("%d histograms", n)
	}
	if all, _ := stats.MergeHistograms(of.latencies["commit"]); all.TotalCount() != trials {
		t.Errorf("%d operations", all.TotalCount())
	}
}

// The page keeps the series of each stage at its own point: rows of one that inserts, queries of one that queries.
func TestDetailsOfStages(t *testing.T) {
	record, doc := testutil.Record(1, 1, nil, 0), new(result.Document)
	series := []result.Interval{{EndMicros: 1e6, Rows: 3, Queries: 70}}
	for _, s := range []result.Stage{
		{Name: "l.i1", Series: series, Totals: result.Totals{Rows: 3}}, {Name: "qr100", Series: series, Totals: result.Totals{Rows: 3, Queries: 70}},
	} {
		doc.Stages = append(doc.Stages, s)
		record.Summary.Stages = append(record.Summary.Stages, result.StageSummary{Name: s.Name, Totals: s.Totals})
	}
	var d Details
	d.Add(record, doc)
	for stage, want := range map[string]int64{"l.i1": 3, "qr100": 70} {
		got := d.of(map[string]string{"stage": stage})
		if len(got.series) != 1 || got.series[0].Rows != want || got.unit != "operations/s" {
			t.Errorf("stage %s: %+v", stage, got)
		}
	}
	if got := d.of(nil); got != nil {
		t.Errorf("the attempt as a whole is a point, too: %+v", got)
	}
	must.Same(t, "rows of the document, which stays as it is", int64(3), doc.Stages[1].Series[0].Rows)
}

// safeName is a name that every file system takes, whatever ending follows it.
var safeName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._=+-]{0,99}$`)

func TestFileName(t *testing.T) {
	long := strings.Repeat("parameter=1234567890.", 10)
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{"clients=5", "against_rowsPerStatement"}, "clients=5.against_rowsPerStatement"},
		{[]string{"", "ratios", ""}, "ratios"},
		{[]string{`file=C:\a/b?"*<>|'x'`, "against_n"}, "file=C-a-b-x-.against_n"},
		{[]string{"latency", "größe €"}, "latency.gr-e-"},
		{[]string{"..", "-a"}, "a"},
		{[]string{"a b\nc"}, "a-b-c"},
		{[]string{"+1.5e-3"}, "+1.5e-3"},
		{[]string{long}, long[:91] + "-56483cc9"},
	} {
		got := fileName(c.parts...)
		must.Same(t, strings.Join(c.parts, ", "), c.want, got)
		if !safeName.MatchString(got) && got[0] != '+' {
			t.Errorf("%q is not safe", got)
		}
	}
	if fileName(long+"x") == fileName(long+"y") {
		t.Error("two long names are the same")
	}
}

// Names differ also where upper and lower case are the same; the first of a name keeps it.
func TestUnique(t *testing.T) {
	var list []Drawing
	for _, name := range []string{"a", "A", "a-2", "b", "a"} {
		list = append(list, Drawing{Name: name})
	}
	var got []string
	for _, d := range unique(list) {
		got = append(got, d.Name)
	}
	must.Same(t, "names", []string{"a", "A-2", "a-2-2", "b", "a-3"}, got)
}

func TestFixed(t *testing.T) {
	points := []map[string]string{{"a": "1", "b": "x", "c": "3"}, {"a": "1", "b": "y", "c": "3"}}
	must.Same(t, "fixed", "a=1.c=3", fixed([]string{"a", "b", "c"}, points))
}

// A tool that does not say how long the slowest operation took has no plot of it: not one of zeros.
func TestOverTimeWithoutLatencies(t *testing.T) {
	series := []result.Interval{
		{EndMicros: 1_000_000, Transactions: 5}, {EndMicros: 2_000_000, Transactions: 6}, {EndMicros: 3_000_000, Transactions: 4},
	}
	details := &Details{points: map[string]*pointDetails{"": {series: series}}}
	names := func() (list []string) {
		for _, d := range overTime([]chosen{{name: "a", of: details}}, nil, "of it") {
			list = append(list, d.Name)
		}
		return list
	}
	must.Same(t, "plots", []string{"throughput_over_time"}, names())
	series[1].MaxMicros = 9000
	if got := names(); len(got) != 2 {
		t.Errorf("with a latency, the plots are %v", got)
	}
}

// The rate of a last interval that is cut short is that of an end, and not shown.
func TestTimeLinesEnd(t *testing.T) {
	series := []result.Interval{{EndMicros: 1_000_000, Rows: 5}, {EndMicros: 2_000_000, Rows: 6}, {EndMicros: 2_400_000, Rows: 1}}
	if rate, _, _ := timeLines("a", series); len(rate.Points) != 2 || rate.Points[1].Y != 6 {
		t.Errorf("the rates are %v", rate.Points)
	}
	series[2].EndMicros = 2_500_000
	if rate, _, _ := timeLines("a", series); len(rate.Points) != 3 || rate.Points[2].Y != 2 {
		t.Errorf("the rates are %v", rate.Points)
	}
}
