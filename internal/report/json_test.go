// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestDecodeComparisonGivesWhatWasEncoded(t *testing.T) {
	s := reportOfComparison()
	s.Pairs[3].High, s.Pairs[3].Detectable, s.Pairs[3].Cause = math.Inf(1), math.Inf(1), stats.MetricsDiffer
	s.Pairs[3].BaselineMetric = &result.Metric{Name: "totalSeconds", Unit: "s", Better: "lower"}
	for i := range s.Pairs[:3] {
		p := &s.Pairs[i]
		p.Detectable, p.Decided, p.RoundsNeeded, p.FirstLook, p.Cause = 0.1, true, 7+i, 4, stats.Contradiction
		p.Costs = []stats.Cost{{Name: "fsyncs", Unit: "fsyncs/row", Baseline: 1, Variant: 0.1}}
	}
	var text bytes.Buffer
	must.Do(t, report.JSON(&text, s))
	s.Points = nil // they follow from the records
	decoded := must.Get(report.Decode(text.Bytes()))(t)
	must.Same(t, "comparison", s, decoded, cmpopts.IgnoreFields(claims.Judgement{}, "Settled"), cmpopts.EquateEmpty(), specText())
}

// specText compares specifications whatever their indentation.
func specText() cmp.Option {
	return cmp.Transformer("compact", func(text json.RawMessage) string {
		var b bytes.Buffer
		if err := json.Compact(&b, text); err != nil {
			return err.Error()
		}
		return b.String()
	})
}

// Histograms are in the documents, and not in results.json. The records keep theirs.
func TestJSONHasNoHistograms(t *testing.T) {
	r := small()
	latency := &r.Records[0].Summary.Latencies[0]
	latency.Histogram = "HISTFAAAABx4nJNpmSzMwMDAxAABzFCaEUoz2X+AMIAA"
	must.Lack(t, printed(t, report.JSON, r), "HISTF")
	if latency.Histogram == "" {
		t.Error("the record has lost its histogram")
	}
}

// Numbers that JSON has not are left out.
func TestComparisonJSONOfNoNumbers(t *testing.T) {
	s := reportOfComparison()
	p := &s.Pairs[0]
	p.Ratio, p.Low, p.High, p.BaselineValues = math.NaN(), math.Inf(-1), math.Inf(1), nil
	decoded := must.Get(report.Decode([]byte(printed(t, report.JSON, s))))(t)
	if got := &decoded.Pairs[0]; got.Ratio != 0 || got.Low != 0 || !math.IsInf(got.High, 1) || got.Bounded() {
		t.Errorf("it is read as %+v", got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                    "reading results.json: unexpected end of JSON input",
		`{"version":1}`:        "results.json has version 1, this program reads 2",
		`{"run":{"name":"a"}}`: "results.json has version 0, this program reads 2",
		`{"version":2,"run":{"name":"a"},"attempts":[{"outcome":"Failed"},{"outcome":"Accepted"}]}`: "results.json: attempt 2 of 2 " +
			"has no result",
		`{"version":2,"run":{"name":"a"},"attempts":[null]}`: "results.json: attempt 1 of 1 has no result",
		`{"version":2}`: "results.json is not that of a run",
	} {
		must.Same(t, text+": the error", want, must.Text(must.Err(report.Decode([]byte(text)))))
	}
}

// inStages is the report of a run with two trials in two stages, and an attempt that was disturbed.
func inStages() *report.Report {
	r := &report.Report{Run: run("Complete", "")}
	byPoint := map[string][]*result.Record{}
	for number := range 2 {
		record := testutil.Record(number+1, 1, nil, 0)
		latencies := record.Summary.Latencies
		record.Summary.Metrics, record.Summary.Latencies = nil, nil
		for i, name := range []string{"l.i0", "qr100"} {
			record.Summary.Stages = append(record.Summary.Stages, result.StageSummary{
				Name: name, Latencies: latencies, Totals: result.Totals{Rows: int64(100 * (i + 1)), Micros: 1e6, StoppedBy: result.StoppedByRows},
				Metrics: []result.Metric{{Name: "operationsPerSecond", Value: float64(1000*(i+1) + number), Unit: "operations/s", Better: "higher"}},
			})
		}
		r.Records = append(r.Records, record)
		for _, m := range record.Measurements() {
			byPoint[m.Parameters["stage"]] = append(byPoint[m.Parameters["stage"]], m)
		}
	}
	r.Records = append(r.Records, &result.Record{Version: 1, Trial: 3, Attempt: 1, Outcome: result.OutcomeInvalidated, Cause: result.CauseEvicted})
	for _, name := range []string{"l.i0", "qr100"} {
		r.Points = append(r.Points, stats.Looks{}.Summarized(stats.Point{Parameters: map[string]string{"stage": name}, Records: byPoint[name]}))
	}
	return r
}

// A stage is a row in the files of a run, as a point without stages is.
func TestStagesInFiles(t *testing.T) {
	r := inStages()
	rows := must.Get(csv.NewReader(strings.NewReader(printed(t, report.CSV, r))).ReadAll())(t)
	must.Same(t, "rows", 5, len(rows))
	must.Same(t, "header", "trial round attempt stage operationsPerSecond rows", strings.Join(rows[0][:6], " "))
	must.Same(t, "row 2", "1 1 1 qr100 2000 200", strings.Join(rows[2][:6], " "))
	if text := printed(t, report.Bench, r); strings.Count(text, "/stage=l.i0 ") != 2 || strings.Count(text, "/stage=qr100 ") != 2 {
		t.Errorf("benchmarks:\n%s", text)
	}
}

// People read the stages in their order, without a best one.
func TestStagesInSummary(t *testing.T) {
	text := printed(t, report.Summary, inStages())
	must.Has(t, text, "|  l.i0 |", "| qr100 |", "2 of 6 trials measured", "The stages are not ranked")
	must.Lack(t, text, "best")
}

// Two runs are compared stage by stage. One that missed its offered rate has no verdict.
func TestStagesCompared(t *testing.T) {
	before, after := inStages(), inStages()
	for _, r := range []*report.Report{before, after} {
		r.Planned, r.Records = 2, r.Records[:2]
	}
	after.UID = "another"
	for _, record := range after.Points[1].Records {
		record.Summary.Findings = []finding.Finding{finding.Missed{Rate: 100, Reached: 50, Share: 50, Unit: "rows/s"}.Finding()}
	}
	var sides []*report.Side
	for _, r := range []*report.Report{before, after} {
		side := must.Get(report.SideOf(r, "", "", r.Name))(t)
		sides = append(sides, side)
	}
	c, err := report.CompareSides(sides[0], sides[1], 0.03)
	if err != nil || len(c.Pairs) != 2 || c.Pairs[0].Cause == stats.RateMissed || c.Pairs[1].Cause != stats.RateMissed {
		t.Errorf("%v: %+v", err, c)
	}
}

// What a comparison has published says which variants may have missed an offered rate.
func TestStagesOfVariantsCompared(t *testing.T) {
	at := map[string]string{"stage": "qr100"}
	metric := result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}
	s := &report.Report{
		Run:       run("Complete", ""),
		Variation: report.Variation{Variants: []report.Variant{{Name: "old", Baseline: true}, {Name: "slow"}, {Name: "new"}}, Rounds: 7},
	}
	s.Spec = []byte(`{"variants":[{"name":"old"},{"name":"slow"},{"name":"new"}]}`)
	for i, v := range s.Variants[1:] {
		pair := stats.Paired{
			Variant: v.Name, Baseline: "old", Parameters: at, Metric: metric, RateMissed: v.Name == "slow",
		}
		for round := range 7 {
			pair.BaselineValues = append(pair.BaselineValues, float64(100+round))
			pair.Values = append(pair.Values, float64(100*(i+2)+round))
		}
		pair.Judge(stats.Design{MinRounds: 6, MaxRounds: 7, EquivalencePercent: 5, Comparisons: 2})
		s.Pairs = append(s.Pairs, pair)
	}
	for round := range 7 {
		for i, v := range s.Variants {
			addSide(s, v.Name, round+1, at, float64(100*(i+1)+round))
		}
	}
	for pair, want := range map[[2]string]bool{{"old", "slow"}: true, {"slow", "new"}: true, {"old", "new"}: false} {
		c, err := report.CompareVariants(s, pair[0], pair[1], "")
		if err != nil || len(c.Pairs) != 1 || (c.Pairs[0].Cause == stats.RateMissed) != want {
			t.Errorf("%v: %v, %+v", pair, err, c)
		}
	}
}
