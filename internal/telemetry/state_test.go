// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
		if counts[name] != most {
			t.Errorf("%s has %d series, want %d", name, counts[name], most)
		}
	}
	for _, want := range []string{
		"benchrun_lane_queue_length{lane=_others} 201", "benchrun_lane_queue_head_age_seconds{lane=_others} 17940",
		"benchrun_lane_queue_length{lane=long} 2",
	} {
		if !strings.Contains(strings.Join(nonZero(t, s), "\n")+"\n", want+"\n") {
			t.Errorf("there is no %s in %v", want, nonZero(t, s))
		}
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
