// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
)

// RequestedTable is a table that a file asks for, with what was measured.
type RequestedTable struct {
	Name, Title string
	// Rows of texts: medians, and published figures beside them. The first row has the names of the columns, of which the first
	// Labels say what the others are of.
	Rows   [][]string
	Labels int
	// CSV has a row for each trial, and a column for each metric. With variants it also has the settings of each variant's server
	// in which any of them differ.
	CSV []byte
	// Missing are the metrics that were not measured; the table has no place for them.
	Missing []string
}

// Remark says what the table lacks; empty if it lacks nothing.
func (t *RequestedTable) Remark() string {
	if len(t.Missing) == 0 {
		return ""
	}
	return fmt.Sprintf("The table %s is incomplete; these were not measured: %s.", t.Name, strings.Join(t.Missing, ", "))
}

// RequestedTables are the tables besides those that every run has, with variants over the rounds that are whole.
func (r *Report) RequestedTables() (list []RequestedTable) {
	trials := r.measuredTrials()
	for i := range r.Requested.Tables {
		list = append(list, *newTable(&r.Requested.Tables[i], trials))
	}
	return list
}

// tabled is a point of a table with its trials.
type tabled struct {
	claims.Series
	trials []measuredTrial
}

// values of a metric in the trials of the point.
func (p *tabled) values(metric string) []float64 { return p.in(metric).Values }

// in a metric is the point with its values; an empty name is that of the headline metric.
func (p *tabled) in(metric string) claims.Series {
	series := p.Series
	for _, t := range p.trials {
		if m, found := t.of(metric); found {
			series.Metric, series.Values = m, append(series.Values, m.Value)
		}
	}
	return series
}

// tabledAmong are the points that a selector names, in the order of their trials.
func tabledAmong(among claims.Selector, trials []measuredTrial) []tabled {
	var points []tabled
	at := map[string]int{}
	for _, trial := range trials {
		if !among.Names(&trial.Series) {
			continue
		}
		key := trial.Variant + "\x00" + stats.Label(trial.Parameters)
		if _, known := at[key]; !known {
			at[key] = len(points)
			points = append(points, tabled{Series: trial.Series})
		}
		points[at[key]].trials = append(points[at[key]].trials, trial)
	}
	return points
}

func newTable(of *presentation.Table, trials []measuredTrial) *RequestedTable {
	t := &RequestedTable{Name: of.Name, Title: cmp.Or(of.Title, of.Name)}
	points := tabledAmong(of.Among, trials)
	var metrics []string
	for _, name := range of.Metrics {
		if slices.ContainsFunc(points, func(p tabled) bool { return len(p.values(name)) > 0 }) {
			metrics = append(metrics, name)
		} else {
			t.Missing = append(t.Missing, name)
		}
	}
	if len(metrics) == 0 {
		return t
	}
	if len(metrics) > len(points) {
		t.Rows, t.Labels = byMetric(of, metrics, points), 1
	} else {
		t.Rows, t.Labels = byPoint(of, metrics, points), len(labelsOf(points))
	}
	t.CSV = tableCSV(metrics, points)
	return t
}

// variantLabel is the column of the variants' names.
const variantLabel = "variant"

// labelsOf points are what they differ in: the variant and swept parameters. One point has all.
func labelsOf(points []tabled) []string {
	valuesOf := map[string][]string{}
	for i := range points {
		for name, value := range labelsIn(&points[i].Series) {
			if !slices.Contains(valuesOf[name], value) {
				valuesOf[name] = append(valuesOf[name], value)
			}
		}
	}
	var names []string
	for name, values := range valuesOf {
		if name != variantLabel && (len(values) > 1 || len(points) == 1) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if variants := valuesOf[variantLabel]; len(variants) > 1 || len(variants) == 1 && len(points) == 1 {
		names = append([]string{variantLabel}, names...)
	}
	return names
}

// labelsIn a point are its values by their names.
func labelsIn(at *claims.Series) map[string]string {
	all := map[string]string{}
	maps.Copy(all, at.Parameters)
	if at.Variant != "" {
		all[variantLabel] = at.Variant
	}
	return all
}

const publishedHead = "published"

// byPoint has a row for each point.
func byPoint(of *presentation.Table, metrics []string, points []tabled) [][]string {
	labels := labelsOf(points)
	rows := [][]string{slices.Clone(labels)}
	for i := range points {
		var cells []string
		for _, name := range labels {
			cells = append(cells, labelsIn(&points[i].Series)[name])
		}
		rows = append(rows, cells)
	}
	for _, metric := range metrics {
		column, published := []string{metric}, []string{publishedHead}
		for i := range points {
			column = append(column, median(points[i].values(metric)))
			published = append(published, publishedCell(of, metric, &points[i]))
		}
		rows = withColumns(rows, column, published)
	}
	return rows
}

// byMetric has a row for each metric.
func byMetric(of *presentation.Table, metrics []string, points []tabled) [][]string {
	rows := [][]string{{"metric"}}
	for _, metric := range metrics {
		rows = append(rows, []string{metric})
	}
	labels := labelsOf(points)
	for i := range points {
		var name []string
		for _, label := range labels {
			name = append(name, labelsIn(&points[i].Series)[label])
		}
		column, published := []string{cmp.Or(strings.Join(name, ", "), "measured")}, []string{publishedHead}
		for _, metric := range metrics {
			column = append(column, median(points[i].values(metric)))
			published = append(published, publishedCell(of, metric, &points[i]))
		}
		rows = withColumns(rows, column, published)
	}
	return rows
}

// withColumns adds a column of what was measured, and one of published figures if there are any.
func withColumns(rows [][]string, measured, published []string) [][]string {
	some := slices.ContainsFunc(published[1:], func(cell string) bool { return cell != "" })
	for i := range rows {
		rows[i] = append(rows[i], measured[i])
		if some {
			rows[i] = append(rows[i], published[i])
		}
	}
	return rows
}

func publishedCell(of *presentation.Table, metric string, p *tabled) string {
	value, found := of.PublishedAt(metric, &p.Series)
	if !found {
		return ""
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// tableCSV has a row for each trial.
func tableCSV(metrics []string, points []tabled) []byte {
	labels := labelsOf(points)
	var settings []string
	if slices.Contains(labels, variantLabel) {
		settings = slices.Sorted(maps.Keys(points[0].trials[0].settings))
	}
	rows := [][]string{slices.Concat(labels, settings, []string{"round"}, metrics)}
	for i := range points {
		p := &points[i]
		for _, trial := range p.trials {
			var cells []string
			for _, name := range labels {
				cells = append(cells, labelsIn(&p.Series)[name])
			}
			for _, name := range settings {
				cells = append(cells, trial.settings[name])
			}
			cells = append(cells, strconv.Itoa(trial.round))
			for _, metric := range metrics {
				cell := ""
				if m, found := trial.of(metric); found {
					cell = strconv.FormatFloat(m.Value, 'f', -1, 64)
				}
				cells = append(cells, cell)
			}
			rows = append(rows, cells)
		}
	}
	var b bytes.Buffer
	_ = writeCSV(&b, rows) // a buffer takes everything
	return b.Bytes()
}
