// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// OpenMetrics writes gauges of a run in the text format of OpenMetrics: benchrun_result for the median, low and high of
// each metric at each point, benchrun_trials for the trials that count, and benchrun_claim for the verdicts of claims.
// Samples have no timestamps. Parameters are labels that begin with param_.
func OpenMetrics(w io.Writer, r *Report) error {
	about := []tag{{"namespace", r.Run.Namespace}, {"run", r.Run.Name}, {"workload", r.Run.Workload}}
	values := family{name: "benchrun_result", help: "Median of a metric at a point, and its interval."}
	trials := family{name: "benchrun_trials", help: "Trials of a point that count."}
	names := labelNames(r.Parameters())
	for i := range r.Points {
		p := &r.Points[i]
		at := slices.Concat(about, parameterLabels(names, p.Parameters))
		trials.add(float64(p.Summary.N), at)
		for _, m := range metricsAt(p) {
			summary := stats.Summarize(analysis.ValuesOf(p.Records, m.Name))
			if m.Name == p.Metric.Name {
				summary = p.Summary
			}
			of := slices.Concat(at, []tag{{"metric", m.Name}, {"unit", m.Unit}, {"better", m.Better}})
			values.statistics(of, "median", summary.Median, summary.Low, summary.High, summary.N > 1)
		}
	}
	return writeFamilies(w, values, trials, claimFamily(about, r.Claims))
}

// ComparisonOpenMetrics writes gauges of a comparison: benchrun_ratio for the ratio of each variant to the baseline at each
// point, and its interval, benchrun_verdict for what it says, and benchrun_claim.
func ComparisonOpenMetrics(w io.Writer, s *Comparison) error {
	about := []tag{{"namespace", s.Namespace}, {"comparison", s.Name}, {"workload", s.Workload}}
	ratios := family{name: "benchrun_ratio", help: "Ratio of a variant to the baseline at a point, and its interval."}
	verdicts := family{name: "benchrun_verdict", help: "1 for the verdict of a pair."}
	names := labelNames(s.Parameters())
	for i := range s.Pairs {
		p := &s.Pairs[i]
		at := slices.Concat(about, []tag{{"variant", p.Variant}, {"baseline", p.Baseline}, {"metric", p.Metric.Name}, {
			"better", p.Metric.Better,
		}}, parameterLabels(names, p.Parameters))
		verdicts.add(1, append(slices.Clone(at), tag{"verdict", string(p.Verdict)}))
		if p.Bounded() {
			ratios.statistics(at, "ratio", p.Ratio, p.Low, p.High, true)
		}
	}
	return writeFamilies(w, ratios, verdicts, claimFamily(about, s.Claims))
}

// tag is a label of a sample: its name and its value.
type tag struct{ name, value string }

// family of gauges.
type family struct {
	name, help string
	samples    []string
}

func (f *family) add(value float64, labels []tag) {
	var parts []string
	for _, l := range labels {
		parts = append(parts, l.name+`="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(l.value)+`"`)
	}
	f.samples = append(f.samples, f.name+"{"+strings.Join(parts, ",")+"} "+strconv.FormatFloat(value, 'g', -1, 64))
}

// statistics adds a value with its name, and the two ends of its interval if it has one.
func (f *family) statistics(labels []tag, name string, value, low, high float64, interval bool) {
	with := func(statistic string) []tag { return append(slices.Clone(labels), tag{"statistic", statistic}) }
	f.add(value, with(name))
	if interval {
		f.add(low, with("low"))
		f.add(high, with("high"))
	}
}

func claimFamily(about []tag, list []claims.Judgement) family {
	f := family{name: "benchrun_claim", help: "1 for the verdict of a claim."}
	for _, j := range list {
		f.add(1, slices.Concat(about, []tag{{"claim", j.Name}, {"verdict", string(j.Verdict)}}))
	}
	return f
}

// labelNames are names of labels for these parameters, each another one.
func labelNames(parameters []string) map[string]string {
	names, taken := map[string]string{}, map[string]bool{}
	for _, p := range parameters {
		name := "param_" + strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
				return c
			}
			return '_'
		}, p)
		for taken[name] {
			name += "_"
		}
		names[p], taken[name] = name, true
	}
	return names
}

func parameterLabels(names, parameters map[string]string) []tag {
	var labels []tag
	for _, p := range slices.Sorted(maps.Keys(parameters)) {
		labels = append(labels, tag{names[p], parameters[p]})
	}
	return labels
}

func writeFamilies(w io.Writer, families ...family) error {
	var b strings.Builder
	for _, f := range families {
		if len(f.samples) == 0 {
			continue
		}
		fmt.Fprintf(&b, "# TYPE %s gauge\n# HELP %s %s\n", f.name, f.name, f.help)
		for _, s := range f.samples {
			b.WriteString(s + "\n")
		}
	}
	b.WriteString("# EOF\n")
	_, err := io.WriteString(w, b.String())
	return err
}
