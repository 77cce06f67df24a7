// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestEarlierOf(t *testing.T) {
	probe := v1alpha1.TrialProbe{FdatasyncMicros: 100, FdatasyncP95Micros: 200, WorkNanos: 5}
	began := metav1.NewTime(now)
	run := testutil.MakeRun("run", "ns").Obj()
	run.Status.StartTime = &began
	before := func(name string, ago time.Duration, changes ...func(*v1alpha1.BenchmarkRun)) v1alpha1.BenchmarkRun {
		other := testutil.MakeRun(name, "ns").Obj()
		other.UID = types.UID(name)
		other.Status.CompletionTime = ptr.To(metav1.NewTime(now.Add(-ago)))
		other.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue}}
		other.Status.Environment.TrialProbe = probe
		for _, change := range changes {
			change(other)
		}
		return *other
	}
	elsewhere := func(r *v1alpha1.BenchmarkRun) { r.Namespace = "other" }
	otherSeed := func(r *v1alpha1.BenchmarkRun) { r.Spec.Seed = ptr.To[int64](77) }
	otherLane := func(r *v1alpha1.BenchmarkRun) { r.Spec.Lane = "fast" }
	failed := func(r *v1alpha1.BenchmarkRun) { r.Status.Conditions[0].Type = v1alpha1.ConditionFailed }
	unseen := func(r *v1alpha1.BenchmarkRun) { r.Status.Environment.TrialProbe = v1alpha1.TrialProbe{} }
	underWay := func(r *v1alpha1.BenchmarkRun) { r.Status.CompletionTime = nil }
	itself := func(r *v1alpha1.BenchmarkRun) { r.UID = run.UID }
	for name, tc := range map[string]struct {
		runs []v1alpha1.BenchmarkRun
		want string
	}{
		"none":            {nil, ""},
		"the last":        {[]v1alpha1.BenchmarkRun{before("a", time.Hour), before("b", time.Minute), before("c", 2*time.Hour)}, "b"},
		"just before":     {[]v1alpha1.BenchmarkRun{before("a", 0)}, "a"},
		"in another lane": {[]v1alpha1.BenchmarkRun{before("a", time.Hour, otherLane)}, "a"},
		"none that fits": {[]v1alpha1.BenchmarkRun{
			before("a", -time.Second), before("b", time.Hour, elsewhere), before("c", time.Hour, otherSeed), before("d", time.Hour, failed),
			before("e", time.Hour, unseen), before("f", time.Hour, underWay), before("g", time.Hour, itself),
		}, ""},
	} {
		got, err := EarlierOf(run, tc.runs)
		if err != nil || got.Run != tc.want || (tc.want != "") != (got.Probe == probe) {
			t.Errorf("%s: %+v, %v, want %q", name, got, err, tc.want)
		}
	}
	run.Status.StartTime = nil
	if got, _ := EarlierOf(run, []v1alpha1.BenchmarkRun{before("a", time.Hour)}); got.Run != "" {
		t.Errorf("a run that has not begun has the earlier one %+v", got)
	}
}
