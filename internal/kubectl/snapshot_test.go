// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// begunComparison is a comparison of two variants of which so many runs are complete and the next is under way, with what the
// cluster has of it. The second variant is twice as fast.
func begunComparison(t *testing.T, complete int) (*v1alpha1.BenchmarkComparison, []client.Object) {
	t.Helper()
	comparison := testutil.MakeComparison("pair", "bench", "durable", "lazy").Sweep(1).With(func(s *v1alpha1.BenchmarkComparison) {
		s.Status.Conditions = []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonMeasuring, Message: "round 2 of 20",
		}}
	}).Obj()
	objects := []client.Object{comparison}
	for i, m := range plan.ForComparison(&comparison.Spec)[:complete+1] {
		run := plan.MemberRun(comparison, m)
		run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(comparison, v1alpha1.GroupVersion.WithKind(plan.ComparisonKind))}
		if i < complete {
			objects = append(objects, completed(t, run, 1000*(1+float64(m.Variant))+float64(i)))
		}
		objects = append(objects, run)
	}
	return comparison, objects
}

// completed makes a run of one trial complete. It returns its results.
func completed(t *testing.T, run *v1alpha1.BenchmarkRun, value float64) client.Object {
	t.Helper()
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	records := []*result.Record{testutil.Record(1, 1, p.Points[0].Parameters, value)}
	rep, err := report.OfRun(run, p, records, v1alpha1.ConditionComplete)
	if err != nil {
		t.Fatal(err)
	}
	files, err := report.Files(rep)
	if err != nil {
		t.Fatal(err)
	}
	cm := configMap(plan.ResultsName(run), files...)
	run.Status.Results = v1alpha1.ResultsReference{
		ConfigMap: cm.Name, Digest: result.NamedDigest([]byte(cm.Data[report.JSONFile])),
	}
	for _, of := range []string{v1alpha1.ConditionFinished, v1alpha1.ConditionComplete} {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: of, Status: metav1.ConditionTrue})
	}
	return cm
}

// A comparison that has not finished has a report of its runs that are complete, which says so in every format for people.
func TestReportOfAComparisonSoFar(t *testing.T) {
	for complete, want := range map[int]struct {
		rounds  int
		answer  string
		compare bool
	}{
		0: {0, "no answer", false}, 1: {0, "no answer", false}, 3: {1, "cannot say", true}, 12: {6, "lazy is ", true},
	} {
		_, objects := begunComparison(t, complete)
		p, err := reported(t.Context(), clusterWith(objects...), "bench", "pair")
		if err != nil {
			t.Fatal(err)
		}
		if s := comparisonOf(t, p); s.Rounds != want.rounds || len(s.Runs) != complete || (len(s.Pairs) > 0) != want.compare {
			t.Errorf("%d runs: %d rounds, %d runs, %d comparisons", complete, s.Rounds, len(s.Runs), len(s.Pairs))
		}
		for _, format := range []string{"text", "markdown", "github"} {
			got := text(t, p, format)
			if !strings.Contains(got, "pair (unfinished): "+want.answer) || strings.Contains(got, "Discarded") ||
				!strings.Contains(got, ", Unfinished, ") ||
				!strings.Contains(got, "this is what has been measured so far; round 2 of 20") {
				t.Errorf("%s of %d runs:\n%s", format, complete, got)
			}
		}
		if got := strings.Count(text(t, p, "csv"), "\n"); got != complete+1 {
			t.Errorf("%d runs: %d lines of CSV", complete, got)
		}
		if got := text(t, p, "html"); !strings.Contains(got, "this is what has been measured so far") {
			t.Errorf("%d runs: the page does not say that it is not whole", complete)
		}
	}
}

// It compares as the operator does. The documents are not read, so that variables that were not requested are not mentioned.
func TestReportOfAComparisonCompares(t *testing.T) {
	comparison, objects := begunComparison(t, 8)
	comparison.Spec.Plots = v1alpha1.Plots{{Name: "seconds", Against: "rowsPerCommit", Metric: result.DurationMetric}}
	got, err := judgedSoFar(t.Context(), clusterWith(objects...), comparison)
	if err != nil {
		t.Fatal(err)
	}
	if p := got.Pairs[0]; p.Baseline != "durable" || p.Variant != "lazy" || len(p.Values) != 4 || p.Ratio < 1.9 || p.Ratio > 2.1 {
		t.Errorf("%+v", p)
	}
	if run := got.Runs[0]; len(run.Others) != 1 || run.Others[0].Metric != result.DurationMetric || len(run.Others[0].Values) != 1 {
		t.Errorf("the metrics that plots name are %+v", run.Others)
	}
	if d := got.Variants[1]; d.Besides != "" || d.Unrequested != 0 {
		t.Errorf("variables were compared that were not read: %+v", d)
	}
}

// A comparison that has failed says why; a run that somebody else has made is none of its own; results that were changed or
// deleted are an error.
func TestReportOfAComparisonThatIsNotWhole(t *testing.T) {
	comparison, objects := begunComparison(t, 3)
	comparison.Status.Conditions = append(comparison.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMemberFailed, Message: "run x failed",
	})
	rep, err := judgedSoFar(t.Context(), clusterWith(objects...), comparison)
	if err != nil || rep.Outcome != "Failed" || rep.Message != "MemberFailed: run x failed" {
		t.Errorf("%v, %+v", err, rep)
	}
	stranger, others := begunComparison(t, 3)
	others[2].SetOwnerReferences(nil)
	rep, err = judgedSoFar(t.Context(), clusterWith(others...), stranger)
	if err != nil || len(rep.Runs) != 2 || rep.Rounds != 0 {
		t.Errorf("%v, %+v", err, rep)
	}
	for want, change := range map[string]func([]client.Object) []client.Object{
		"was deleted": func(list []client.Object) []client.Object { return append(list[:1:1], list[2:]...) },
		"is not what the operator wrote": func(list []client.Object) []client.Object {
			run, _ := list[2].(*v1alpha1.BenchmarkRun)
			run.Status.Results.Digest = "sha256:00"
			return list
		},
	} {
		comparison, objects := begunComparison(t, 1)
		if _, err := judgedSoFar(t.Context(), clusterWith(change(objects)...), comparison); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	broken, _ := begunComparison(t, 0)
	broken.Spec.Template.Spec.Workload.CommitSize.Sweep = new(v1alpha1.CommitSizeSweep)
	if _, err := judgedSoFar(t.Context(), clusterWith(broken), broken); err == nil || !strings.Contains(err.Error(), "planning comparison pair") {
		t.Errorf("the error is %v", err)
	}
}
