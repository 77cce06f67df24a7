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

	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report/presentation"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// RequestedTable is a table that a file asks for, with medians of what was measured, and published figures beside them.
type RequestedTable struct {
	Table
	// File is the name of its file, without the ending.
	File string
	// CSV has a row for each trial, a column for each metric and, with variants, one for each setting in which their servers differ.
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
	for i := range r.Requested.Tables {
		list = append(list, *r.requested(&r.Requested.Tables[i]))
	}
	return list
}

// among are the points that a selector names, and at which something was measured that counts.
func (r *Report) among(those claims.Selector) []stats.Point {
	return slices.DeleteFunc(r.counted(), func(p stats.Point) bool { return len(p.Records) == 0 || !those.Names(&p) })
}

func (r *Report) requested(of *presentation.Table) *RequestedTable {
	t := &RequestedTable{File: of.Name}
	points := r.among(of.Among)
	var metrics []string
	for _, name := range of.Metrics {
		if slices.ContainsFunc(points, func(p stats.Point) bool { return len(p.In(name).Values) > 0 }) {
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
				name = append(name, labelsIn(&points[n])[label])
			}
			head := cmp.Or(strings.Join(name, ", "), "measured")
			t.addMeasured(of, head, func(i int) (string, *stats.Point) { return metrics[i], &points[n] })
		}
	} else {
		t.Table = *tableOf(title, len(points))
		for _, label := range labels {
			t.add(Column{Text: label}, func(i int) Cell { return Setting(labelsIn(&points[i])[label]) })
		}
		for _, metric := range metrics {
			t.addMeasured(of, metric, func(i int) (string, *stats.Point) { return metric, &points[i] })
		}
	}
	t.CSV = r.tableCSV(labels, metrics, points)
	return t
}

// PublishedHead is the column of published figures.
const PublishedHead = "published"

// addMeasured adds a column of medians, and one of published figures if there are any: of a metric at a point in each row.
func (t *RequestedTable) addMeasured(of *presentation.Table, name string, row func(int) (metric string, point *stats.Point)) {
	t.add(inUnit("", name), func(i int) Cell {
		metric, p := row(i)
		c := Setting(MedianCell(p.In(metric).Values).Plain)
		c.Number = true // also where there is none
		return c
	})
	some := false
	published := make([]Cell, len(t.Rows))
	for i := range published {
		metric, p := row(i)
		published[i] = None()
		if value, found := of.PublishedAt(metric, p); found {
			published[i], some = Setting(decimal(value)), true
		}
	}
	if some {
		t.add(inUnit("", PublishedHead), func(i int) Cell { return published[i] })
	}
}

// variantLabel is the column of the variants' names.
const variantLabel = "variant"

// labelsOf points are what they differ in: the variant and swept parameters. One point has all.
func labelsOf(points []stats.Point) []string {
	var all []map[string]string
	for i := range points {
		all = append(all, labelsIn(&points[i]))
	}
	names := slices.DeleteFunc(stats.NamesOf(all), func(name string) bool {
		return len(points) > 1 && len(stats.ValuesOf(name, all)) == 1
	})
	if i := slices.Index(names, variantLabel); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, variantLabel) // it comes first
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

func (r *Report) tableCSV(labels, metrics []string, points []stats.Point) []byte {
	var at []*stats.Point // of each trial
	var rounds []int
	var trials []*result.Record
	for i := range points {
		for n, record := range points[i].Records {
			at, rounds, trials = append(at, &points[i]), append(rounds, points[i].Round(n)), append(trials, record)
		}
	}
	t := tableOf("", len(trials))
	for _, name := range labels {
		t.addText(name, func(i int) string { return labelsIn(at[i])[name] })
	}
	if slices.Contains(labels, variantLabel) {
		for _, name := range slices.Sorted(maps.Keys(r.settings(""))) {
			t.addText(name, func(i int) string { return r.settings(at[i].Variant)[name] })
		}
	}
	t.addText("round", func(i int) string { return strconv.Itoa(rounds[i]) })
	for _, metric := range metrics {
		t.addText(metric, func(i int) string {
			if m, found := trials[i].Summary.Metric(metric); found {
				return decimal(m.Value)
			}
			return ""
		})
	}
	var b bytes.Buffer
	_ = t.writeCSV(&b) // a buffer takes everything
	return b.Bytes()
}
