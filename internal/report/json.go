// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// documentVersion is the version of results.json.
const documentVersion = 1

var errNoRun = errors.New(JSONFile + " is not that of a run")

// runDocument is the layout of results.json of a run without variants.
type runDocument struct {
	Version  int                `json:"version"`
	Run      Run                `json:"run"`
	Claims   []claims.Judgement `json:"claims,omitempty"`
	Plan     []Trial            `json:"plan"`
	Attempts []*result.Record   `json:"attempts"`
}

// JSON writes everything: what was asked, the plan, and the record of every attempt with its environment; with variants, the
// answer and the pairs. Histograms are left out: the documents of the attempts have them.
func JSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if !r.HasVariants() {
		return enc.Encode(runDocument{documentVersion, r.Run, r.Claims, r.Trials, withoutHistograms(r.Records)})
	}
	return enc.Encode(variantsDocument{
		Version: documentVersion, Answer: stats.AnswerOf(r.Overall, r.Pairs).Text,
		Pairs: encodePairs(r.Pairs), Overall: encodePairs(r.Overall),
		Run: &variantsRun{r.Head, r.Ending, r.Rounds, r.Planned, r.Variation, r.Findings, r.Rows, r.Spec, r.Records},
	})
}

func withoutHistograms(records []*result.Record) []*result.Record {
	var list []*result.Record
	for _, record := range records {
		if record.Summary != nil {
			short := *record
			short.Summary = record.Summary.WithoutHistograms()
			record = &short
		}
		list = append(list, record)
	}
	return list
}

// Decode is the report whose results.json this is. A run without variants has no points: these follow from the records.
func Decode(text []byte) (*Report, error) {
	var d struct {
		Version  int                `json:"version"`
		Run      *Run               `json:"run"`
		Claims   []claims.Judgement `json:"claims"`
		Plan     []Trial            `json:"plan"`
		Attempts []*result.Record   `json:"attempts"`
		Pairs    []pairDocument     `json:"pairs"`
		Overall  []pairDocument     `json:"overall"`
		Variants *variantsRun       `json:"comparison"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("reading %s: %w", JSONFile, err)
	}
	if d.Version != documentVersion {
		return nil, fmt.Errorf("%s has version %d, this program reads %d", JSONFile, d.Version, documentVersion)
	}
	attempts, v := d.Attempts, d.Variants
	if v != nil {
		attempts = v.Attempts
	}
	for i, record := range attempts {
		if record == nil || record.Outcome == result.OutcomeAccepted && record.Summary == nil {
			return nil, fmt.Errorf("%s: attempt %d of %d has no result", JSONFile, i+1, len(attempts))
		}
	}
	if v != nil && len(v.Variants) > 0 {
		return &Report{
			Run:       Run{Head: v.Head, Ending: v.Ending, Planned: v.Planned, Findings: v.Findings, Spec: v.Spec},
			Variation: v.Variation, Rounds: v.Rounds, Rows: v.Rows, Records: v.Attempts,
			Pairs: decodePairs(d.Pairs), Overall: decodePairs(d.Overall),
		}, nil
	}
	if d.Run == nil || d.Run.Name == "" {
		return nil, errNoRun
	}
	return &Report{Run: *d.Run, Variation: Variation{Claims: d.Claims}, Trials: d.Plan, Records: d.Attempts}, nil
}

// variantsDocument is the layout of results.json of a run with variants.
type variantsDocument struct {
	Version int            `json:"version"`
	Answer  string         `json:"answer"`
	Pairs   []pairDocument `json:"pairs"`
	Overall []pairDocument `json:"overall,omitempty"`
	Run     *variantsRun   `json:"comparison"`
}

// variantsRun is the layout of the run in it.
type variantsRun struct {
	Head
	Ending
	// Rounds in which every variant was measured, of at most Planned.
	Rounds  int `json:"rounds"`
	Planned int `json:"planned"`
	Variation
	Findings []finding.Finding `json:"findings,omitempty"`
	Rows     map[string]int64  `json:"rows,omitempty"`
	Spec     json.RawMessage   `json:"spec"`
	Attempts []*result.Record  `json:"attempts,omitempty"`
}

// pairDocument is the layout of a pair in results.json. Numbers that there are none of are left out.
type pairDocument struct {
	Variant      string            `json:"variant"`
	Baseline     string            `json:"baseline"`
	Parameters   map[string]string `json:"parameters,omitempty"`
	Points       int               `json:"points,omitempty"`
	Metric       string            `json:"metric"`
	Unit         string            `json:"unit"`
	Better       string            `json:"better"`
	Verdict      stats.Verdict     `json:"verdict"`
	Decided      bool              `json:"decided"`
	Rounds       int               `json:"rounds"`
	Ratio        float64           `json:"ratio,omitempty"`
	Low          float64           `json:"low,omitempty"`
	High         float64           `json:"high,omitempty"`
	Detectable   float64           `json:"detectable,omitempty"`
	RoundsNeeded int               `json:"roundsNeeded,omitempty"`
	// EquivalencePercent counts as none; FirstLook is the round after which there can be an answer.
	EquivalencePercent int32       `json:"equivalentWithinPercent"`
	FirstLook          int         `json:"firstLook"`
	Cause              stats.Cause `json:"cause,omitempty"`
	// Incomparable says that there are two metrics: cause is MetricsDiffer, and BaselineMetric the baseline's.
	Incomparable   string  `json:"obstacle,omitempty"`
	BaselineMetric *metric `json:"baselineMetric,omitempty"`
	BaselineMedian float64 `json:"baselineMedian"`
	Median         float64 `json:"median"`
	// BaselineValues and Values have one for each round.
	BaselineValues []float64    `json:"baselineValues,omitempty"`
	Values         []float64    `json:"values,omitempty"`
	Costs          []stats.Cost `json:"costs,omitempty"`
	Detail         string       `json:"detail"`
}

// metric is the layout of result.Metric without a value.
type metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
}

func encodePairs(pairs []stats.Paired) []pairDocument {
	var list []pairDocument
	for i := range pairs {
		list = append(list, encodePair(&pairs[i]))
	}
	return list
}

func decodePairs(list []pairDocument) []stats.Paired {
	var pairs []stats.Paired
	for i := range list {
		pairs = append(pairs, list[i].decode())
	}
	return pairs
}

func encodePair(p *stats.Paired) pairDocument {
	c := pairDocument{
		Variant: p.Variant, Baseline: p.Baseline, Parameters: p.Parameters, Points: p.Points,
		Metric: p.Metric.Name, Unit: p.Metric.Unit, Better: p.Metric.Better,
		Verdict: p.Verdict, Decided: p.Decided, Rounds: p.Rounds, Ratio: finite(p.Ratio), Low: finite(p.Low), High: finite(p.High),
		Detectable: finite(p.Detectable), RoundsNeeded: p.RoundsNeeded,
		EquivalencePercent: p.EquivalencePercent, FirstLook: p.FirstLook, Cause: p.Cause,
		BaselineMedian: finite(stats.Summarize(p.BaselineValues).Median), Median: finite(stats.Summarize(p.Values).Median),
		BaselineValues: p.BaselineValues, Values: p.Values, Costs: p.Costs, Detail: p.String(),
	}
	if m := p.BaselineMetric; m != nil {
		c.BaselineMetric, c.Incomparable = &metric{m.Name, m.Unit, m.Better}, p.Why()
	}
	return c
}

func (c *pairDocument) decode() stats.Paired {
	p := stats.Paired{
		Variant: c.Variant, Baseline: c.Baseline, Parameters: c.Parameters, Points: c.Points,
		Metric:         result.Metric{Name: c.Metric, Unit: c.Unit, Better: c.Better},
		BaselineValues: c.BaselineValues, Values: c.Values, EquivalencePercent: c.EquivalencePercent, FirstLook: c.FirstLook,
		RateMissed: c.Cause == stats.RateMissed, Costs: c.Costs,
		Comparison: stats.Comparison{
			Verdict: c.Verdict, Decided: c.Decided, Rounds: c.Rounds, Ratio: c.Ratio, Low: c.Low,
			High: cmp.Or(c.High, math.Inf(1)), Detectable: cmp.Or(c.Detectable, math.Inf(1)), RoundsNeeded: c.RoundsNeeded, Cause: c.Cause,
		},
	}
	if m := c.BaselineMetric; m != nil {
		p.BaselineMetric = &result.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better}
	}
	return p
}

// finite is a number that JSON can hold, or 0.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
