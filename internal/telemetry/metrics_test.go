// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"errors"
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
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	prometheustesting "github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

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
	records := attempts("oxxf")
	records[2].Cause = "whatever a loader says"
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
		"benchrun_runs_completed_total{reason=Complete} 1",
		"benchrun_runs_completed_total{reason=Decided} 1",
		"benchrun_runs_completed_total{reason=Undecided} 1",
		"benchrun_runs_failed_total{reason=LoaderFailed} 1",
		"benchrun_trial_dead_seconds{} 3, sum 3",
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
	must.Same(t, "what is served, and what "+page+" has", want, got)
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

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// stateOf objects, of a manager that leads.
func stateOf(runs []v1alpha1.BenchmarkRun) *State {
	return &State{
		Read:  func(context.Context) ([]v1alpha1.BenchmarkRun, error) { return runs, nil },
		Leads: closed, Clock: clocktesting.NewFakePassiveClock(now), Log: logr.Discard(),
	}
}

// queued is a run that was created so many minutes ago and waits, with that in its Admitted condition.
func queued(name, lane string, minutes int) v1alpha1.BenchmarkRun {
	run := testutil.MakeRun(name, "ns").Obj()
	run.UID, run.Spec.Lane = types.UID(name), lane
	run.CreationTimestamp = metav1.NewTime(now.Add(-time.Duration(minutes) * time.Minute))
	run.Status.Conditions = append(conditions("Queued"), metav1.Condition{
		Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionFalse, Reason: "Queued", LastTransitionTime: run.CreationTimestamp,
	})
	return *run
}

func objects() []v1alpha1.BenchmarkRun {
	holder, resumed, suspended, fresh := queued("holder", "a", 90), queued("resumed", "b", 60), queued("suspended", "b", 95), queued("fresh", "c", 0)
	holder.Status.Conditions = conditions("Measuring", v1alpha1.ConditionAdmitted)
	resumed.Status.QueuedTime = ptr.To(metav1.NewTime(now.Add(-time.Minute)))
	suspended.Spec.Suspend = ptr.To(true)
	suspended.Status.Conditions = conditions("Suspended", v1alpha1.ConditionSuspended)
	fresh.Status.Conditions = nil
	complete, failed := queued("complete", "d", 99), queued("failed", "d", 99)
	complete.Status.Conditions = conditions("Complete", v1alpha1.ConditionComplete, v1alpha1.ConditionFinished)
	failed.Status.Conditions = conditions("Rejected", v1alpha1.ConditionFailed, v1alpha1.ConditionFinished)
	variants := queued("variants", "a", 50)
	variants.Spec.Variants = []v1alpha1.Variant{{Name: "a"}, {Name: "b"}}
	return []v1alpha1.BenchmarkRun{holder, queued("second", "a", 10), resumed, suspended, fresh, complete, failed, variants}
}

func TestState(t *testing.T) {
	want := []string{
		"benchrun_lane_queue_head_age_seconds{lane=a} 3000",
		"benchrun_lane_queue_head_age_seconds{lane=b} 60",
		"benchrun_lane_queue_length{lane=a} 2",
		"benchrun_lane_queue_length{lane=b} 1",
		"benchrun_lane_queue_length{lane=c} 1",
		"benchrun_runs{state=Complete} 1",
		"benchrun_runs{state=Failed} 1",
		"benchrun_runs{state=Measuring} 1",
		"benchrun_runs{state=Pending} 1",
		"benchrun_runs{state=Queued} 3",
		"benchrun_runs{state=Suspended} 1",
	}
	must.Same(t, "", want, nonZero(t, stateOf(objects())))
}

// A state has its series also while no owner is in it, and a lane that is held also while none waits for it.
func TestZeros(t *testing.T) {
	holder := queued("holder", "lane", 1)
	holder.Status.Conditions = conditions("Measuring", v1alpha1.ConditionAdmitted)
	got := samples(t, stateOf([]v1alpha1.BenchmarkRun{holder}))
	want := map[string]int{
		"benchrun_runs": len(runStates), "benchrun_lane_queue_length": 1,
		"benchrun_lane_queue_head_age_seconds": 1,
	}
	must.Same(t, "series", want, got)
}

// samples are the numbers of series by name.
func samples(t *testing.T, c prometheus.Collector) map[string]int {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families := must.Get(registry.Gather())(t)
	counts := map[string]int{}
	for _, f := range families {
		counts[f.GetName()] = len(f.GetMetric())
	}
	return counts
}

// A user who may create runs may name any number of lanes.
func TestSeriesAreBounded(t *testing.T) {
	var o []v1alpha1.BenchmarkRun
	for i := range 3 * maxLanes {
		o = append(o, queued(fmt.Sprintf("run%d", i), fmt.Sprintf("lane%d", i), i))
	}
	o = append(o, queued("one", "long", 1), queued("two", "long", 2))
	s := stateOf(o)
	counts := samples(t, s)
	for name, most := range map[string]int{
		"benchrun_lane_queue_length": maxLanes + 1, "benchrun_lane_queue_head_age_seconds": maxLanes + 1,
	} {
		must.Same(t, "series of "+name, most, counts[name])
	}
	for _, want := range []string{
		"benchrun_lane_queue_length{lane=_others} 201", "benchrun_lane_queue_head_age_seconds{lane=_others} 17940",
		"benchrun_lane_queue_length{lane=long} 2",
	} {
		must.Has(t, strings.Join(nonZero(t, s), "\n")+"\n", want+"\n")
	}
}

// A manager that does not lead serves no gauges: the sum over all managers is right.
func TestStandby(t *testing.T) {
	s := stateOf(objects())
	s.Leads = make(chan struct{})
	if got := samples(t, s); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// If the cache does not answer, the other metrics are served, and the log says so.
func TestUnreadable(t *testing.T) {
	s := stateOf(nil)
	s.Read = func(context.Context) ([]v1alpha1.BenchmarkRun, error) { return nil, errors.New("no cache") }
	var log strings.Builder
	s.Log = funcr.New(func(_, args string) { log.WriteString(args) }, funcr.Options{})
	if got := samples(t, s); len(got) != 0 || !strings.Contains(log.String(), "no cache") {
		t.Errorf("%v, log %s", got, log.String())
	}
}
