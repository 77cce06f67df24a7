// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/benchrun-dev/benchrun/internal/report"
)

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
	// Requested are the plots that the specification asks for, PlotRemarks say which of them are left out.
	Requested   []figure
	PlotRemarks []string
	// Tables are those that the specification asks for, TableRemarks say what they lack.
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
