// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page writes the report of a run as one HTML file. It needs nothing but itself: no network and, but for
// the sorting of tables, no script. It is read on a screen, on a phone and on paper.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
)

// File is the name of the page among the results.
const File = "report.html"

// The parts of the page that do not depend on what was measured.
var (
	//go:embed assets/*.html
	assets embed.FS
	//go:embed assets/style.css
	style string
	//go:embed assets/sort.js
	script string

	templates = template.Must(template.New("").Funcs(template.FuncMap{
		"inc": func(i int) int { return i + 1 }, "verdict": stats.Words[claims.Verdict], "published": publishedText,
		"shared": func() string { return report.Shared },
	}).ParseFS(assets, "assets/*.html"))
)

// view is what the templates show: run.html of a run without variants, variants.html of one with variants.
type view struct {
	Report *report.Report
	*drawings
	// Failed says why there is no whole result, or is empty.
	Failed string
	// About is what was measured and on what, in a line; with variants, Stopped is why there were no more rounds.
	About, Stopped string
	// Warnings are about the whole.
	Warnings []string
	// Tables are those that a file asks for, TableRemarks say what they lack.
	Tables       []*report.Table
	TableRemarks []string
	// Best is the best point of a run without variants; nil if nothing was measured.
	Best   *stats.Lead
	Points *report.Table
	// Remarks are what must be read with rows of the table, by the numbers that these have.
	Notes, Remarks []string
	// Matrix has the ratios of several variants at several points.
	Matrix *report.Table
	// Environment of the report, with the variables that changed.
	Environment *report.Table
	// Spec is the resource as it can be created again; Command creates it.
	Spec, Command string
	Downloads     []download
}

// Write writes the page of a report. Without details, or with empty ones, it lacks the plots that are made of them.
func Write(w io.Writer, r *report.Report, d *Details) error {
	v := &view{Report: r, drawings: draw(r, d), Environment: r.Environment()}
	name := "run.html"
	if r.HasVariants() {
		name = "variants.html"
		v.addVariants(r)
	} else {
		v.addPoints(r)
	}
	v.addTables(r.RequestedTables())
	if d != nil && v.Environment != nil {
		for _, text := range d.changed {
			v.Environment.Rows = append(v.Environment.Rows, report.Row{
				Class: "differs", Cells: []report.Cell{report.Words("server variables that changed"), report.Words(text)},
			})
		}
	}
	if err := v.addDownloads(r); err != nil {
		return err
	}
	if err := v.reproduced(r); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, v); err != nil { // nothing reaches w if that fails
		return fmt.Errorf("filling %s: %w", name, err)
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// maxAttempts is how many records a page has as JSON: each takes some kilobytes.
const maxAttempts = 1000

func (v *view) addDownloads(r *report.Report) error {
	rows, everything := "a row per trial", "the specification and the record of every attempt"
	if r.HasVariants() {
		rows, everything = "a row per variant of a trial", "the answer, the pairs, the specification and the record of every attempt"
	}
	elsewhere := fmt.Sprintf("the ConfigMap %s-results has it", r.Name)
	for _, file := range []struct {
		name, media, about string
		print              func(io.Writer, *report.Report) error
	}{{report.CSVFile, "text/csv", rows, report.CSV}, {report.JSONFile, "application/json", everything, report.JSON}} {
		if file.name == report.JSONFile && len(r.Records) > maxAttempts {
			v.Downloads = append(v.Downloads, download{
				Name: file.name, Size: fmt.Sprintf("%d attempts", len(r.Records)),
				About: file.about + "; it is too large for this page: " + elsewhere,
			})
			continue
		}
		var b bytes.Buffer
		if err := file.print(&b, r); err != nil {
			return err
		}
		d, err := packed(file.name, file.media, file.about, elsewhere, b.Bytes())
		if err != nil {
			return err
		}
		v.Downloads = append(v.Downloads, d)
	}
	return nil
}

func (view) Style() template.CSS { return template.CSS(style) } //nolint:gosec // it is embedded

// Script sorts tables.
func (view) Script() template.JS { return template.JS(script) } //nolint:gosec // it is embedded

// Policy keeps the page from loading anything, and from running any script but its own.
func (view) Policy() string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
