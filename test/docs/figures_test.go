// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"cmp"
	"encoding/csv"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const originals = "test/docs/testdata/publications/"

// figures of a publication, from its own tables, for a run of that name.
type figures func(t *testing.T, name string, of v1alpha1.PointSelector, metric string) float64

// figuresOf are those of each publication, by the number with which the names of its files begin.
var figuresOf = map[string]figures{
	"000": fileListInserts, "001": bulkInsert, "002": tpcc, "003": iibench, "004": commitSize,
}

// headlineOf each publication is the metric that its claims and tables mean if they name none: the first that a run of it
// reports.
var headlineOf = map[string]string{
	"000": "rowsPerSecond", "001": "totalSeconds", "002": "transactionsPerSecond", "003": "terminalRowsPerSecond", "004": "rowsPerSecond",
}

// Each figure that a file says was published is one of the publication, to the digits that the file gives.
func TestFiguresOfPublications(t *testing.T) {
	for _, file := range tracked(t, "config/samples/publications/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			number, checked := filepath.Base(file)[:3], 0
			check := func(name string, of v1alpha1.PointSelector, metric string, value v1alpha1.ClaimedNumber) {
				checked++
				want := figuresOf[number](t, name, of, metric)
				said, err := strconv.ParseFloat(string(value), 64)
				_, decimals, _ := strings.Cut(string(value), ".")
				if half := 0.5001 * math.Pow10(-len(decimals)); err != nil || math.Abs(said-want) > half {
					t.Errorf("%s of %+v is %s, but %g was published", metric, of, value, want)
				}
			}
			for document := range strings.SplitSeq(read(t, file), "\n---\n") {
				var object struct {
					Metadata struct {
						Name string `json:"name"`
					} `json:"metadata"`
					Spec struct {
						Claims v1alpha1.Claims `json:"claims"`
					} `json:"spec"`
				}
				must.Do(t, yaml.Unmarshal([]byte(document), &object))
				for _, claim := range object.Spec.Claims {
					for _, f := range claim.Published {
						check(object.Metadata.Name, f.Of, cmp.Or(f.Metric, claim.Metric, headlineOf[number]), f.Value)
					}
				}
				for _, table := range requestedTables(t, object.Metadata.Name) {
					for _, f := range table.Published {
						of := v1alpha1.PointSelector{Variant: f.Of.Variant, Parameters: map[string]v1alpha1.SelectedValue{}}
						for name, value := range f.Of.Parameters {
							of.Parameters[name] = testutil.SelectedText(value)
						}
						check(object.Metadata.Name, of, cmp.Or(f.Metric, table.Metrics[0]), v1alpha1.ClaimedNumber(f.Value))
					}
				}
			}
			if checked < 5 {
				t.Errorf("%d figures were found", checked)
			}
		})
	}
}

// requestedTables of a run of a publication are those of the file of plots that has its name.
func requestedTables(t *testing.T, name string) []report.TableRequest {
	t.Helper()
	file := "config/samples/publications/" + name + ".plots"
	q := must.Get(report.ReadRequested(file, []byte(read(t, file))))(t)
	return q.Tables
}

// The full file of 000 has every published run: the mean of those with the same parameters.
func TestAllFiguresOf000(t *testing.T) {
	known := map[string]bool{}
	key := func(of ...string) string { return strings.Join(of, " ") }
	for _, f := range requestedTables(t, "file-list-inserts")[0].Published {
		p := f.Of.Parameters
		known[key(environments[f.Of.Variant], p["rowsPerStatement"], p["statementsPerTransaction"], p["clients"])] = true
	}
	rows := table(t, "000")
	must.Same(t, "published runs", 64, len(rows))
	for _, r := range rows {
		if !known[key(r["env"], r["rows_per_stmt"], r["stmts_per_transaction"], r["concurrency"])] {
			t.Errorf("%v is not in the table", r)
		}
	}
}

// table of a publication: a map by the names of its columns for each row.
func table(t *testing.T, number string) []map[string]string {
	t.Helper()
	return rowsOfCSV(t, originals+number+".csv")
}

// rowsOfCSV are the rows of a file, by the names of its columns.
func rowsOfCSV(t *testing.T, file string) []map[string]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(read(t, file))).ReadAll()
	if err != nil || len(lines) < 2 {
		t.Fatalf("%s: %d lines, %v", file, len(lines), err)
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// rowOf a table is that with a value.
func rowOf(t *testing.T, number, column, value string) map[string]string {
	t.Helper()
	rows := table(t, number)
	i := slices.IndexFunc(rows, func(row map[string]string) bool { return row[column] == value })
	if i < 0 {
		t.Fatalf("%s of publication %s is never %q", column, number, value)
	}
	return rows[i]
}

func text(parameters map[string]v1alpha1.SelectedValue, name string) string {
	return parameters[name].String()
}

func parsed(t *testing.T, value string) float64 {
	t.Helper()
	f := must.Get(strconv.ParseFloat(value, 64))(t)
	return f
}

// environments of publication 000 by the names that its variants have here.
var environments = map[string]string{
	"default-config": "default_config", "5gib-buffer": "5GiB_buffer", "large-buffer": "5GiB_buffer",
}

func fileListInserts(t *testing.T, _ string, of v1alpha1.PointSelector, metric string) float64 {
	t.Helper()
	sum, n, rows := 0.0, 0.0, 0.0
	for _, r := range table(t, "000") {
		if r["env"] == environments[of.Variant] && r["concurrency"] == text(of.Parameters, "clients") &&
			r["rows_per_stmt"] == text(of.Parameters, "rowsPerStatement") &&
			r["stmts_per_transaction"] == text(of.Parameters, "statementsPerTransaction") {
			sum, n, rows = sum+parsed(t, r["duration"]), n+1, parsed(t, r["rows_inserted"])
		}
	}
	if metric == "rowsPerSecond" {
		return rows / (sum / n)
	}
	return sum / n
}

func bulkInsert(t *testing.T, _ string, of v1alpha1.PointSelector, metric string) float64 {
	t.Helper()
	images := map[string]string{"bulk-off": "10.7", "bulk": "10.7-mdev-24621-innodb-bulk-insert"}
	return seconds(rowOf(t, "001", "table", strings.TrimSuffix(metric, "Seconds"))[images[of.Variant]])
}

// seconds of a time like 1m55.075s; 0 if it is none.
func seconds(text string) float64 {
	took, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return took.Seconds()
}

func tpcc(t *testing.T, _ string, of v1alpha1.PointSelector, metric string) float64 {
	t.Helper()
	row := rowOf(t, "002", "configuration", of.Variant)
	if metric == "transactionP95Micros" {
		return 1000 * parsed(t, row["95th percentile (ms)"])
	}
	return parsed(t, row["transactions per sec."])
}

func iibench(t *testing.T, _ string, of v1alpha1.PointSelector, metric string) float64 {
	t.Helper()
	const day, rows, gib = 24 * 60 * 60, 1_000_000_000, 1 << 30
	row := rowOf(t, "003", "engine", text(of.Parameters, "storageEngine"))
	switch metric {
	case "elapsedSeconds", "estimatedSeconds":
		return day * parsed(t, row["elapsed days"])
	case "rowsPerSecond":
		return rows / (day * parsed(t, row["elapsed days"]))
	case "sizeBytes":
		return gib * parsed(t, row["GiB"])
	}
	return parsed(t, row["rows/sec at the end"])
}

func commitSize(t *testing.T, name string, of v1alpha1.PointSelector, metric string) float64 {
	t.Helper()
	size := must.Get(strconv.Atoi(text(of.Parameters, "rowsPerCommit")))(t)
	row := rowOf(t, "004", "exponent", strconv.Itoa(bits.Len(uint(size))-1))
	rows := "100000 rows"
	if strings.Contains(name, "to-1024") {
		rows = "10000 rows"
	}
	if metric == "durationSeconds" {
		return parsed(t, row["seconds of "+rows])
	}
	return parsed(t, row["rows/s of "+rows])
}
