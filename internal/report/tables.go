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

// RequestedTable is a table that a file asks for, with medians of what was measured, and published figures beside them.
type RequestedTable struct {
	Table
	// File is the name of its file, without the ending.
	File string
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
	return fmt.Sprintf("The table %s is incomplete; these were not measured: %s.", t.File, strings.Join(t.Missing, ", "))
}

// RequestedTables are the tables besides those that every run has, with variants over the rounds that are whole.
func (r *Report) RequestedTables() (list []RequestedTable) {
	trials := r.measuredTrials()
	for i := range r.Requested.Tables {
		list = append(list, *requested(&r.Requested.Tables[i], trials))
	}
	return list
}

// tabled is a point of a table with its trials.
type tabled struct {
	stats.Point // without what was measured
	trials      []measuredTrial
}

// values of a metric in the trials of the point.
func (p *tabled) values(metric string) []float64 { return p.in(metric).Values }

// in a metric is the point with its values; an empty name is that of the headline metric.
func (p *tabled) in(metric string) stats.Point {
	in := p.Point
	for _, t := range p.trials {
		if m, found := t.of(metric); found {
			in.Metric, in.Values = m, append(in.Values, m.Value)
		}
	}
	in.Metric.Value = 0
	return in
}

// tabledAmong are the points that a selector names, in the order of their trials.
func tabledAmong(among claims.Selector, trials []measuredTrial) []tabled {
	var points []tabled
	at := map[string]int{}
	for _, trial := range trials {
		if !among.Names(&trial.Point) {
			continue
		}
		key := trial.Variant + "\x00" + stats.Label(trial.Parameters)
		if _, known := at[key]; !known {
			at[key] = len(points)
			points = append(points, tabled{Point: trial.Point})
		}
		points[at[key]].trials = append(points[at[key]].trials, trial)
	}
	return points
}

func requested(of *presentation.Table, trials []measuredTrial) *RequestedTable {
	t := &RequestedTable{File: of.Name}
	points := tabledAmong(of.Among, trials)
	var metrics []string
	for _, name := range of.Metrics {
		if slices.ContainsFunc(points, func(p tabled) bool { return len(p.values(name)) > 0 }) {
			metrics = append(metrics, name)
		} else {
			t.Missing = append(t.Missing, name)
		}
	}
	title := cmp.Or(of.Title, of.Name)
	if len(metrics) == 0 {
		t.Name = title
		return t
	}
	labels := labelsOf(points)
	if len(metrics) > len(points) {
		t.Table = *tableOf(title, len(metrics))
		t.addText("metric", func(i int) string { return metrics[i] })
		for n := range points {
			var name []string
			for _, label := range labels {
				name = append(name, labelsIn(&points[n].Point)[label])
			}
			head := cmp.Or(strings.Join(name, ", "), "measured")
			t.addMeasured(of, head, func(i int) (string, *tabled) { return metrics[i], &points[n] })
		}
	} else {
		t.Table = *tableOf(title, len(points))
		for _, label := range labels {
			t.add(Column{Text: label}, func(i int) Cell { return Setting(labelsIn(&points[i].Point)[label]) })
		}
		for _, metric := range metrics {
			t.addMeasured(of, metric, func(i int) (string, *tabled) { return metric, &points[i] })
		}
	}
	t.CSV = tableCSV(labels, metrics, points)
	return t
}

// PublishedHead is the column of published figures.
const PublishedHead = "published"

// addMeasured adds a column of medians, and one of published figures if there are any: of a metric at a point in each row.
func (t *RequestedTable) addMeasured(of *presentation.Table, name string, row func(int) (metric string, point *tabled)) {
	number := func(text string) Cell {
		c := Setting(text)
		c.Number = true
		return c
	}
	t.add(inUnit("", name), func(i int) Cell {
		metric, p := row(i)
		return number(MedianCell(p.values(metric)).Plain)
	})
	some := false
	published := make([]Cell, len(t.Rows))
	for i := range published {
		metric, p := row(i)
		published[i] = number("")
		if value, found := of.PublishedAt(metric, &p.Point); found {
			published[i], some = number(decimal(value)), true
		}
	}
	if some {
		t.add(inUnit("", PublishedHead), func(i int) Cell { return published[i] })
	}
}

// variantLabel is the column of the variants' names.
const variantLabel = "variant"

// labelsOf points are what they differ in: the variant and swept parameters. One point has all.
func labelsOf(points []tabled) []string {
	valuesOf := map[string][]string{}
	for i := range points {
		for name, value := range labelsIn(&points[i].Point) {
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
func labelsIn(at *stats.Point) map[string]string {
	all := map[string]string{}
	maps.Copy(all, at.Parameters)
	if at.Variant != "" {
		all[variantLabel] = at.Variant
	}
	return all
}

// tableCSV has a row for each trial.
func tableCSV(labels, metrics []string, points []tabled) []byte {
	var trials []measuredTrial
	for i := range points {
		trials = append(trials, points[i].trials...)
	}
	t := tableOf("", len(trials))
	for _, name := range labels {
		t.addText(name, func(i int) string { return labelsIn(&trials[i].Point)[name] })
	}
	if slices.Contains(labels, variantLabel) {
		for _, name := range slices.Sorted(maps.Keys(trials[0].settings)) {
			t.addText(name, func(i int) string { return trials[i].settings[name] })
		}
	}
	t.addText("round", func(i int) string { return strconv.Itoa(trials[i].round) })
	for _, metric := range metrics {
		t.addText(metric, func(i int) string {
			if m, found := trials[i].of(metric); found {
				return decimal(m.Value)
			}
			return ""
		})
	}
	var b bytes.Buffer
	_ = writeCSV(&b, t.Texts()) // a buffer takes everything
	return b.Bytes()
}
