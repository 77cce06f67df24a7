// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Bench writes the measured trials in the Go benchmark format, for benchstat: it is told which way each unit is better.
func Bench(w io.Writer, r *Report) error {
	list := r.accepted()
	config := []benchfmt.Config{
		fileConfig("run", r.Run.Namespace+"/"+r.Run.Name), fileConfig("seed", strconv.FormatInt(r.Run.Seed, 10)),
		fileConfig("spec", r.Run.SpecDigest),
	}
	if len(list) > 0 {
		config = append(config, fileConfig("server", list[0].Summary.ServerVersion),
			fileConfig("settings", list[0].Summary.SettingsDigest))
	}
	out := benchfmt.NewWriter(w)
	said := map[string]bool{}
	for _, record := range list {
		for _, m := range record.Summary.Metrics {
			unit := benchUnit(m)
			if said[unit] {
				continue
			}
			said[unit] = true
			if err := out.Write(&benchfmt.UnitMetadata{
				UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: m.Better,
			}); err != nil {
				return err
			}
		}
	}
	for _, record := range list {
		if err := out.Write(benchResult(r, record, config)); err != nil {
			return err
		}
	}
	return nil
}

func fileConfig(key, value string) benchfmt.Config {
	return benchfmt.Config{Key: key, Value: []byte(value), File: true}
}

// benchResult is one trial: its iterations are the rows.
func benchResult(r *Report, record *result.Record, config []benchfmt.Config) *benchfmt.Result {
	parts := []string{r.Run.Workload}
	for _, p := range r.parameters() {
		parts = append(parts, p+"="+benchName(record.Parameters[p]))
	}
	name := benchfmt.Name(strings.Join(parts, "/"))
	res := &benchfmt.Result{Config: config, Name: name, Iters: int(max(1, record.Summary.Totals.Rows))}
	add := func(value float64, unit string) {
		res.Values = append(res.Values, benchfmt.Value{Value: value, Unit: unit})
	}
	for _, m := range record.Summary.Metrics {
		add(m.Value, benchUnit(m))
	}
	for _, l := range record.Summary.Latencies {
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

// benchUnit must differ between metrics of one line.
func benchUnit(m result.Metric) string {
	if strings.Contains(m.Unit, "/s") {
		return m.Unit
	}
	return benchName(m.Name + "-" + m.Unit)
}
