// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Bench writes the measured trials, or their stages, in the Go benchmark format, for benchstat: it is told which way each unit is
// better. What tells two runs apart stands in comments, because benchstat compares only what has the same configuration. With
// variants, it writes their values by round. The variant is a file configuration, of which the baseline comes first: `benchstat
// -col variant` has a column for each. benchstat does not know that the values of a round belong together, so that it may show
// fewer differences than the run.
func Bench(w io.Writer, r *Report) error {
	about, metrics, results := r.benchTrials()
	if r.HasVariants() {
		about, metrics, results = r.benchVariants()
	}
	for _, line := range about {
		if _, err := fmt.Fprintf(w, "# %s: %s\n", line[0], strings.Join(strings.Fields(line[1]), " ")); err != nil {
			return err
		}
	}
	out := benchfmt.NewWriter(w)
	written := map[string]bool{}
	for _, m := range metrics {
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
	for _, one := range results {
		if err := out.Write(one); err != nil {
			return err
		}
	}
	return nil
}

// benchTrials are the trials of a run without variants, or their stages: their iterations are the rows.
func (r *Report) benchTrials() (about [][2]string, metrics []result.Metric, results []*benchfmt.Result) {
	list := r.Measurements()
	about = [][2]string{{"run", r.Namespace + "/" + r.Name}, {"seed", strconv.FormatInt(r.Seed, 10)}, {"spec", r.SpecDigest}}
	if len(list) > 0 {
		about = append(about, [2]string{"server", list[0].Summary.ServerVersion}, [2]string{"settings", list[0].Summary.SettingsDigest})
	}
	for _, record := range list {
		s := record.Summary
		metrics = append(metrics, s.Metrics...)
		res := &benchfmt.Result{Name: r.benchPoint(record.Parameters), Iters: int(max(1, s.Totals.Rows))}
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
		results = append(results, res)
	}
	return about, metrics, results
}

// benchVariants are what the variants have measured, those of the baseline first.
func (r *Report) benchVariants() (about [][2]string, metrics []result.Metric, results []*benchfmt.Result) {
	about = [][2]string{{"comparison", r.Namespace + "/" + r.Name}, {"seed", strconv.FormatInt(r.Seed, 10)}}
	for i := range r.Pairs {
		metrics = append(metrics, r.Pairs[i].Metric)
	}
	names := []string{r.Baseline()}
	for _, v := range r.Variants {
		names = appendNew(names, v.Name)
	}
	for _, variant := range names {
		for _, side := range r.Runs {
			if side.Variant != variant {
				continue
			}
			for _, v := range side.Values {
				results = append(results, &benchfmt.Result{
					Config: []benchfmt.Config{{Key: "variant", Value: []byte(variant), File: true}},
					Name:   r.benchPoint(v.Parameters), Iters: 1,
					Values: []benchfmt.Value{{Value: v.Value, Unit: benchUnit(result.Metric{Name: side.Metric, Unit: side.Unit})}},
				})
			}
		}
	}
	return about, metrics, results
}

// benchPoint names a point.
func (r *Report) benchPoint(parameters map[string]string) benchfmt.Name {
	parts := []string{r.Workload}
	for _, p := range r.Parameters() {
		parts = append(parts, p+"="+benchName(parameters[p]))
	}
	return benchfmt.Name(strings.Join(parts, "/"))
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
