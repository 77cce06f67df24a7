// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Names of the files of a run's results.
const (
	CSVFile     = "results.csv"
	JSONFile    = "results.json"
	BenchFile   = "results.bench"
	SummaryFile = "summary.md"
)

// Files are all printed forms of a report that are published, the summary first.
func Files(r *Report) ([]result.File, error) {
	var files []result.File
	for _, name := range []string{SummaryFile, CSVFile, BenchFile, JSONFile} {
		formats := Formats()
		of := formats[slices.IndexFunc(formats, func(f Format) bool { return f.File == name })]
		var buf bytes.Buffer
		if err := of.Print(&buf, r); err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
		files = append(files, result.File{Name: name, Data: buf.Bytes()})
	}
	return files, nil
}

// CSV writes a row for each measured trial, or for each of its stages, and of each variant. Latencies are in microseconds.
func CSV(w io.Writer, r *Report) error {
	rounds, list := r.roundOf(), r.Measurements()
	metrics, operations := r.Columns()
	t := tableOf("", len(list))
	number := func(name string, of func(*result.Record) int64) {
		t.addText(name, func(i int) string { return strconv.FormatInt(of(list[i].Record), 10) })
	}
	text := func(name string, of func(*result.Record) string) {
		t.addText(name, func(i int) string { return of(list[i].Record) })
	}
	number("trial", func(r *result.Record) int64 { return int64(r.Trial) })
	number("round", func(r *result.Record) int64 { return int64(rounds[r.Trial]) })
	number("attempt", func(r *result.Record) int64 { return int64(r.Attempt) })
	if r.HasVariants() {
		t.addText(variantLabel, func(i int) string { return list[i].Variant })
	}
	for _, name := range r.Parameters() {
		text(name, func(r *result.Record) string { return r.Parameters[name] })
	}
	for _, name := range metrics {
		text(name, func(r *result.Record) string {
			i := slices.IndexFunc(r.Summary.Metrics, func(m result.Metric) bool { return m.Name == name })
			if i < 0 {
				return ""
			}
			return decimal(r.Summary.Metrics[i].Value)
		})
	}
	number("rows", func(r *result.Record) int64 { return r.Summary.Totals.Rows })
	number("transactions", func(r *result.Record) int64 { return r.Summary.Totals.Transactions })
	number("statements", func(r *result.Record) int64 { return r.Summary.Totals.Statements })
	number("micros", func(r *result.Record) int64 { return r.Summary.Totals.Micros })
	text("stoppedBy", func(r *result.Record) string { return string(r.Summary.Totals.StoppedBy) })
	for _, op := range operations {
		for _, percentile := range []string{"P50Micros", "P95Micros", "P99Micros", "P999Micros", "MaxMicros"} {
			text(op+percentile, func(r *result.Record) string {
				all := r.Summary.Latencies
				i := slices.IndexFunc(all, func(l result.Latency) bool { return l.Operation == op })
				if i < 0 || all[i].Count == 0 {
					return ""
				}
				return strconv.FormatInt(all[i].Percentiles()[percentile], 10)
			})
		}
	}
	number("instance", func(r *result.Record) int64 { return int64(r.Instance) })
	text("databaseNode", func(r *result.Record) string { return r.Place.DatabaseNode })
	text("loaderNode", func(r *result.Record) string { return strings.Join(r.Place.Loaders(), " ") })
	text("started", func(r *result.Record) string { return r.Summary.Identity.Started.UTC().Format("2006-01-02T15:04:05Z") })
	text("documentSHA256", func(r *result.Record) string { return r.Summary.DocumentSHA256 })
	return t.writeCSV(w)
}

// decimal is a number with all of its digits.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Columns are the names of all metrics and operations, in the order in which they first come.
func (r *Report) Columns() (metrics, operations []string) {
	for _, record := range r.Measurements() {
		for _, m := range record.Summary.Metrics {
			metrics = appendNew(metrics, m.Name)
		}
		for _, l := range record.Summary.Latencies {
			operations = appendNew(operations, l.Operation)
		}
	}
	return metrics, operations
}

// Unfinished is the outcome of a run that has not ended: its report has what was measured so far.
const Unfinished = "Unfinished"

// Format is a printed form of a report.
type Format struct {
	// Name is what -o takes, and File the name of the file.
	Name, File string
	// Print writes what it is given and nothing else; it fails only if the writer does.
	Print func(io.Writer, *Report) error
	// Variants says that the format is of runs with variants alone.
	Variants bool
}

// Formats are all of them, in the order in which people are told of them.
func Formats() []Format {
	return []Format{
		{"text", "summary.txt", Text, false},
		{"markdown", SummaryFile, Summary, false},
		{"csv", CSVFile, CSV, false},
		{"matrix", "matrix.txt", MatrixText, true},
		{"variables", "variables.txt", VariablesText, true},
		{"json", JSONFile, JSON, false},
		{"benchfmt", BenchFile, Bench, false},
		{"junit", "results.junit.xml", JUnit, false},
	}
}

// ChangedInputs says which files were not the same for all trials that count: their numbers do not compare.
func (r *Report) ChangedInputs() []finding.Finding {
	digests := &facts{values: map[string][]*factValue{}}
	for _, record := range r.Accepted() {
		for _, in := range record.Summary.Inputs {
			digests.set(strconv.Itoa(record.Trial), in.Name, in.SHA256)
		}
	}
	var changed []finding.Finding
	for _, name := range digests.names {
		var versions []string
		for _, digest := range digests.values[name] {
			versions = append(versions, fmt.Sprintf("sha256 %s for trial %s", digest.text, strings.Join(digest.who, ", ")))
		}
		if len(versions) > 1 {
			changed = append(changed, finding.Changed(name, strings.Join(versions, "; ")))
		}
	}
	return changed
}
