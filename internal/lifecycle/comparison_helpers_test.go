// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

type comparisonPlan = analysis.ComparisonPlan

func planOfComparison(t *testing.T, s *v1alpha1.BenchmarkComparison) *analysis.ComparisonPlan {
	t.Helper()
	p, err := validation.PlanComparison(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// membersOf a comparison with that plan are runs that do not exist yet.
func membersOf(p *analysis.ComparisonPlan) analysis.ComparisonRuns {
	return analysis.ComparisonRuns{Members: make([]analysis.Member, len(p.Members))}
}

// measuredRuns are what is seen after so many runs of a comparison that holds its lane: those of lazy are three times as fast.
// The noise is small, and the same whatever the number of runs.
func measuredRuns(s *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, runs int) *ComparisonObserved {
	seen := &ComparisonObserved{Checked: true, Lane: Lane{Holder: ptr.To(HolderOfComparison(s))}, ComparisonRuns: membersOf(p)}
	for i, m := range p.Members[:runs] {
		run := plan.MemberRun(s, m)
		endedRun(run, v1alpha1.ConditionComplete)
		run.Status.Environment = v1alpha1.Environment{DatabaseNode: "worker", LoaderNode: "worker2", DatabaseImage: "mariadb@1"}
		seen.Members[i] = analysis.Member{Run: run, Measured: &analysis.Measurements{Metric: result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}}}
		for range p.Variants[m.Variant].Plan.Points {
			seen.Members[i].Measured.Values = append(seen.Members[i].Measured.Values,
				testutil.PairValue(i, m.Variant))
		}
	}
	seen.Judged = analysis.Judge(s, p, &seen.ComparisonRuns, analysis.Verdicts{})
	return seen
}

// begin adds the next run, which is under way.
func (o *ComparisonObserved) begin(s *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, next int, changes ...func(*v1alpha1.BenchmarkRun)) *ComparisonObserved {
	run := plan.MemberRun(s, p.Members[next])
	run.UID = "u"
	for _, change := range changes {
		change(run)
	}
	o.Members[next].Run = run
	o.Current = []v1alpha1.CurrentRun{{Name: run.Name, UID: string(run.UID)}}
	return o
}

func suspendedRun(run *v1alpha1.BenchmarkRun) { run.Spec.Suspend = ptr.To(true) }

// failedComparison has failed a while ago, and not finished.
func failedComparison(s *v1alpha1.BenchmarkComparison) {
	s.Status.StartTime = ptr.To(ago(2 * time.Hour))
	s.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: "Why", Message: "because", LastTransitionTime: ago(time.Second),
	}}
}

func finishedComparison(s *v1alpha1.BenchmarkComparison) {
	failedComparison(s)
	s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue})
	s.Status.CompletionTime = ptr.To(ago(time.Hour))
}
