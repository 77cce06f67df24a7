// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	prometheustesting "github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// nonZero are the counters and histograms that have counted anything, as "name{labels} value".
func nonZero(t *testing.T, c prometheus.Collector) []string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	must.Do(t, registry.Register(c))
	families := must.Get(registry.Gather())(t)
	var list []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			value := strconv.FormatFloat(m.GetCounter().GetValue()+m.GetGauge().GetValue(), 'f', -1, 64)
			if h := m.GetHistogram(); h != nil {
				value = fmt.Sprintf("%d, sum %g", h.GetSampleCount(), h.GetSampleSum())
			}
			if !strings.HasPrefix(value, "0") {
				list = append(list, fmt.Sprintf("%s{%s} %s", f.GetName(), strings.Join(labels, ","), value))
			}
		}
	}
	return list
}

func TestCounts(t *testing.T) {
	run := testutil.MakeRun("r", "ns").Obj()
	old := statusAfter(run, 0, conditions("Measuring"))
	records := attempts("poxxf")
	records[3].Cause = "whatever a loader says"
	run.Status.Conditions = conditions("Publishing", v1alpha1.ConditionFailed)
	run.Status.Conditions[1].Reason = v1alpha1.ReasonLoaderFailed
	m := New()
	run.Status.Attempt = v1alpha1.ObjectReference{Name: "r-t9-a1", UID: "u"}
	m.Count(OfRun(run, &old, records))
	complete := testutil.MakeRun("c", "ns").Obj()
	complete.Status.Conditions = conditions("Complete", v1alpha1.ConditionComplete)
	m.Count(OfRun(complete, &old, nil))
	for _, end := range []string{"Decided", "Undecided", "Queued"} {
		complete.Status.Conditions = conditions(end)
		m.Count(OfRun(complete, &v1alpha1.BenchmarkRunStatus{}, nil))
	}
	want := []string{
		"benchrun_attempts_invalidated_total{cause=Evicted} 1",
		"benchrun_attempts_invalidated_total{cause=Other} 1",
		"benchrun_attempts_total{outcome=Accepted} 1",
		"benchrun_attempts_total{outcome=Failed} 1",
		"benchrun_attempts_total{outcome=Invalidated} 2",
		"benchrun_attempts_total{outcome=Pilot} 1",
		"benchrun_runs_completed_total{reason=Complete} 1",
		"benchrun_runs_completed_total{reason=Decided} 1",
		"benchrun_runs_completed_total{reason=Undecided} 1",
		"benchrun_runs_failed_total{reason=LoaderFailed} 1",
		"benchrun_trial_dead_seconds{} 4, sum 4",
		"benchrun_trial_measured_seconds{} 1, sum 1",
	}
	must.Same(t, "", want, nonZero(t, m))
}

// Names and help texts are as Prometheus' conventions want them.
func TestConventions(t *testing.T) {
	for _, c := range []prometheus.Collector{New(), stateOf(nil)} {
		problems := must.Get(prometheustesting.CollectAndLint(c))(t)
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// Every cause of an invalidated attempt, and every reason of a failure, has a series from the start.
func TestLabelsAreComplete(t *testing.T) {
	for _, cause := range constants(t, "../result/cause.go", "Cause") {
		if c := result.Cause(cause); c.Outcome() == result.OutcomeInvalidated != slices.Contains(disturbances, c) {
			t.Errorf("cause %s is %s", c, c.Outcome())
		}
	}
	text := must.Get(os.ReadFile("../../api/v1alpha1/condition_types.go"))(t)
	_, failures, found := strings.Cut(string(text), "// Reasons for which a run ends Failed.")
	if !found {
		t.Fatal("the reasons of failures are not found in the API")
	}
	reasons := regexp.MustCompile(`Reason\w+ = "(\w+)"`).FindAllStringSubmatch(failures, -1)
	if len(reasons) < 3 {
		t.Errorf("only %d reasons were found", len(reasons))
	}
	for _, reason := range reasons {
		if !slices.Contains(runFailures, reason[1]) {
			t.Errorf("reason %s has no series", reason[1])
		}
	}
}

// constants of a file whose names have that prefix: their values.
func constants(t *testing.T, path, prefix string) []string {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
	var list []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, prefix) && len(spec.Values) == 1 {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				list = append(list, strings.Trim(literal.Value, `"`))
			}
		}
		return true
	})
	if len(list) == 0 {
		t.Fatalf("%s has no constants %s", path, prefix)
	}
	return list
}

const (
	root = "../../"
	page = "docs/reference/monitoring.md"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	return string(text)
}

// The documentation lists the metrics that are served, with their types and their labels.
func TestEveryMetricIsDocumented(t *testing.T) {
	s := stateOf([]v1alpha1.BenchmarkRun{queued("run", "lane", 1)})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s, New())
	families := must.Get(registry.Gather())(t)
	want := map[string]string{}
	for _, f := range families {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		want[f.GetName()] = strings.ToLower(f.GetType().String()) + " " + strings.Join(labels, " ")
	}
	got := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `(benchrun_\\w+)` \\| (\\w+) \\|([^|]*)\\|")
	for _, match := range row.FindAllStringSubmatch(read(t, root+page), -1) {
		got[match[1]] = match[2] + " " + strings.Join(sorted(match[3]), " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf(page+" (-served +documented):\n%s", diff)
	}
}

// sorted labels of a cell, in the order in which Prometheus has them.
func sorted(cell string) []string {
	list := regexp.MustCompile(`\w+`).FindAllString(cell, -1)
	slices.Sort(list)
	return list
}

// Every alert of the chart is explained, and no other.
func TestEveryAlertIsDocumented(t *testing.T) {
	var alerts, documented []string
	for _, match := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(read(t, root+"charts/benchrun/files/alerts.yaml"), -1) {
		alerts = append(alerts, match[1])
	}
	for _, match := range regexp.MustCompile("(?m)^\\| `(Benchrun\\w+)` \\|").FindAllStringSubmatch(read(t, root+page), -1) {
		documented = append(documented, match[1])
	}
	if diff := cmp.Diff(alerts, documented); diff != "" || len(alerts) == 0 {
		t.Errorf(page+" (-chart +documented):\n%s", diff)
	}
}
