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
// better. What tells two runs apart stands in comments, because benchstat compares only what has the same configuration.
func Bench(w io.Writer, r *Report) error {
	list := r.Measurements()
	about := [][2]string{
		{"run", r.Run.Namespace + "/" + r.Run.Name}, {"seed", strconv.FormatInt(r.Run.Seed, 10)}, {"spec", r.Run.SpecDigest},
	}
	if len(list) > 0 {
		about = append(about, [2]string{"server", list[0].Summary.ServerVersion}, [2]string{"settings", list[0].Summary.SettingsDigest})
	}
	for _, line := range about {
		if _, err := fmt.Fprintf(w, "# %s: %s\n", line[0], strings.Join(strings.Fields(line[1]), " ")); err != nil {
			return err
		}
	}
	out := benchfmt.NewWriter(w)
	written := map[string]bool{}
	for _, record := range list {
		for _, m := range record.Summary.Metrics {
			unit := benchUnit(m)
			if written[unit] {
				continue
			}
			written[unit] = true
			if err := out.Write(&benchfmt.UnitMetadata{
				UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: m.Better,
			}); err != nil {
				return err
			}
		}
	}
	for _, record := range list {
		if err := out.Write(benchResult(r, record)); err != nil {
			return err
		}
	}
	return nil
}

// benchResult is one trial, or one of its stages: its iterations are the rows.
func benchResult(r *Report, record *result.Record) *benchfmt.Result {
	parts := []string{r.Run.Workload}
	for _, p := range r.Parameters() {
		parts = append(parts, p+"="+benchName(record.Parameters[p]))
	}
	name := benchfmt.Name(strings.Join(parts, "/"))
	res := &benchfmt.Result{Name: name, Iters: int(max(1, record.Summary.Totals.Rows))}
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

// benchUnit is another one for each metric, because benchstat knows metrics by their units only: rows/s for rowsPerSecond, and
// else the unit behind the metric's name.
func benchUnit(m result.Metric) string {
	if strings.HasSuffix(m.Unit, "/s") && m.Name == strings.TrimSuffix(m.Unit, "/s")+"PerSecond" {
		return m.Unit
	}
	return benchName(m.Name + "-" + m.Unit)
}

// ComparisonBench writes the values of a comparison in the Go benchmark format. The variant is a file configuration, of which the
// baseline comes first: `benchstat -col variant` has a column for each. benchstat does not know that the values of a
// round belong together, so that it may show fewer differences than the comparison.
func ComparisonBench(w io.Writer, s *Comparison) error {
	if _, err := fmt.Fprintf(w, "# comparison: %s/%s\n# seed: %d\n", s.Namespace, s.Name, s.Seed); err != nil {
		return err
	}
	out := benchfmt.NewWriter(w)
	written := map[string]bool{}
	for i := range s.Pairs {
		if unit := benchUnit(s.Pairs[i].Metric); !written[unit] {
			written[unit] = true
			if err := out.Write(&benchfmt.UnitMetadata{
				UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: s.Pairs[i].Metric.Better,
			}); err != nil {
				return err
			}
		}
	}
	variants := slices.Clone(s.Variants)
	slices.SortStableFunc(variants, func(a, b ComparisonVariant) int {
		switch {
		case a.Baseline == b.Baseline:
			return 0
		case a.Baseline:
			return -1
		}
		return 1
	})
	for _, v := range variants {
		if err := s.benchVariant(out, v.Name); err != nil {
			return err
		}
	}
	return nil
}

// benchVariant writes what the runs of a variant have measured.
func (s *Comparison) benchVariant(out *benchfmt.Writer, variant string) error {
	for _, run := range s.Runs {
		if run.Variant != variant {
			continue
		}
		for _, v := range run.Values {
			parts := []string{s.Workload}
			for _, p := range s.Parameters() {
				parts = append(parts, p+"="+benchName(v.Parameters[p]))
			}
			if err := out.Write(&benchfmt.Result{
				Config: []benchfmt.Config{{Key: "variant", Value: []byte(variant), File: true}},
				Name:   benchfmt.Name(strings.Join(parts, "/")), Iters: 1,
				Values: []benchfmt.Value{{Value: v.Value, Unit: benchUnit(result.Metric{Name: run.Metric, Unit: run.Unit})}},
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
