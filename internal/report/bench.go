// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

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
