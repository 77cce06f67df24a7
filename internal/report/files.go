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
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
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
	for _, f := range []Format{
		{File: SummaryFile, Print: Summary},
		{File: CSVFile, Print: CSV},
		{File: BenchFile, Print: Bench},
		{File: JSONFile, Print: JSON},
	} {
		var buf bytes.Buffer
		if err := f.Print(&buf, r); err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.File, err)
		}
		files = append(files, result.File{Name: f.File, Data: buf.Bytes()})
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
		text(name, func(r *result.Record) string { return measured(r, name) })
	}
	number("rows", func(r *result.Record) int64 { return r.Summary.Totals.Rows })
	number("transactions", func(r *result.Record) int64 { return r.Summary.Totals.Transactions })
	number("statements", func(r *result.Record) int64 { return r.Summary.Totals.Statements })
	number("micros", func(r *result.Record) int64 { return r.Summary.Totals.Micros })
	text("stoppedBy", func(r *result.Record) string { return string(r.Summary.Totals.StoppedBy) })
	for _, op := range operations {
		for _, percentile := range []string{"P50Micros", "P95Micros", "P99Micros", "P999Micros", "MaxMicros"} {
			text(op+percentile, func(r *result.Record) string { return measured(r, op+percentile) })
		}
	}
	number("instance", func(r *result.Record) int64 { return int64(r.Instance) })
	text("databaseNode", func(r *result.Record) string { return r.Place.DatabaseNode })
	text("loaderNode", func(r *result.Record) string { return strings.Join(r.Place.Loaders(), " ") })
	text("started", func(r *result.Record) string { return r.Summary.Identity.Started.UTC().Format("2006-01-02T15:04:05Z") })
	text("documentSHA256", func(r *result.Record) string { return r.Summary.DocumentSHA256 })
	return t.writeCSV(w)
}

// measured is what a trial has of a metric, or of a percentile, with all digits; empty if it has none.
func measured(r *result.Record, metric string) string {
	if m, found := r.Summary.Metric(metric); found {
		return decimal(m.Value)
	}
	return ""
}

// decimal is a number with all of its digits.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Columns are the names of all metrics and operations, in the order in which they first come.
func (r *Report) Columns() (metrics, operations []string) {
	for _, record := range r.Measurements() {
		for _, m := range record.Summary.Metrics {
			metrics = stats.AppendNew(metrics, m.Name)
		}
		for _, l := range record.Summary.Latencies {
			operations = stats.AppendNew(operations, l.Operation)
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

// Bench writes the measured trials, or their stages, in the Go benchmark format, for benchstat: it is told which way each unit is
// better. What tells two runs apart stands in comments, because benchstat compares only what has the same configuration. The
// variant is a file configuration, of which the baseline comes first: `benchstat -col variant` has a column for each. benchstat
// does not know that the values of a round belong together, so that it may show fewer differences than the run.
func Bench(w io.Writer, r *Report) error {
	list := r.Measurements()
	slices.SortStableFunc(list, func(a, b Measurement) int { return r.indexOf(a.Variant) - r.indexOf(b.Variant) })
	about := [][2]string{{"run", r.Namespace + "/" + r.Name}, {"seed", strconv.FormatInt(r.Seed, 10)}, {"spec", r.SpecDigest}}
	if len(list) > 0 && !r.HasVariants() {
		about = append(about, [2]string{"server", list[0].Summary.ServerVersion}, [2]string{"settings", list[0].Summary.SettingsDigest})
	}
	for _, line := range about {
		if _, err := fmt.Fprintf(w, "# %s: %s\n", line[0], strings.Join(strings.Fields(line[1]), " ")); err != nil {
			return err
		}
	}
	var units, results []benchfmt.Record
	known := map[string]bool{}
	for i := range list {
		results = append(results, r.benchResult(&list[i]))
		for _, m := range list[i].Summary.Metrics {
			if unit := benchUnit(m); !known[unit] {
				known[unit] = true
				key := benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}
				units = append(units, &benchfmt.UnitMetadata{UnitMetadataKey: key, OrigUnit: unit, Value: m.Better})
			}
		}
	}
	out := benchfmt.NewWriter(w)
	for _, record := range slices.Concat(units, results) {
		if err := out.Write(record); err != nil {
			return err
		}
	}
	return nil
}

// indexOf a variant among all of them, the baseline first.
func (r *Report) indexOf(variant string) int {
	return slices.IndexFunc(r.Variants, func(v Variant) bool { return v.Name == variant && !v.Baseline })
}

// benchResult is what was measured at a point: its iterations are the rows.
func (r *Report) benchResult(of *Measurement) *benchfmt.Result {
	s, name := of.Summary, []string{r.Workload}
	for _, p := range r.Parameters() {
		name = append(name, p+"="+benchName(of.Parameters[p]))
	}
	res := &benchfmt.Result{Name: benchfmt.Name(strings.Join(name, "/")), Iters: int(max(1, s.Totals.Rows))}
	if of.Variant != "" {
		res.Config = []benchfmt.Config{{Key: variantLabel, Value: []byte(of.Variant), File: true}}
	}
	add := func(value float64, unit string) {
		res.Values = append(res.Values, benchfmt.Value{Value: value, Unit: unit})
	}
	for _, m := range s.Metrics {
		add(m.Value, benchUnit(m))
	}
	for _, l := range s.Latencies {
		add(float64(l.P50Micros), "p50-"+l.Operation+"-µs")
		add(float64(l.P99Micros), "p99-"+l.Operation+"-µs")
	}
	return res
}

// benchName keeps a value within one field of the format.
func benchName(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || c == '/' {
			return '_'
		}
		return c
	}, s)
}

// benchUnit is another one for each metric, because benchstat knows metrics by their units only: rows/s for rowsPerSecond, and
// else the unit behind the metric's name.
func benchUnit(m result.Metric) string {
	if strings.HasSuffix(m.Unit, "/s") && m.Name == strings.TrimSuffix(m.Unit, "/s")+"PerSecond" {
		return m.Unit
	}
	return benchName(m.Name + "-" + m.Unit)
}
