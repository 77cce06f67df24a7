// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Details are what a page shows of the documents of attempts, beside what their records say. They are added one at a time: of
// each point they keep a bounded part, however many attempts it has. The zero value is ready.
type Details struct {
	points map[string]*pointDetails
	// variables are those of the first document's server.
	variables map[string]string
	digest    string
	// changed are the trials whose server had other variables than the first one's, with the variables.
	changed []string
	// variants are the Details of each.
	variants map[string]*Details
}

type pointDetails struct {
	// latencies are histograms by operation, encoded: one that is merged, and a few that are still to be.
	latencies map[string][]string
	// series is that of the first attempt.
	series []result.Interval
	// unit of the rates of series; empty if the series itself says whether they are of rows.
	unit string
	// rates are those since the milestone before, of several attempts, by the rows of the milestone.
	rates map[int64][]float64
}

// Bounds of what is kept of a point.
const (
	maxIntervals  = 150
	maxMilestones = 120
	maxTrials     = 16
	maxChanged    = 20
)

// Add keeps what the page shows of an attempt that counts: of each variant that it measured, if there are any.
func (d *Details) Add(record *result.Record, doc *result.Document) {
	if record.Outcome != result.OutcomeAccepted {
		return
	}
	for _, side := range record.Sides {
		if d.variants == nil {
			d.variants = map[string]*Details{}
		}
		if d.variants[side.Variant] == nil {
			d.variants[side.Variant] = &Details{}
		}
		d.variants[side.Variant].Add(record.Side(side.Variant), doc.Side(side.Variant))
	}
	if len(record.Sides) > 0 {
		return
	}
	if d.points == nil {
		d.points = map[string]*pointDetails{}
		d.variables, d.digest = doc.Server.Variables, doc.Server.SettingsDigest
	}
	if doc.Server.SettingsDigest != d.digest && len(d.changed) < maxChanged {
		d.changed = append(d.changed, d.differing(record.Trial, doc.Server.Variables))
	}
	documents := doc.Measurements()
	for i, measured := range record.Measurements() {
		if i < len(documents) {
			d.addPoint(stats.Label(measured.Parameters), documents[i])
		}
	}
}

func (d *Details) addPoint(key string, doc *result.Document) {
	p := d.points[key]
	if p == nil {
		p = &pointDetails{latencies: map[string][]string{}, rates: map[int64][]float64{}}
		d.points[key] = p
	}
	if p.series == nil {
		p.series = thinned(doc.Series)
		if doc.Stage != "" { // the series then says what the stage does: rows, or queries beside which rows are inserted
			p.unit = "operations/s"
			for i := range p.series {
				if doc.Totals.Queries > 0 {
					p.series[i].Rows = p.series[i].Queries
				}
			}
		}
	}
	for _, l := range doc.Latencies {
		p.merge(l)
	}
	p.addMilestones(doc.Milestones)
}

// of a point; nil if nothing is known of it.
func (d *Details) of(parameters map[string]string) *pointDetails {
	if d == nil {
		return nil
	}
	return d.points[stats.Label(parameters)]
}

// maxNamed is how many variables that changed are named.
const maxNamed = 6

// differing says which variables of a trial's server are others than those of the first.
func (d *Details) differing(trial int, variables map[string]string) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if was, known := d.variables[name]; known && was != variables[name] {
			names = append(names, fmt.Sprintf("%s (%s → %s)", name, was, variables[name]))
		}
	}
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("trial %d: %s%s", trial, strings.Join(names, ", "), more)
}

// maxUnmerged is how many histograms of an operation are kept before they become one: making one takes longer than keeping some.
const maxUnmerged = 6

// merge adds a histogram to those of the point. One that cannot be read is left out.
func (p *pointDetails) merge(l result.Latency) {
	if l.Histogram == "" {
		return
	}
	all := slices.Concat(p.latencies[l.Operation], []string{l.Histogram})
	if len(all) > maxUnmerged {
		h, _ := stats.MergeHistograms(all)
		if h == nil {
			return
		}
		encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			return
		}
		all = []string{string(encoded)}
	}
	p.latencies[l.Operation] = all
}

// thinned is a series of at most maxIntervals intervals: neighbours become one.
func thinned(series []result.Interval) []result.Interval {
	every := max(1, (len(series)+maxIntervals-1)/maxIntervals)
	var short []result.Interval
	for group := range slices.Chunk(series, every) {
		one := result.Interval{EndMicros: group[len(group)-1].EndMicros}
		for _, i := range group {
			one.Rows += i.Rows
			one.Transactions += i.Transactions
			one.Queries += i.Queries
			one.MaxMicros = max(one.MaxMicros, i.MaxMicros)
		}
		short = append(short, one)
	}
	return short
}

func (p *pointDetails) addMilestones(list []result.Milestone) {
	every := max(1, (len(list)+maxMilestones-1)/maxMilestones)
	for i, m := range list {
		if i%every != every-1 && i != len(list)-1 {
			continue
		}
		have, known := p.rates[m.Rows]
		if (known || len(p.rates) <= maxMilestones) && len(have) < maxTrials {
			p.rates[m.Rows] = append(have, m.RowsPerSecond)
		}
	}
}
