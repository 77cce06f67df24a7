// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report/presentation"
)

// Requested are plots and tables that a report has besides its own, for example those of a publication.
type Requested struct {
	Plots  []presentation.Curve `json:"plots,omitempty"`
	Tables []presentation.Table `json:"tables,omitempty"`
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

func validateTable(t *presentation.Table, names map[string]bool) error {
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
	for i := range q.Plots {
		problems = append(problems, q.Plots[i].Check(r.Points))
	}
	for i := range q.Tables {
		problems = append(problems, q.Tables[i].Check(r.Points))
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
