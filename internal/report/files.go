// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"io"
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

// printer writes a report of some kind as a file.
type printer[R any] struct {
	name  string
	print func(io.Writer, *R) error
}

// Files are all printed forms of a report, the summary first.
func Files(r *Report) ([]result.File, error) {
	return printed(r, []printer[Report]{{SummaryFile, Summary}, {CSVFile, CSV}, {BenchFile, Bench}, {JSONFile, JSON}})
}

func printed[R any](r *R, printers []printer[R]) ([]result.File, error) {
	var files []result.File
	for _, p := range printers {
		var buf bytes.Buffer
		if err := p.print(&buf, r); err != nil {
			return nil, fmt.Errorf("writing %s: %w", p.name, err)
		}
		files = append(files, result.File{Name: p.name, Data: buf.Bytes()})
	}
	return files, nil
}

// CSV writes a row per measured trial, of trials in stages one per stage. Latencies are in microseconds.
func CSV(w io.Writer, r *Report) error {
	parameters := r.Parameters()
	rounds := r.roundOf()
	metrics, operations := r.Columns()
	header := append([]string{"trial", "round", "attempt"}, parameters...)
	header = append(header, metrics...)
	header = append(header, "rows", "transactions", "statements", "micros", "stoppedBy")
	for _, op := range operations {
		for _, q := range []string{"P50", "P95", "P99", "P999", "Max"} {
			header = append(header, op+q+"Micros")
		}
	}
	header = append(header, "instance", "databaseNode", "loaderNode", "started", "documentSHA256")
	rows := [][]string{header}
	for _, record := range r.Measurements() {
		rows = append(rows, row(record, rounds[record.Trial], parameters, metrics, operations))
	}
	return writeCSV(w, rows)
}

func row(record *result.Record, round int, parameters, metrics, operations []string) []string {
	s := record.Summary
	cells := []string{strconv.Itoa(record.Trial), strconv.Itoa(round), strconv.Itoa(record.Attempt)}
	for _, p := range parameters {
		cells = append(cells, record.Parameters[p])
	}
	for _, name := range metrics {
		cell := ""
		for _, m := range s.Metrics {
			if m.Name == name {
				cell = strconv.FormatFloat(m.Value, 'f', -1, 64)
			}
		}
		cells = append(cells, cell)
	}
	for _, n := range []int64{s.Totals.Rows, s.Totals.Transactions, s.Totals.Statements, s.Totals.Micros} {
		cells = append(cells, strconv.FormatInt(n, 10))
	}
	cells = append(cells, string(s.Totals.StoppedBy))
	for _, op := range operations {
		l := latency(s, op)
		for _, v := range []int64{l.P50Micros, l.P95Micros, l.P99Micros, l.P999Micros, l.MaxMicros} {
			cell := ""
			if l.Count > 0 {
				cell = strconv.FormatInt(v, 10)
			}
			cells = append(cells, cell)
		}
	}
	return append(cells, strconv.Itoa(record.Instance), record.Place.DatabaseNode, strings.Join(record.Place.Loaders(), " "),
		s.Identity.Started.UTC().Format("2006-01-02T15:04:05Z"), s.DocumentSHA256)
}

// Columns are the names of all metrics and operations, in the order in which they first come.
func (r *Report) Columns() (metrics, operations []string) {
	seen := map[string]bool{}
	add := func(list *[]string, kind, name string) {
		if !seen[kind+name] {
			seen[kind+name] = true
			*list = append(*list, name)
		}
	}
	for _, record := range r.Measurements() {
		for _, m := range record.Summary.Metrics {
			add(&metrics, "metric ", m.Name)
		}
		for _, l := range record.Summary.Latencies {
			add(&operations, "operation ", l.Operation)
		}
	}
	return metrics, operations
}

// latency of an operation; the zero Latency if there is none.
func latency(s *result.Summary, operation string) result.Latency {
	for _, l := range s.Latencies {
		if l.Operation == operation {
			return l
		}
	}
	return result.Latency{}
}

// Unfinished is the outcome of a run or comparison that has not ended: its report has what was measured so far.
const Unfinished = "Unfinished"

// failed is the outcome of a run or comparison that has failed.
const failed = "Failed"

// Format is a printed form of a report. Run and Comparison write what they are given and nothing else; they fail only if the
// writer does.
type Format struct {
	// Name is what -o takes, and File the name of the file.
	Name, File string
	// Run prints the report of a run, and Comparison that of a comparison. Run is nil if the format is of comparisons alone.
	Run        func(io.Writer, *Report) error
	Comparison func(io.Writer, *Comparison) error
}

// Formats are all of them, in the order in which people are told of them.
func Formats() []Format {
	return []Format{
		{"text", "summary.txt", Text, ComparisonText},
		{"markdown", SummaryFile, Summary, ComparisonSummary},
		{"csv", CSVFile, CSV, ComparisonCSV},
		{"matrix", "matrix.txt", nil, ComparisonMatrix},
		{"matrix-csv", "matrix.csv", nil, ComparisonMatrixCSV},
		{"variables", "variables.txt", nil, ComparisonVariables},
		{"variables-csv", "variables.csv", nil, ComparisonVariablesCSV},
		{"json", JSONFile, JSON, ComparisonJSON},
		{"benchfmt", BenchFile, Bench, ComparisonBench},
		{"junit", "results.junit.xml", JUnit, ComparisonJUnit},
		{"github", "job-summary.md", GitHub, ComparisonGitHub},
	}
}

// inputLines are the files that an attempt's run brought along.
func inputLines(s *result.Summary) []string {
	var lines []string
	for _, in := range s.Inputs {
		rows := ""
		if in.Rows > 0 {
			rows = fmt.Sprintf("%d rows, ", in.Rows)
		}
		lines = append(lines, fmt.Sprintf("input %s: %s%d bytes, sha256 %s", in.Name, rows, in.Bytes, in.SHA256))
	}
	return lines
}

// ChangedInputs says which files were not the same for all trials that count: their numbers do not compare.
func (r *Report) ChangedInputs() []finding.Finding {
	var names []string
	digests := map[string][]string{}
	trials := map[string][]string{}
	for _, record := range r.Accepted() {
		for _, in := range record.Summary.Inputs {
			version := in.Name + " " + in.SHA256
			if digests[in.Name] == nil {
				names = append(names, in.Name)
			}
			if trials[version] == nil {
				digests[in.Name] = append(digests[in.Name], in.SHA256)
			}
			trials[version] = append(trials[version], strconv.Itoa(record.Trial))
		}
	}
	var changed []finding.Finding
	for _, name := range names {
		if len(digests[name]) < 2 {
			continue
		}
		var versions []string
		for _, digest := range digests[name] {
			versions = append(versions, fmt.Sprintf("sha256 %s for trial %s", digest, strings.Join(trials[name+" "+digest], ", ")))
		}
		changed = append(changed, finding.Changed(name, strings.Join(versions, "; ")))
	}
	return changed
}
