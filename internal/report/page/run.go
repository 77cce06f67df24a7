// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// runView is what the template of a run's page shows.
type runView struct {
	frame
	// Best is the best point; nil if nothing was measured.
	Best *stats.Lead
	// Curves come before the table, Figures after it.
	Curves, Figures []figure
	Points          *table
	// Reading says how the table is to be read, Remarks what must be read with rows of it, by the numbers that these have.
	Reading, Remarks []string
	// Milestones and Parts are tables of plots.
	Milestones, Parts *table
	Pilots            []string
}

func newRunView(r *report.Report, d *Details) (*runView, error) {
	v := &runView{frame: frame{
		Name: r.Run.Name, Heading: r.Run.Heading(), Kind: "BenchmarkRun", Namespace: r.Run.Namespace, Claims: judged(r.Claims),
		Warnings: r.Warnings(), Discarded: discardedAttempts(r),
	}}
	if r.Run.Outcome == "Failed" {
		v.Failed = cmp.Or(r.Run.Message, "no reason was recorded")
	}
	var place string
	v.Environment, place = environment(r, d)
	v.About = aboutRun(r, place)
	v.Settings = settings(settingsOf(r, d))
	v.Pilots = r.Pilots()
	v.Best = stats.LeadOf(r.Points, plot.Number)
	if points := r.Measured(); len(points) > 0 {
		v.addTable(r, points)
		v.Milestones, v.Parts = milestonesTable(points, d), partsTable(r.Parameters(), points)
	}
	if err := v.addPlots(r, d); err != nil {
		return nil, err
	}
	v.addTables(r.RequestedTables())
	if err := v.addDownloads(r); err != nil {
		return nil, err
	}
	return v, v.reproduced("BenchmarkRun", r.Run.Name, r.Run.Spec)
}

// aboutRun is a line about what was measured, and on what.
func aboutRun(r *report.Report, place string) string {
	text := fmt.Sprintf("%s, %d of %d trials", r.Run.Workload, len(r.Accepted()), r.Run.Planned)
	if n := len(r.Points); n > 1 {
		text += fmt.Sprintf(" at %d points", n)
	}
	text += fmt.Sprintf(", seed %d", r.Run.Seed)
	if !r.Run.Started.IsZero() {
		text += ", started " + r.Run.Started.UTC().Format("2 January 2006 15:04 UTC")
	}
	if place != "" {
		text += ". " + place
	}
	return text + "."
}

// settingsOf the first document or, without documents, those that a server has adjusted.
func settingsOf(r *report.Report, d *Details) []result.AppliedSetting {
	if d != nil && len(d.settings) > 0 {
		return d.settings
	}
	if accepted := r.Accepted(); len(accepted) > 0 {
		return accepted[0].Summary.Adjusted
	}
	return nil
}

// discardedAttempts is nil if there are none.
func discardedAttempts(r *report.Report) *table {
	disturbed := r.Disturbed()
	if len(disturbed) == 0 {
		return nil
	}
	t := &table{
		Name: "Discarded attempts",
		Head: slices.Concat(numbers("trial", "attempt"), texts("point", "outcome", "cause", "what happened")),
	}
	for _, a := range disturbed {
		t.Rows = append(t.Rows, row{Cells: []cell{
			count(a.Trial), count(a.Attempt), words(stats.Label(a.Parameters)), words(string(a.Outcome)), words(string(a.Cause)),
			words(a.Message),
		}})
	}
	return t
}

// maxAttempts is how many records a page has as JSON: each takes some kilobytes.
const maxAttempts = 1000

func (v *runView) addDownloads(r *report.Report) error {
	elsewhere := fmt.Sprintf("the ConfigMap %s-results has it", r.Run.Name)
	var csv, everything bytes.Buffer
	if err := report.CSV(&csv, r); err != nil {
		return err
	}
	d, err := packed(report.CSVFile, "text/csv", "a row per trial", elsewhere, csv.Bytes())
	if err != nil {
		return err
	}
	v.Downloads = append(v.Downloads, d)
	about := "the specification, the plan and the record of every attempt"
	if len(r.Records) > maxAttempts {
		v.Downloads = append(v.Downloads, download{
			Name: report.JSONFile, Size: fmt.Sprintf("%d attempts", len(r.Records)),
			About: about + "; it is too large for this page: " + elsewhere,
		})
		return nil
	}
	if err := report.JSON(&everything, r); err != nil {
		return err
	}
	d, err = packed(report.JSONFile, "application/json", about, elsewhere, everything.Bytes())
	v.Downloads = append(v.Downloads, d)
	return err
}

// File is the name of the page among the results.
const File = "report.html"

// assets are the parts of the page that do not depend on what was measured.
//
//go:embed assets
var assets embed.FS

var (
	templates = template.Must(template.New("").Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).
			ParseFS(assets, "assets/*.html"))
	style  = asset("style.css")
	script = asset("sort.js")
)

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// Run writes the page of a run. Without details, or with empty ones, it lacks the plots that are made of them.
func Run(w io.Writer, r *report.Report, d *Details) error {
	view, err := newRunView(r, d)
	if err != nil {
		return err
	}
	return write(w, "run.html", view)
}

// Comparison writes the page of a comparison. Without details, or with empty ones, it lacks the plots that are made of them.
func Comparison(w io.Writer, s *report.Comparison, d *ComparisonDetails) error {
	view, err := newComparisonView(s, d)
	if err != nil {
		return err
	}
	return write(w, "comparison.html", view)
}

// write fills a template. Nothing reaches w if that fails.
func write(w io.Writer, name string, view any) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, view); err != nil {
		return fmt.Errorf("filling %s: %w", name, err)
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// frame is what both pages have.
type frame struct {
	Name, Kind string
	// Heading of the page.
	Heading string
	// Namespace and Name are the resource's.
	Namespace string
	// Failed says why there is no whole result, or is empty.
	Failed string
	// About is what was measured and on what, in a line.
	About string
	// Warnings are about the whole.
	Warnings []string
	Claims   []claim
	// Requested are the plots that a file asks for, PlotRemarks say which of them are left out.
	Requested   []figure
	PlotRemarks []string
	// Tables are those that it asks for, TableRemarks say what they lack.
	Tables       []*table
	TableRemarks []string
	Discarded    *table
	Environment  *table
	Settings     *table
	// Spec is the resource as it can be created again; Command creates it.
	Spec, Command string
	Downloads     []download
}

// Style is the style sheet.
func (frame) Style() template.CSS { return template.CSS(style) } //nolint:gosec // it is embedded

// Script sorts tables.
func (frame) Script() template.JS { return template.JS(script) } //nolint:gosec // it is embedded

// Policy keeps the page from loading anything, and from running any script but its own.
func (frame) Policy() string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// figure is a plot with what is said about it.
type figure struct {
	Title, Text string
	SVG         template.HTML
}

// figures are those of drawings.
func figures(drawn []Drawing) ([]figure, error) {
	var list []figure
	for _, d := range drawn {
		var b bytes.Buffer
		if err := d.SVG(&b); err != nil {
			return nil, err
		}
		list = append(list, figure{d.Title, d.Text, template.HTML(b.String())}) //nolint:gosec // its texts are escaped
	}
	return list, nil
}
