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

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// documentVersion is the version of results.json.
const documentVersion = 1

var (
	errNoRun        = errors.New(JSONFile + " is not that of a run")
	errNoComparison = errors.New(JSONFile + " is not that of a run with variants")
)

// document is the layout of a run's results.json.
type document struct {
	Version  int                `json:"version"`
	Run      Run                `json:"run"`
	Claims   []claims.Judgement `json:"claims,omitempty"`
	Plan     []Trial            `json:"plan"`
	Attempts []*result.Record   `json:"attempts"`
}

// JSON writes everything: what was asked, the plan, and the record of every attempt with its environment. Histograms are left
// out: the documents of the attempts have them.
func JSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(document{
		Version: documentVersion, Run: r.Run, Claims: r.Claims, Plan: r.Trials, Attempts: withoutHistograms(r.Records),
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

// Decode is the report whose results.json this is, without its points: these follow from the records.
func Decode(text []byte) (*Report, error) {
	var d document
	if err := decodeDocument(text, &d, &d.Version); err != nil {
		return nil, err
	}
	if d.Run.Name == "" {
		return nil, errNoRun
	}
	for i, record := range d.Attempts {
		if record == nil || record.Outcome == result.OutcomeAccepted && record.Summary == nil {
			return nil, fmt.Errorf("%s: attempt %d of %d has no result", JSONFile, i+1, len(d.Attempts))
		}
	}
	return &Report{Run: d.Run, Trials: d.Plan, Claims: d.Claims, Records: d.Attempts}, nil
}

// decodeDocument reads a document; version is a field of it.
func decodeDocument(text []byte, d any, version *int) error {
	if err := json.Unmarshal(text, d); err != nil {
		return fmt.Errorf("reading %s: %w", JSONFile, err)
	}
	if *version != documentVersion {
		return fmt.Errorf("%s has version %d, this program reads %d", JSONFile, *version, documentVersion)
	}
	return nil
}

// comparisonDocument is the layout of a comparison's results.json.
type comparisonDocument struct {
	Version    int            `json:"version"`
	Answer     string         `json:"answer"`
	Pairs      []pairDocument `json:"pairs"`
	Overall    []pairDocument `json:"overall,omitempty"`
	Comparison *Comparison    `json:"comparison"`
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
	BaselineValues []float64 `json:"baselineValues,omitempty"`
	Values         []float64 `json:"values,omitempty"`
	Costs          []cost    `json:"costs,omitempty"`
	Detail         string    `json:"detail"`
}

// metric is the layout of result.Metric without a value.
type metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
}

// cost is the layout of stats.Cost.
type cost struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Baseline float64 `json:"baseline"`
	Variant  float64 `json:"variant"`
}

// ComparisonJSON writes everything: what was asked, the answer, the pairs, and what every run measured.
func ComparisonJSON(w io.Writer, s *Comparison) error {
	d := comparisonDocument{Version: documentVersion, Answer: stats.AnswerOf(s.Overall, s.Pairs).Text, Comparison: s}
	for i := range s.Pairs {
		d.Pairs = append(d.Pairs, encodePair(&s.Pairs[i]))
	}
	for i := range s.Overall {
		d.Overall = append(d.Overall, encodePair(&s.Overall[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(d)
}

// DecodeComparison is the comparison whose results.json this is.
func DecodeComparison(text []byte) (*Comparison, error) {
	var d comparisonDocument
	if err := decodeDocument(text, &d, &d.Version); err != nil {
		return nil, err
	}
	if d.Comparison == nil {
		return nil, errNoComparison
	}
	for i := range d.Pairs {
		d.Comparison.Pairs = append(d.Comparison.Pairs, d.Pairs[i].decode())
	}
	for i := range d.Overall {
		d.Comparison.Overall = append(d.Comparison.Overall, d.Overall[i].decode())
	}
	return d.Comparison, nil
}

func encodePair(p *stats.Paired) pairDocument {
	c := pairDocument{
		Variant: p.Variant, Baseline: p.Baseline, Parameters: p.Parameters, Points: p.Points,
		Metric: p.Metric.Name, Unit: p.Metric.Unit, Better: p.Metric.Better,
		Verdict: p.Verdict, Decided: p.Decided, Rounds: p.Rounds, Ratio: finite(p.Ratio), Low: finite(p.Low), High: finite(p.High),
		Detectable: finite(p.Detectable), RoundsNeeded: p.RoundsNeeded,
		EquivalencePercent: p.EquivalencePercent, FirstLook: p.FirstLook, Cause: p.Cause,
		BaselineMedian: finite(stats.Summarize(p.BaselineValues).Median), Median: finite(stats.Summarize(p.Values).Median),
		BaselineValues: p.BaselineValues, Values: p.Values, Detail: p.String(),
	}
	if m := p.BaselineMetric; m != nil {
		c.BaselineMetric, c.Incomparable = &metric{m.Name, m.Unit, m.Better}, p.Why()
	}
	for _, of := range p.Costs {
		c.Costs = append(c.Costs, cost{of.Name, of.Unit, finite(of.Baseline), finite(of.Variant)})
	}
	return c
}

func (c *pairDocument) decode() stats.Paired {
	p := stats.Paired{
		Variant: c.Variant, Baseline: c.Baseline, Parameters: c.Parameters, Points: c.Points,
		Metric:         result.Metric{Name: c.Metric, Unit: c.Unit, Better: c.Better},
		BaselineValues: c.BaselineValues, Values: c.Values, EquivalencePercent: c.EquivalencePercent, FirstLook: c.FirstLook,
		RateMissed: c.Cause == stats.RateMissed,
		Comparison: stats.Comparison{
			Verdict: c.Verdict, Decided: c.Decided, Rounds: c.Rounds, Ratio: c.Ratio, Low: c.Low,
			High: cmp.Or(c.High, math.Inf(1)), Detectable: cmp.Or(c.Detectable, math.Inf(1)), RoundsNeeded: c.RoundsNeeded, Cause: c.Cause,
		},
	}
	if m := c.BaselineMetric; m != nil {
		p.BaselineMetric = &result.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better}
	}
	for _, of := range c.Costs {
		p.Costs = append(p.Costs, stats.Cost{Name: of.Name, Unit: of.Unit, Baseline: of.Baseline, Variant: of.Variant})
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
