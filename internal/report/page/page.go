// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page writes the report of a run as one HTML file. It needs nothing but itself: no network and, but for
// the sorting of tables, no script. It is read on a screen, on a phone and on paper.
package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/finding"
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
	if r.Outcome == "Failed" {
		v.Failed = cmp.Or(r.Message, "no reason was recorded")
	}
	name := "run.html"
	if r.HasVariants() {
		name = "variants.html"
		v.addVariants(r)
	} else {
		v.addPoints(r)
	}
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

// addPoints adds what the page shows of a run without variants.
func (v *view) addPoints(r *report.Report) {
	v.Warnings = r.Warnings()
	v.About = aboutRun(r)
	v.Best = stats.LeadOf(r.Answering(), stats.Number)
	if points := r.Measured(); len(points) > 0 {
		v.Points, v.Notes = r.PointsTable()
		if ranks := r.Ranks(); ranks != "" {
			v.Notes = append(v.Notes, ranks)
		}
		remarks := stats.WarningsAt(points)
		for i := range remarks {
			v.Remarks = append(v.Remarks, inWords(&remarks[i], len(points)))
		}
	}
}

func aboutRun(r *report.Report) string {
	text := fmt.Sprintf("%s, %d of %d trials", r.Workload, len(r.Accepted()), r.Planned)
	if n := len(r.Points); n > 1 {
		text += fmt.Sprintf(" at %d points", n)
	}
	text += fmt.Sprintf(", seed %d%s", r.Seed, startedText(r))
	if place := r.Place(); place != "" {
		text += ". " + place
	}
	return text + "."
}

// startedText is when the run began, as the end of a list; empty if that is not known.
func startedText(r *report.Report) string {
	if r.Started.IsZero() {
		return ""
	}
	return ", started " + r.Started.UTC().Format("2 January 2006 15:04 UTC")
}

// inWords is a remark with how many points and trials it is about.
func inWords(r *finding.Merged, points int) string {
	var about []string
	switch {
	case points == 1:
	case len(r.From) == points:
		about = []string{"everywhere"}
	default:
		about = []string{fmt.Sprintf("%d of %d points", len(r.From), points)}
	}
	if r.Trials != r.Of {
		about = append(about, fmt.Sprintf("%d of %d trials", r.Trials, r.Of))
	}
	if len(about) == 0 {
		return r.Text()
	}
	return fmt.Sprintf("%s (%s)", r.Text(), strings.Join(about, ", "))
}

// publishedText is what the published figures say of a claim, as a sentence.
func publishedText(j claims.Judgement) string {
	text := report.PublishedText(&j)
	return strings.ToUpper(text[:1]) + text[1:]
}

// download is a file that is in the page itself, or a hint where it is if it is too large for that.
type download struct {
	Name, Size, About string
	URL               template.URL
}

// Bounds of what is within a page, in bytes: a file of up to maxPlain is there as it is, one of up to maxPacked after
// compression is there compressed.
const maxPlain, maxPacked = 256 << 10, 2 << 20

func packed(name, media, about, elsewhere string, content []byte) (download, error) {
	d := download{Name: name, About: about, Size: size(len(content))}
	if len(content) > maxPlain {
		var b bytes.Buffer
		zw, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a level that there is
		_, err := zw.Write(content)
		if err := errors.Join(err, zw.Close()); err != nil {
			return d, fmt.Errorf("compressing %s: %w", name, err)
		}
		content, d.Name, media = b.Bytes(), name+".gz", "application/gzip"
		d.Size = fmt.Sprintf("%s, %s unpacked", size(len(content)), d.Size)
	}
	if len(content) > maxPacked {
		return download{Name: name, About: about + "; it is too large for this page: " + elsewhere, Size: d.Size}, nil
	}
	url := "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(content)
	d.URL = template.URL(url) //nolint:gosec // a data URL of our own
	return d, nil
}

func size(bytes int) string {
	const kibi = 1 << 10
	if bytes < kibi {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.0f KiB", float64(bytes)/kibi)
}

// reproduced sets what was asked as YAML, as kubectl takes it, and the command for it.
func (v *view) reproduced(r *report.Report) error {
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "benchrun.dev/v1alpha1", "kind": "BenchmarkRun",
		"metadata": map[string]string{"namespace": r.Namespace, "name": r.Name}, "spec": r.Spec,
	})
	if err != nil {
		return fmt.Errorf("encoding the specification: %w", err)
	}
	v.Spec, v.Command = string(text), "kubectl create --filename "+r.Name+".yaml"
	d, err := packed(r.Name+".yaml", "application/yaml", "the specification: kubectl creates it again", "", text)
	v.Downloads = append(v.Downloads, d)
	return err
}
