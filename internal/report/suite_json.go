// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"io"
	"math"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// suiteDocument is the layout of a suite's results.json.
type suiteDocument struct {
	Version     int          `json:"version"`
	Answer      string       `json:"answer"`
	Comparisons []comparison `json:"comparisons"`
	Suite       *Suite       `json:"suite"`
}

// comparison is the layout of a comparison in results.json. Numbers that there are none of are left out.
type comparison struct {
	Variant      string            `json:"variant"`
	Baseline     string            `json:"baseline"`
	Parameters   map[string]string `json:"parameters,omitempty"`
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
	EquivalencePercent int32       `json:"equivalencePercent"`
	FirstLook          int         `json:"firstLook"`
	Cause              stats.Cause `json:"cause,omitempty"`
	Obstacle           string      `json:"obstacle,omitempty"`
	BaselineMedian     float64     `json:"baselineMedian"`
	Median             float64     `json:"median"`
	// BaselineValues and Values have one for each round.
	BaselineValues []float64 `json:"baselineValues,omitempty"`
	Values         []float64 `json:"values,omitempty"`
	Costs          []cost    `json:"costs,omitempty"`
	Detail         string    `json:"detail"`
}

// cost is the layout of stats.Cost.
type cost struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	Baseline float64 `json:"baseline"`
	Variant  float64 `json:"variant"`
}

// SuiteJSON writes everything: what was asked, the answer, the comparisons, and what every run measured.
func SuiteJSON(w io.Writer, s *Suite) error {
	d := suiteDocument{Version: documentVersion, Answer: stats.AnswerOf(s.Pairs).Text, Suite: s}
	for i := range s.Pairs {
		d.Comparisons = append(d.Comparisons, encodePair(&s.Pairs[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(d)
}

// DecodeSuite is the suite whose results.json this is.
func DecodeSuite(text []byte) (*Suite, error) {
	var d suiteDocument
	if err := decodeDocument(text, &d, &d.Version); err != nil {
		return nil, err
	}
	if d.Suite == nil {
		return nil, errNoSuite
	}
	for i := range d.Comparisons {
		d.Suite.Pairs = append(d.Suite.Pairs, d.Comparisons[i].decode())
	}
	return d.Suite, nil
}

func encodePair(p *stats.Paired) comparison {
	c := comparison{
		Variant: p.Variant, Baseline: p.Baseline, Parameters: p.Parameters,
		Metric: p.Metric.Name, Unit: p.Metric.Unit, Better: p.Metric.Better,
		Verdict: p.Verdict, Decided: p.Decided, Rounds: p.Rounds, Ratio: finite(p.Ratio), Low: finite(p.Low), High: finite(p.High),
		Detectable: finite(p.Detectable), RoundsNeeded: p.RoundsNeeded,
		EquivalencePercent: p.EquivalencePercent, FirstLook: p.FirstLook, Cause: p.Cause, Obstacle: p.Obstacle,
		BaselineMedian: finite(stats.Summarize(p.BaselineValues).Median), Median: finite(stats.Summarize(p.Values).Median),
		BaselineValues: p.BaselineValues, Values: p.Values, Detail: p.String(),
	}
	for _, of := range p.Costs {
		c.Costs = append(c.Costs, cost{of.Name, of.Unit, finite(of.Baseline), finite(of.Variant)})
	}
	return c
}

func (c *comparison) decode() stats.Paired {
	p := stats.Paired{
		Variant: c.Variant, Baseline: c.Baseline, Parameters: c.Parameters,
		Metric:         result.Metric{Name: c.Metric, Unit: c.Unit, Better: c.Better},
		BaselineValues: c.BaselineValues, Values: c.Values, EquivalencePercent: c.EquivalencePercent, FirstLook: c.FirstLook,
		Obstacle: c.Obstacle,
		Comparison: stats.Comparison{
			Verdict: c.Verdict, Decided: c.Decided, Rounds: c.Rounds, Ratio: c.Ratio, Low: c.Low,
			High: cmp.Or(c.High, math.Inf(1)), Detectable: cmp.Or(c.Detectable, math.Inf(1)), RoundsNeeded: c.RoundsNeeded, Cause: c.Cause,
		},
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
