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

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// documentVersion is the version of results.json. The first had other layouts with variants and without.
const documentVersion = 2

// document is the layout of results.json: with variants, the answer and the pairs come first.
type document struct {
	Version int            `json:"version"`
	Answer  string         `json:"answer,omitempty"`
	Pairs   []pairDocument `json:"pairs,omitempty"`
	Overall []pairDocument `json:"overall,omitempty"`
	Report
}

// JSON writes everything: what was asked, and the record of every attempt with its environment; with variants, the answer and the
// pairs. Histograms are left out: the documents of the attempts have them.
func JSON(w io.Writer, r *Report) error {
	short := *r
	short.Records = withoutHistograms(r.Records)
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(document{
		documentVersion, stats.AnswerOf(r.Overall, r.Pairs).Text, encodePairs(r.Pairs), encodePairs(r.Overall), short,
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
	d, err := result.Versioned(text, JSONFile, func(d *document) int { return d.Version }, documentVersion)
	if err != nil {
		return nil, err
	}
	r := &d.Report
	for i, record := range r.Records {
		if record == nil || record.Outcome == result.OutcomeAccepted && record.Summary == nil {
			return nil, fmt.Errorf("%s: attempt %d of %d has no result", JSONFile, i+1, len(r.Records))
		}
	}
	if r.Name == "" {
		return nil, errors.New(JSONFile + " is not that of a run")
	}
	r.Pairs, r.Overall = decodePairs(d.Pairs), decodePairs(d.Overall)
	return r, nil
}

// pairDocument is the layout of a pair in results.json. Numbers that there are none of are left out.
type pairDocument struct {
	Detail string `json:"detail"`
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
	// BaselineMetric is the baseline's metric, if there are two: cause is MetricsDiffer.
	BaselineMetric *metric `json:"baselineMetric,omitempty"`
	BaselineMedian float64 `json:"baselineMedian"`
	Median         float64 `json:"median"`
	stats.Paired
}

// metric is the layout of result.Metric without a value.
type metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
}

func encodePairs(pairs []stats.Paired) []pairDocument {
	var list []pairDocument
	for _, p := range pairs {
		list = append(list, encodePair(&p))
	}
	return list
}

func encodePair(p *stats.Paired) pairDocument {
	c := pairDocument{
		Paired: *p, Metric: p.Metric.Name, Unit: p.Metric.Unit, Better: p.Metric.Better, Detail: p.String(),
		BaselineMedian: finite(stats.Summarize(p.BaselineValues).Median), Median: finite(stats.Summarize(p.Values).Median),
	}
	for _, v := range []*float64{&c.Ratio, &c.Low, &c.High, &c.Detectable} {
		*v = finite(*v)
	}
	if m := p.BaselineMetric; m != nil {
		c.BaselineMetric = &metric{m.Name, m.Unit, m.Better}
	}
	return c
}

func decodePairs(list []pairDocument) []stats.Paired {
	var pairs []stats.Paired
	for _, c := range list {
		p := c.Paired
		p.Metric = result.Metric{Name: c.Metric, Unit: c.Unit, Better: c.Better}
		p.RateMissed = p.Cause == stats.RateMissed
		p.High, p.Detectable = cmp.Or(p.High, math.Inf(1)), cmp.Or(p.Detectable, math.Inf(1))
		if m := c.BaselineMetric; m != nil {
			p.BaselineMetric = &result.Metric{Name: m.Name, Unit: m.Unit, Better: m.Better}
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// finite is a number that JSON can hold, or 0.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
