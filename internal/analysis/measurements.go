// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Measurements are the values of a run's headline metric, in the order of the points of its plan. A point without a value has
// NaN.
type Measurements struct {
	Metric result.Metric
	Values []float64
	// RateMissed are the points, stages of trials, that did not reach the rate that was offered beside what is compared; nil if
	// there are none.
	RateMissed map[int]bool
	// Served is the newest database instance that was measured, and Servers are the UIDs of the Pods that served what counts.
	Served  plan.Served
	Servers []string
	// Others are the metrics besides it that are looked at: those that claims are about and, if there are few enough points to
	// show them, costs of a unit of work.
	Others []MetricValues
	// Rows that the run's pilots have decided, by the label of the point.
	Rows map[string]int64
	// Warnings of the points, each once.
	Warnings []stats.PointFinding
}

// MetricValues are the values of a metric by the points of the plan. Value in the metric is unused.
type MetricValues struct {
	Metric result.Metric
	Values []float64
}

// MeasurementsOf a run with the points of that plan, from the records of its attempts, with the metrics that the comparison names
// besides the headline metric. The order of the trials is the run's own: it is drawn from the seed of the round.
func MeasurementsOf(p *plan.Plan, records []*result.Record, named []string) *Measurements {
	m := &Measurements{
		Values: notMeasured(len(p.Points)), Rows: decidedRows(records), Served: LastServed(records, plan.Served{}),
	}
	for _, r := range records {
		if server := r.Place.DatabasePodUID; r.Outcome == result.OutcomeAccepted && !slices.Contains(m.Servers, server) {
			m.Servers = append(m.Servers, server)
		}
	}
	points := map[string]int{}
	for i, point := range p.Points {
		points[stats.Label(point.Parameters)] = i
	}
	accepted := byTrial(records)
	byPoint := make([][]*result.Record, len(p.Points))
	for i := range p.Trials {
		for _, r := range measuredIn(p, &p.Trials[i], accepted) {
			if point, known := points[stats.Label(r.Parameters)]; known && len(r.Summary.Metrics) > 0 {
				byPoint[point] = append(byPoint[point], r)
			}
		}
	}
	for point, trials := range byPoint {
		if len(trials) > 0 {
			m.read(point, trials, named)
		}
		if slices.ContainsFunc(trials, MissedRate) {
			m.RateMissed = mark(m.RateMissed, point)
		}
	}
	m.Metric.Value = 0
	m.warn(byPoint)
	return m
}

// maxPointsWithCosts is the largest number of points of which costs are kept: what a status shows.
const maxPointsWithCosts = 64

// Bounds of the warnings that are kept of a run: as many as a status can show of each, and not much longer.
const maxRunWarnings, maxRunWarningBytes, maxRunMeasures = 64, 512, 16

// warn keeps the warnings of the points, given by their records. A comparison has them of all of its runs in memory.
func (m *Measurements) warn(byPoint [][]*result.Record) {
	var all []stats.PointFinding
	for _, records := range byPoint {
		all = append(all, stats.Looks{}.Summarized(nil, records).Warnings...)
	}
	merged := stats.MergePointFindings(all)
	for _, w := range merged[:min(len(merged), maxRunWarnings)] {
		w.Finding = w.Condensed(maxRunWarningBytes, maxRunMeasures)
		m.Warnings = append(m.Warnings, w.PointFinding)
	}
}

// read what was measured at a point: the headline metric, those that are named and, if there are few points, costs.
// Several trials are those of one round on one server: their mean is one value.
func (m *Measurements) read(point int, trials []*result.Record, named []string) {
	summary := trials[0].Summary
	m.Metric, m.Values[point] = summary.Metrics[0], meanOf(trials, summary.Metrics[0].Name)
	for _, other := range summary.Metrics[1:] {
		if slices.Contains(named, other.Name) || len(m.Values) <= maxPointsWithCosts && isCost(other) {
			m.add(point, other, trials)
		}
	}
	for _, name := range named { // what follows from the totals is none of the metrics above
		if other, found := summary.Metric(name); found && name != m.Metric.Name {
			m.add(point, other, trials)
		}
	}
}

// MissedRate says whether a stage did not reach its offered rate. Without stages, the rate is what is measured.
func MissedRate(r *result.Record) bool {
	return r.Summary.Stage != "" && slices.ContainsFunc(r.Summary.Findings, func(f finding.Finding) bool {
		return f.Code == finding.RateNotReached
	})
}

// mark a point in a set that may be nil.
func mark(set map[int]bool, point int) map[int]bool {
	if set == nil {
		set = map[int]bool{}
	}
	set[point] = true
	return set
}

// meanOf a metric over trials.
func meanOf(trials []*result.Record, name string) float64 {
	var values []float64
	for _, t := range trials {
		if metric, found := t.Summary.Metric(name); found {
			values = append(values, metric.Value)
		}
	}
	return stats.MeanOfTrials(values)
}

// add keeps a metric's value at a point.
func (m *Measurements) add(point int, metric result.Metric, trials []*result.Record) {
	i := m.index(metric.Name)
	if i < 0 {
		i = len(m.Others)
		m.Others = append(m.Others, MetricValues{Metric: metric, Values: notMeasured(len(m.Values))})
		m.Others[i].Metric.Value = 0
	}
	m.Others[i].Values[point] = meanOf(trials, metric.Name)
}

// index of a metric among the others, or -1.
func (m *Measurements) index(name string) int {
	return slices.IndexFunc(m.Others, func(o MetricValues) bool { return o.Metric.Name == name })
}

// Of a metric: its values by point, or nil if nothing was measured of it; an empty name is that of the headline metric.
func (m *Measurements) Of(name string) (result.Metric, []float64) {
	if name == "" || name == m.Metric.Name {
		return m.Metric, m.Values
	}
	if i := m.index(name); i >= 0 {
		return m.Others[i].Metric, m.Others[i].Values
	}
	return result.Metric{}, nil
}

// at is the value of a metric at a point, or not a number.
func (m *Measurements) at(name string, point int) float64 {
	if _, values := m.Of(name); values != nil {
		return values[point]
	}
	return math.NaN()
}

// notMeasured are values of so many points that nothing is known of.
func notMeasured(points int) []float64 {
	list := make([]float64, points)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}

// LastServed is the newest instance that served the attempts of these records, or those before them.
func LastServed(records []*result.Record, before plan.Served) plan.Served {
	last := before
	for _, r := range records {
		if r.Instance >= last.Number {
			last = plan.Served{Number: r.Instance, PodUID: r.Place.DatabasePodUID}
		}
	}
	return last
}

// decidedRows are those of a run's pilots, by the label of their point.
func decidedRows(records []*result.Record) map[string]int64 {
	var rows map[string]int64
	for _, r := range records {
		if r.Outcome == result.OutcomePilot {
			rows = addRows(rows, stats.Label(r.Parameters), r.Rows)
		}
	}
	return rows
}

// addRows adds a decision about a point, unless there is one.
func addRows(all map[string]int64, label string, rows int64) map[string]int64 {
	if all == nil {
		all = map[string]int64{}
	}
	if all[label] == 0 {
		all[label] = rows
	}
	return all
}

// isCost says whether a metric says what a unit of work takes, for example fsyncs per transaction. Its unit has a divisor, which
// is not the second: a rate per second says nothing that the headline does not.
func isCost(m result.Metric) bool {
	_, per, found := strings.Cut(m.Unit, "/")
	return found && per != "s"
}

// costs of a pair: the medians over the rounds, of what was measured for both.
func costs(p *ComparisonPlan, runs *ComparisonRuns, rounds int, pair PlannedPair) []stats.Cost {
	values := func(variant, point int, name string) (list []float64) {
		for i, m := range p.Members[:rounds*len(p.Variants)] {
			if v := runs.Members[i].Measured.at(name, point); m.Variant == variant && !math.IsNaN(v) {
				list = append(list, v)
			}
		}
		return list
	}
	var list []stats.Cost
	first := slices.IndexFunc(p.Members, func(m plan.Member) bool { return m.Variant == pair.Variant })
	for _, c := range runs.Members[first].Measured.Others {
		ours, theirs := values(pair.Variant, pair.Of, c.Metric.Name), values(p.Baseline, pair.With, c.Metric.Name)
		if isCost(c.Metric) && len(ours) > 0 && len(theirs) > 0 {
			list = append(list, stats.Cost{
				Name: c.Metric.Name, Unit: c.Metric.Unit, Baseline: stats.Summarize(theirs).Median, Variant: stats.Summarize(ours).Median,
			})
		}
	}
	return list
}
