// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Requested are plots and tables that a report has besides its own, for example those of a publication.
type Requested struct {
	Plots  []PlotRequest  `json:"plots,omitempty"`
	Tables []TableRequest `json:"tables,omitempty"`
}

// ReadRequested reads a file of plots and tables. The error names the file and the field.
func ReadRequested(file string, text []byte) (*Requested, error) {
	q := new(Requested)
	err := yaml.UnmarshalStrict(text, q)
	if err == nil {
		err = q.validate()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return q, nil
}

// Bounds of a file, and of the names and titles in it.
const maxPlots, maxTables, maxMetrics, maxFigures, maxFileName, maxTitle = 16, 8, 16, 64, 80, 128

var (
	fileNames    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._=+-]*[A-Za-z0-9])?$`)
	windowsNames = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])([.].*)?$`)
)

func (q *Requested) validate() error {
	if len(q.Plots) > maxPlots || len(q.Tables) > maxTables {
		return fmt.Errorf("%d plots and %d tables: at most %d and %d are allowed", len(q.Plots), len(q.Tables), maxPlots, maxTables)
	}
	names := map[string]bool{}
	for i := range q.Plots {
		c := &q.Plots[i]
		err := validateName(c.Name, c.Title, names)
		if err == nil && (c.Against == "" || c.Against == c.Lines) {
			err = errors.New("against: name a swept parameter, another one than that of lines")
		}
		if err != nil {
			return fmt.Errorf("plots[%d]: %w", i, err)
		}
	}
	clear(names)
	for i := range q.Tables {
		if err := validateTable(&q.Tables[i], names); err != nil {
			return fmt.Errorf("tables[%d]: %w", i, err)
		}
	}
	return nil
}

// validateName says what is wrong with the name of a plot or table, or its title. Names has those before it, in lower case.
func validateName(name, title string, names map[string]bool) error {
	switch {
	case len(name) > maxFileName || !fileNames.MatchString(name):
		return fmt.Errorf("name %q: use up to %d letters, digits and . _ = + -, at both ends a letter or digit", name, maxFileName)
	case windowsNames.MatchString(name):
		return fmt.Errorf("name %q: Windows takes no file of that name: choose another one", name)
	case names[strings.ToLower(name)]:
		return fmt.Errorf("name %q: names must differ in more than upper and lower case: they are names of files", name)
	case len(title) > maxTitle:
		return fmt.Errorf("title: at most %d characters are allowed", maxTitle)
	}
	names[strings.ToLower(name)] = true
	return nil
}

func validateTable(t *TableRequest, names map[string]bool) error {
	if err := validateName(t.Name, t.Title, names); err != nil {
		return err
	}
	different := slices.Compact(slices.Sorted(slices.Values(t.Metrics)))
	if n := len(t.Metrics); n == 0 || n > maxMetrics || n > len(different) || different[0] == "" {
		return fmt.Errorf("metrics: name 1 to %d, each once", maxMetrics)
	}
	if len(t.Published) > maxFigures {
		return fmt.Errorf("published: at most %d figures are allowed", maxFigures)
	}
	for i := range t.Published {
		if value, err := t.Published[i].Value.Float64(); err != nil || value <= 0 {
			return fmt.Errorf("published[%d].value: write a number above 0", i)
		}
	}
	return nil
}

// Request has the report show plots and tables, unless they are of points that it does not have.
func (r *Report) Request(q *Requested) error {
	r.Requested = *q
	var problems []error
	for _, c := range q.Plots {
		if err := c.check(r.Points); err != nil {
			problems = append(problems, fmt.Errorf("plot %s: %w", c.Name, err))
		}
	}
	for _, t := range q.Tables {
		if err := t.check(r.Points); err != nil {
			problems = append(problems, fmt.Errorf("table %s: %w", t.Name, err))
		}
	}
	return errors.Join(problems...)
}

// Series are the points that a selector names with their values of a metric, those of each variant in turn over the rounds that
// are whole; an empty name is that of the headline metric.
func (r *Report) Series(among claims.Selector, metric string) []stats.Point {
	var list []stats.Point
	for _, p := range r.among(among) {
		if in := p.In(metric); len(in.Values) > 0 {
			in.Summary = stats.Summarize(in.Values)
			list = append(list, in)
		}
	}
	return list
}

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

func (r *Report) requested(of *TableRequest) *RequestedTable {
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
func (t *RequestedTable) addMeasured(of *TableRequest, name string, row func(int) (metric string, point *stats.Point)) {
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
		t.addText(metric, func(i int) string { return measured(trials[i], metric) })
	}
	var b bytes.Buffer
	_ = t.writeCSV(&b) // a buffer takes everything
	return b.Bytes()
}
