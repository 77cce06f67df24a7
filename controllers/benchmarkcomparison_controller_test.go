//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestEnvtestComparisonDecided(t *testing.T) {
	s := newComparisons(t)
	s.end = s.byVariant(map[string]float64{"durable": 1000, "lazy": 3000})
	s.applyComparison(testutil.MakeComparison("s", "", "durable", "lazy").Sweep(1, 16).With(func(comparison *v1alpha1.BenchmarkComparison) {
		comparison.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}}
	}).Obj())
	comparison := s.untilComparison(v1alpha1.ConditionFinished)

	want := []string{
		"s-r1-lazy", "s-r1-durable", "s-r2-durable", "s-r2-lazy", "s-r3-durable", "s-r3-lazy", "s-r4-durable", "s-r4-lazy",
		"s-r5-durable", "s-r5-lazy", "s-r6-durable", "s-r6-lazy",
	}
	if diff := cmp.Diff(want, s.made); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	for _, condition := range []string{v1alpha1.ConditionDecided, v1alpha1.ConditionComplete, v1alpha1.ConditionReady} {
		if !apimeta.IsStatusConditionTrue(comparison.Status.Conditions, condition) {
			t.Errorf("%s is not true", condition)
		}
	}
	if !strings.HasPrefix(comparison.Status.Answer, "lazy is 3× as fast as durable") || comparison.Status.Progress != "6/20" {
		t.Errorf("after %s rounds: %s", comparison.Status.Progress, comparison.Status.Answer)
	}
	if len(comparison.Status.Pairs) != 2 || comparison.Status.Pairs[0].Verdict != v1alpha1.VerdictFaster {
		t.Errorf("pairs: %+v", comparison.Status.Pairs)
	}
	if diff := cmp.Diff([]string{"lazy differs from durable in: innodb_flush_log_at_trx_commit (1 → 0)"}, comparison.Status.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	for name, bound := range map[string]string{"s-r1-lazy": "", "s-r1-durable": "worker", "s-r4-lazy": "worker"} {
		if got := s.get(name).Annotations[v1alpha1.AnnotationDatabaseNode]; got != bound {
			t.Errorf("%s is bound to %q, want %q", name, got, bound)
		}
	}
	var results corev1.ConfigMap
	s.must(api.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "s-results"}, &results))
	for _, file := range []string{"summary.md", "results.csv", "results.json"} {
		if results.Data[file] == "" {
			t.Errorf("the results lack %s", file)
		}
	}
	pageIn(t, &results, "s", "<figcaption>rowsPerSecond against rowsPerCommit</figcaption>")
	if lines := strings.Count(results.Data["results.csv"], "\n"); lines != 25 {
		t.Errorf("results.csv has %d lines, want a header and 24 values", lines)
	}
	if got := result.NamedDigest([]byte(results.Data["results.json"])); got != comparison.Status.Results.Digest {
		t.Errorf("the status has another digest than the results: %s", comparison.Status.Results.Digest)
	}
}

// A run that fails ends the comparison with what there is.
func TestEnvtestComparisonMemberFails(t *testing.T) {
	s := newComparisons(t)
	fine := s.end
	s.end = func(run *v1alpha1.BenchmarkRun) {
		if len(s.made) == 4 {
			s.fail(run, v1alpha1.ReasonDatabaseNotStarted, "no node fits")
			return
		}
		fine(run)
	}
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Obj())
	comparison := s.untilComparison(v1alpha1.ConditionFinished)
	if got, want := reasonOfEnd(comparison), "MemberFailed: run "+s.made[3]+" of round 2 failed: DatabaseNotStarted: no node fits"; got != want {
		t.Errorf("it ended %s, want %s", got, want)
	}
	if comparison.Status.Progress != "1/20" || comparison.Status.Results.ConfigMap == "" || len(s.made) != 4 {
		t.Errorf("%d runs, progress %s, results %+v", len(s.made), comparison.Status.Progress, comparison.Status.Results)
	}
	var results corev1.ConfigMap
	s.must(api.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "s-results"}, &results))
	if summary := results.Data["summary.md"]; !strings.Contains(summary, "no node fits") {
		t.Errorf("the summary does not say why:\n%s", summary)
	}
}

// Nothing is created if one variant is refused: by the API server, or by the operator.
func TestEnvtestComparisonVariantInvalid(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkComparison)
		want   string
	}{
		"by the API server": {
			func(s *v1alpha1.BenchmarkComparison) {
				s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{RowsPerCommit: 1000}}
			},
			"rowsPerCommit must not be above rows",
		},
		"by the operator": {
			func(s *v1alpha1.BenchmarkComparison) {
				s.Spec.Template.Spec.Sweep = &v1alpha1.SweepSpec{Mode: v1alpha1.SweepOneFactor}
				s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{
					Points: []v1alpha1.CommitSizePoint{{RowsPerCommit: ptr.To(v1alpha1.CommitSizeRowsPerCommit(2))}},
				}}
			},
			"variant b: sweep.mode OneFactor goes with workload.commitSize.sweep",
		},
		"nothing in common": {
			func(s *v1alpha1.BenchmarkComparison) {
				s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{
					Sweep: &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{2}},
				}}
			},
			"variant b has no point in common with the baseline a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newComparisons(t)
			s.applyComparison(testutil.MakeComparison("s", "", "a", "b").With(tc.change).Obj())
			comparison := s.untilComparison(v1alpha1.ConditionFinished)
			if got := reasonOfEnd(comparison); !strings.HasPrefix(got, "VariantInvalid: ") || !strings.Contains(got, tc.want) {
				t.Errorf("it ended %s", got)
			}
			if len(s.made) > 0 {
				t.Errorf("runs were created: %v", s.made)
			}
		})
	}
}

func TestEnvtestComparisonSuspend(t *testing.T) {
	s := newComparisons(t)
	fine := s.end
	s.end = func(*v1alpha1.BenchmarkRun) {}
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Rounds(2).Obj())
	for len(s.made) == 0 {
		s.turn()
	}
	suspend := func(value bool) {
		comparison := s.getComparison()
		comparison.Spec.Suspend = &value
		s.must(api.Update(t.Context(), comparison))
		s.turn()
		s.turn()
	}
	suspend(true)
	if !ptr.Deref(s.get(s.made[0]).Spec.Suspend, false) || !apimeta.IsStatusConditionTrue(s.getComparison().Status.Conditions, v1alpha1.ConditionSuspended) {
		t.Errorf("run %s or its comparison is not suspended", s.made[0])
	}
	suspend(false)
	if ptr.Deref(s.get(s.made[0]).Spec.Suspend, false) {
		t.Errorf("run %s is still suspended", s.made[0])
	}
	s.end = fine
	s.untilComparison(v1alpha1.ConditionComplete)
}

// What is not the comparison's is left alone.
func TestEnvtestComparisonNameTaken(t *testing.T) {
	for _, name := range []string{"s-r1-a", "s-r2-b"} {
		t.Run(name, func(t *testing.T) {
			s := newComparisons(t)
			// In a lane of its own: it is not carried out, and the comparison must not wait for it.
			s.apply(testutil.MakeRun(name, "").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Lane = "other" }).Obj())
			s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Obj())
			comparison := s.untilComparison(v1alpha1.ConditionFinished)
			if got := reasonOfEnd(comparison); !strings.HasPrefix(got, "NameTaken: BenchmarkRun "+name+" exists") {
				t.Errorf("it ended %s", got)
			}
			if run := s.get(name); len(run.OwnerReferences) > 0 || len(run.Status.Conditions) > 0 {
				t.Errorf("%s was touched: %+v", name, run)
			}
		})
	}
	t.Run("s-results", func(t *testing.T) {
		s := newComparisons(t)
		s.must(api.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "s-results"}}))
		s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Obj())
		if got := reasonOfEnd(s.untilComparison(v1alpha1.ConditionFinished)); !strings.HasPrefix(got, "NameTaken: s-results does not belong to this comparison") {
			t.Errorf("it ended %s", got)
		}
		if len(s.made) > 0 {
			t.Errorf("runs were created: %v", s.made)
		}
	})
}

func TestEnvtestComparisonDeadlineAndTimeToLive(t *testing.T) {
	s := newComparisons(t)
	s.comparisons.DefaultTTL = time.Minute
	s.end = func(*v1alpha1.BenchmarkRun) {}
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").With(func(comparison *v1alpha1.BenchmarkComparison) {
		comparison.Spec.DeadlineSeconds = ptr.To[int32](600)
	}).Obj())
	for len(s.made) == 0 {
		s.turn()
	}
	s.clock.Step(601 * time.Second)
	comparison := s.untilComparison(v1alpha1.ConditionFinished)
	if got := reasonOfEnd(comparison); !strings.HasPrefix(got, "DeadlineExceeded: the comparison did not finish within 10m0s") {
		t.Errorf("it ended %s", got)
	}
	var runs v1alpha1.BenchmarkRunList
	s.list(&runs)
	if len(runs.Items) > 0 {
		t.Errorf("%s is still under way", runs.Items[0].Name)
	}
	s.clock.Step(61 * time.Second)
	for range 2 { // it leaves its lane first
		_, err := s.reconcileComparison()
		s.must(err)
	}
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "s"}, comparison); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}
