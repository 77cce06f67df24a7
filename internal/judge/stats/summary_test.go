// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// The interval of n values is from the k-th smallest to the k-th largest; k is 1 for 6 values, and 3 for 12: the probability
// that the median lies outside is 2·(C(12,0)+C(12,1)+C(12,2))/2^12 = 3.9%; with k of 4 it would be 14.6%.
func TestSummarize(t *testing.T) {
	cases := map[string]struct {
		values []float64
		want   stats.Summary
	}{
		"none":                     {nil, stats.Summary{}},
		"one":                      {[]float64{7}, stats.Summary{N: 1, Median: 7, Low: 7, High: 7, Interval: stats.MinMax}},
		"two":                      {[]float64{9, 4}, stats.Summary{N: 2, Median: 6.5, Low: 4, High: 9, Interval: stats.MinMax}},
		"five, in no order":        {[]float64{5, 1, 4, 2, 30}, stats.Summary{N: 5, Median: 4, Low: 1, High: 30, Interval: stats.MinMax}},
		"six":                      {[]float64{6, 5, 4, 3, 2, -10}, stats.Summary{N: 6, Median: 3.5, Low: -10, High: 6, Interval: stats.Confidence95}},
		"eight, 2 to 8 is as good": {[]float64{1, 2, 3, 4, 5, 6, 7, 8}, stats.Summary{N: 8, Median: 4.5, Low: 1, High: 7, Interval: stats.Confidence95}},
		"nine":                     {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, stats.Summary{N: 9, Median: 5, Low: 2, High: 8, Interval: stats.Confidence95}},
		"twelve":                   {[]float64{12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6}, stats.Summary{N: 12, Median: 6.5, Low: 3, High: 10, Interval: stats.Confidence95}},
		"twelve, all the same":     {[]float64{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, stats.Summary{N: 12, Median: 4, Low: 4, High: 4, Interval: stats.Confidence95}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := append([]float64(nil), tc.values...)
			must.Same(t, "summary", tc.want, stats.Summarize(tc.values))
			must.Same(t, "the values afterwards", before, tc.values)
		})
	}
}

func TestReached(t *testing.T) {
	summary := func(median, low, high float64, interval stats.Interval) stats.Summary {
		return stats.Summary{N: 6, Median: median, Low: low, High: high, Interval: interval}
	}
	cases := map[string]struct {
		summary stats.Summary
		percent int32
		want    bool
	}{
		"just":               {summary(100, 95, 105, stats.Confidence95), 5, true},
		"not quite":          {summary(100, 94.9, 105, stats.Confidence95), 5, false},
		"lopsided":           {summary(100, 100, 110, stats.Confidence95), 5, true},
		"negative":           {summary(-100, -105, -95, stats.Confidence95), 5, true},
		"no interval":        {summary(100, 100, 100, stats.MinMax), 50, false},
		"nothing":            {stats.Summary{}, 50, false},
		"relative to zero":   {summary(0, 0, 0, stats.Confidence95), 50, false},
		"infinite":           {summary(100, 50, math.Inf(1), stats.Confidence95), 50, false},
		"wide enough for 50": {summary(100, 50, 150, stats.Confidence95), 50, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "reached", tc.want, tc.summary.Reached(tc.percent))
		})
	}
}

func TestFormat(t *testing.T) {
	cases := map[float64]string{
		0: "0", 1: "1", 10: "10", 100: "100", 1000: "1000", 10000: "10000", 1e6: "1000000", 1e15: "1000000000000000", 1.2345e15: "1234000000000000",
		1e16: "1e+16", -1.2345e40: "-1.234e+40", 9.9996e15: "1e+16", 1e-6: "0.000001", 1.2346e-7: "1.235e-07", math.MaxFloat64: "1.798e+308",
		0.001: "0.001", 0.1: "0.1", 14973.4: "14970", 14975.1: "14980", 1234.5: "1234", 1235.5: "1236", 999.96: "1000", 99.996: "100",
		9.9996: "10", 0.99996: "1", 9999.6: "10000", 0.00012345: "0.0001234", -1000: "-1000", -0.5: "-0.5", -99.996: "-100",
		123456789: "123500000", math.Pi: "3.142", 3.1: "3.1", 120.04: "120", math.Inf(1): "+Inf",
	}
	for value, want := range cases {
		must.Same(t, "written", want, stats.Format(value))
	}
	must.Same(t, "not a number", "NaN", stats.Format(math.NaN()))
}

// At most four digits whatever the size.
func TestFormatHasFourDigits(t *testing.T) {
	for value := 1e-6; value < 1e12; value *= 1.0137 {
		text := stats.Format(value)
		digits := strings.Trim(strings.ReplaceAll(text, ".", ""), "0")
		if len(digits) > 4 || strings.ContainsAny(text, "eE") || strings.HasSuffix(text, ".") {
			t.Errorf("%g is written %s", value, text)
		}
	}
}

func warned(trial int, value float64, warnings ...string) *result.Record {
	r := testutil.Record(trial, 1, nil, value)
	for _, text := range warnings {
		r.Summary.Findings = append(r.Summary.Findings, finding.OfProgram(text))
	}
	return r
}

func found(trial int, list ...finding.Finding) *result.Record {
	r := testutil.Record(trial, 1, nil, 1)
	r.Summary.Findings = list
	return r
}

func TestWarnings(t *testing.T) {
	cases := map[string]struct {
		records []*result.Record
		values  []float64
		want    []string
	}{
		"nothing":        {},
		"none":           {[]*result.Record{warned(1, 1)}, []float64{100}, nil},
		"of all trials":  {[]*result.Record{warned(1, 1, "a"), warned(2, 1, "a")}, []float64{100, 100}, []string{"a"}},
		"of some trials": {[]*result.Record{warned(1, 1, "a"), warned(2, 1, "b"), warned(3, 1, "b", "a")}, []float64{100, 100, 100}, []string{"a (2 of 3 trials)", "b (2 of 3 trials)"}},
		"with other figures": {
			[]*result.Record{
				found(1, finding.Debt("dirty pages", 5, 7, 0)), found(2),
				found(3, finding.Debt("dirty pages", 6, 3, 0), finding.Debt("dirty pages", 6, 9, 0)),
			},
			[]float64{100, 100, 100},
			[]string{"the server did not settle: after 5–6 s it still had 3–9 dirty pages (goal: 0) (2 of 3 trials)"},
		},
		"narrow spread":             {[]*result.Record{warned(1, 1), warned(2, 1), warned(3, 1)}, []float64{90, 100, 115}, nil},
		"wide spread":               {[]*result.Record{warned(1, 1), warned(2, 1), warned(3, 1)}, []float64{90, 100, 116}, []string{"the values span more than 25% of their median"}},
		"one value does not spread": {[]*result.Record{warned(1, 1)}, []float64{0}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, w := range stats.PointWarnings(tc.records, tc.values) {
				got = append(got, w.String())
			}
			must.Same(t, "warnings", tc.want, got)
		})
	}
}

func TestSummarizedPoint(t *testing.T) {
	parameters := map[string]string{"rowsPerCommit": "4"}
	list := []*result.Record{warned(1, 1000, "a"), warned(2, 1100, "a")}
	got := stats.Looks{}.Summarized(stats.Point{Parameters: parameters, Records: list})
	want := stats.Point{
		Parameters: parameters, Records: list, Metric: result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"},
		Values: []float64{1000, 1100}, Summary: stats.Summary{N: 2, Median: 1050, Low: 1000, High: 1100, Interval: stats.MinMax},
		Warnings: []finding.Finding{finding.OfProgram("a").InTrials(2, 2)},
	}
	must.Same(t, "point", want, got)
	unmeasured := testutil.Record(1, 1, nil, 1)
	unmeasured.Summary.Metrics = nil
	got = stats.Looks{}.Summarized(stats.Point{Records: []*result.Record{unmeasured}})
	if got.Summary.N != 0 || got.Values != nil {
		t.Errorf("without a metric: %+v", got)
	}
}

func TestBest(t *testing.T) {
	points := func(better string, medians ...float64) []stats.Point {
		var list []stats.Point
		for _, m := range medians {
			p := stats.Point{Metric: result.Metric{Better: better}, Summary: stats.Summary{N: 1, Median: m}}
			if m < 0 {
				p.Summary = stats.Summary{} // not measured
			}
			list = append(list, p)
		}
		return list
	}
	cases := map[string]struct {
		points []stats.Point
		want   int
	}{
		"none":                   {nil, -1},
		"none measured":          {points("higher", -1, -1), -1},
		"higher":                 {points("higher", 3, 9, 5), 1},
		"lower":                  {points("lower", 3, 9, 2, 5), 2},
		"lower, some unmeasured": {points("lower", -1, 3, -1, 2), 3},
		"the first of equals":    {points("higher", 3, 9, 9), 1},
		"unsaid is higher":       {points("", 3, 9), 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "best", tc.want, stats.Best(tc.points))
		})
	}
}

func TestLabel(t *testing.T) {
	must.Same(t, "label", "a=1, b=2, c=3", stats.Label(map[string]string{"b": "2", "a": "1", "c": "3"}))
	must.Same(t, "label of nothing", "", stats.Label(nil))
}

// An interval that was looked at in several rounds is wider than one that was not, and says so.
func TestSummaryOfLooks(t *testing.T) {
	values := []float64{12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6}
	cases := map[string]struct {
		looks  stats.Looks
		values []float64
		want   stats.Summary
	}{
		"a fixed number":       {stats.Looks{}, values, stats.Summary{N: 12, Median: 6.5, Low: 3, High: 10, Interval: stats.Confidence95}},
		"the last of seven":    {stats.Looks{First: 6, Last: 12}, values, stats.Summary{N: 12, Median: 6.5, Low: 2, High: 11, Interval: stats.Confidence95, Looked: true}},
		"before the first":     {stats.Looks{First: 6, Last: 12}, values[:5], stats.Summary{N: 5, Median: 10, Low: 1, High: 12, Interval: stats.MinMax}},
		"no interval at first": {stats.Looks{First: 6, Last: 100}, values[:6], stats.Summary{N: 6, Median: 6.5, Low: 1, High: 12, Interval: stats.MinMax}},
		"nothing":              {stats.Looks{First: 6, Last: 12}, nil, stats.Summary{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "summary", tc.want, tc.looks.Summary(tc.values))
		})
	}
}

func encoded(t *testing.T, highest int64, digits int) string {
	t.Helper()
	h := hdrhistogram.New(1, highest, digits)
	must.Do(t, h.RecordValue(42))
	text := must.Get(h.Encode(hdrhistogram.V2CompressedEncodingCookieBase))(t)
	return string(text)
}

// A short text of a histogram that would take much memory is not read: the percentiles of the trials are used instead.
func TestLatencyOfGiganticHistograms(t *testing.T) {
	huge := encoded(t, math.MaxInt64/2, 5)
	var records []*result.Record
	for trial := range 10 {
		r := testutil.Record(trial+1, 1, nil, 1000)
		r.Summary.Latencies = []result.Latency{{Operation: "commit", Count: 1, P50Micros: 42, Histogram: huge}}
		records = append(records, r)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, found := stats.LatencyOf(records, "commit")
	runtime.ReadMemStats(&after)
	if !found || l.Merged || l.P50Micros != 42 {
		t.Errorf("%t, %+v", found, l)
	}
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 10 {
		t.Errorf("%d MiB are allocated for texts of %d bytes", allocated, len(huge))
	}
}

func TestDecodeHistogram(t *testing.T) {
	h, err := stats.DecodeHistogram(encoded(t, 3_600_000_000, 3))
	if err != nil || h.TotalCount() != 1 || h.Max() != 42 {
		t.Errorf("%v, %v", h, err)
	}
	whole := encoded(t, 3_600_000_000, 3)
	for n := range len(whole) {
		if _, err := stats.DecodeHistogram(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are read", n, len(whole))
		}
	}
}
