// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bufio"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/benchrun-dev/benchrun/internal/report"
)

// The documented schema of the Bencher Metric Format: names of at most 1,024 and 64 characters; a value, and bounds that
// may be left out, which are numbers; nothing else.
func TestBMFKeepsToItsSchema(t *testing.T) {
	type measure struct {
		Value *float64 `json:"value"`
		Lower *float64 `json:"lower_value"`
		Upper *float64 `json:"upper_value"`
	}
	read := func(text string) map[string]map[string]measure {
		var all map[string]map[string]measure
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&all); err != nil {
			t.Fatalf("%v: %.500s", err, text)
		}
		for name, measures := range all {
			if n := utf8.RuneCountInString(name); n == 0 || n > 1024 || len(measures) == 0 {
				t.Errorf("%q has %d characters, %d measures", name, n, len(measures))
			}
			for measure, m := range measures {
				if n := utf8.RuneCountInString(measure); n == 0 || n > 64 || m.Value == nil {
					t.Errorf("%s: %q has %d characters, or no value", name, measure, n)
				} else if m.Lower != nil && *m.Lower > *m.Value || m.Upper != nil && *m.Upper < *m.Value {
					t.Errorf("%s: %s is not in its interval: %+v", name, measure, m)
				}
			}
		}
		return all
	}
	long := hostile()
	long.Points[0].Parameters["a b"] = strings.Repeat("é", 2000) + "1"
	long.Points[1].Parameters["a b"] = strings.Repeat("é", 2000) + "2"
	for _, r := range []*report.Report{single(), unmeasured(), tables(), thousand()} {
		if got, want := len(read(printed(t, report.BMF, r))), len(measuredOf(r)); got != want {
			t.Errorf("%d benchmarks of %d points", got, want)
		}
	}
	if got := read(printed(t, report.BMF, long)); len(got) != 2 {
		t.Errorf("names that are too long are mixed up: %d benchmarks", len(got))
	}
	got := read(printed(t, report.BMF, small()))["CommitSize/rowsPerCommit=1024"]
	if m := got["rowsPerSecond"]; *m.Value != 14973.25 || *m.Lower != 14310 || *m.Upper != 15240 || *got["commitP99Micros"].Value != 250 {
		t.Errorf("%+v", got)
	}
	comparison := read(printedComparison(t, report.ComparisonBMF, reportOfComparison()))
	if m := comparison["CommitSize/variant=lazy/rowsPerCommit=1"]["rowsPerSecond"]; len(comparison) != 6 || *m.Value != 10353 {
		t.Errorf("%d benchmarks, %+v", len(comparison), m)
	}
}

func measuredOf(r *report.Report) []int {
	var list []int
	for i := range r.Points {
		if r.Points[i].Summary.N > 0 {
			list = append(list, i)
		}
	}
	return list
}

// openMetrics reads the text as a Prometheus server does, and checks what OpenMetrics demands beyond the older format:
// the order of the lines, families that are whole, and the end.
func openMetrics(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v:\n%.2000s", err, text)
	}
	if !strings.HasSuffix(text, "# EOF\n") || strings.Count("\n"+text, "\n# EOF") != 1 {
		t.Error("it does not end with # EOF")
	}
	const labels = `(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"(?:,|))*`
	line := regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)\{` + labels + `\} [-+]?[0-9][0-9.e+-]*$`)
	family, seen, samples := "", map[string]bool{}, map[string]bool{}
	scanner := bufio.NewScanner(strings.NewReader(strings.TrimSuffix(text, "# EOF\n")))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		words := strings.SplitN(scanner.Text(), " ", 4)
		switch {
		case words[0] == "#" && words[1] == "TYPE":
			if family = words[2]; seen[family] || words[3] != "gauge" {
				t.Errorf("%s comes twice, or is no gauge", family)
			}
			seen[family] = true
		case words[0] == "#" && words[1] == "HELP" && words[2] == family:
		default:
			if match := line.FindStringSubmatch(scanner.Text()); match == nil || match[1] != family {
				t.Errorf("%q is no sample of %s", scanner.Text(), family)
			}
			name := scanner.Text()[:strings.LastIndex(scanner.Text(), " ")]
			if samples[name] {
				t.Errorf("%s comes twice", name)
			}
			samples[name] = true
		}
	}
	return families
}

func TestOpenMetricsIsReadByPrometheus(t *testing.T) {
	for _, r := range []*report.Report{single(), unmeasured(), tables(), thousand(), hostile()} {
		if got := openMetrics(t, printed(t, report.OpenMetrics, r)); len(got["benchrun_trials"].GetMetric()) != len(r.Points) {
			t.Errorf("%d of %d points", len(got["benchrun_trials"].GetMetric()), len(r.Points))
		}
	}
	// find the value of a sample by its labels.
	find := func(f *dto.MetricFamily, labels map[string]string) float64 {
		for _, m := range f.GetMetric() {
			matches := 0
			for _, l := range m.GetLabel() {
				if value, requested := labels[l.GetName()]; requested && value == l.GetValue() {
					matches++
				}
			}
			if matches == len(labels) {
				return m.GetGauge().GetValue()
			}
		}
		t.Errorf("there is no %s with %v", f.GetName(), labels)
		return 0
	}
	got := openMetrics(t, printed(t, report.OpenMetrics, small()))
	for statistic, want := range map[string]float64{"median": 14973.25, "low": 14310, "high": 15240} {
		if value := find(got["benchrun_result"], map[string]string{
			"namespace": "bench", "run": "commit-size", "workload": "CommitSize", "param_rowsPerCommit": "1024", "metric": "rowsPerSecond",
			"unit": "rows/s", "better": "higher", "statistic": statistic,
		}); value != want {
			t.Errorf("%s is %g", statistic, value)
		}
	}
	comparison := openMetrics(t, printedComparison(t, report.ComparisonOpenMetrics, reportOfComparison()))
	at := map[string]string{"comparison": "durable-or-not", "variant": "lazy", "baseline": "durable", "param_rowsPerCommit": "1"}
	at["statistic"] = "low"
	if low := find(comparison["benchrun_ratio"], at); low != 2.8 {
		t.Errorf("low is %g", low)
	}
	delete(at, "statistic")
	at["verdict"] = "Faster"
	if find(comparison["benchrun_verdict"], at) != 1 {
		t.Error("the verdict is not 1")
	}
	// What a label holds comes out as it went in.
	hard := hostile()
	if value := find(openMetrics(t, printed(t, report.OpenMetrics, hard))["benchrun_trials"], map[string]string{
		"run": hard.Run.Name, "param_a_b__": "1",
	}); value != 3 {
		t.Errorf("%g trials", value)
	}
}
