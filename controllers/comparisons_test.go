//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// comparisons is a cluster with the reconciler of comparisons, in which a test says how runs end.
type comparisons struct {
	*cluster
	comparisons *BenchmarkComparisonReconciler
	// end lets a run end that is under way and not suspended.
	end func(*v1alpha1.BenchmarkRun)
	// pilots are recorded by each run before its trials.
	pilots []*result.Record
	// made are the names of the runs in the order in which they were created.
	made []string
}

func newComparisons(t *testing.T) *comparisons {
	t.Helper()
	s := &comparisons{cluster: newCluster(t)}
	s.comparisons = s.newComparisonReconciler()
	s.end = func(run *v1alpha1.BenchmarkRun) { s.complete(run, 1000) }
	return s
}

// newComparisonReconciler is that of an operator that has just started.
func (s *comparisons) newComparisonReconciler() *BenchmarkComparisonReconciler {
	return &BenchmarkComparisonReconciler{Base: Base{
		Client: api, Live: &Live{Reader: api}, Recorder: s.events, Clock: s.clock, Scope: Scope{s.namespace}, LaneNamespace: s.namespace,
		HostNamespace: s.namespace, Images: s.reconciler.Images,
	}}
}

func (s *comparisons) applyComparison(comparison *v1alpha1.BenchmarkComparison) {
	s.t.Helper()
	comparison.Namespace, comparison.UID = s.namespace, ""
	s.must(api.Create(s.t.Context(), comparison))
}

func (s *comparisons) getComparison() *v1alpha1.BenchmarkComparison {
	s.t.Helper()
	return s.comparisonNamed("s")
}

func (s *comparisons) comparisonNamed(name string) *v1alpha1.BenchmarkComparison {
	s.t.Helper()
	var comparison v1alpha1.BenchmarkComparison
	s.must(api.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &comparison))
	return &comparison
}

func (s *comparisons) reconcileComparison() (ctrl.Result, error) {
	s.t.Helper()
	return s.reconcileNamed("s")
}

func (s *comparisons) reconcileNamed(name string) (ctrl.Result, error) {
	s.t.Helper()
	return s.comparisons.Reconcile(s.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: s.namespace, Name: name}})
}

// turn reconciles the comparison, and lets a run that is under way end.
func (s *comparisons) turn() {
	s.t.Helper()
	if _, err := s.reconcileComparison(); err != nil {
		s.t.Fatalf("reconciling: %v", err)
	}
	s.runsEnd()
}

func (s *comparisons) runsEnd() {
	s.t.Helper()
	var runs v1alpha1.BenchmarkRunList
	s.list(&runs)
	for i := range runs.Items {
		run := &runs.Items[i]
		if run.Labels[v1alpha1.LabelComparison] == "" {
			continue
		}
		if !slices.Contains(s.made, run.Name) {
			s.made = append(s.made, run.Name)
		}
		if !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) && !ptr.Deref(run.Spec.Suspend, false) {
			s.end(run)
		}
	}
}

// untilComparison takes turns until a condition of the comparison is true.
func (s *comparisons) untilComparison(condition string) *v1alpha1.BenchmarkComparison {
	s.t.Helper()
	for range 200 {
		s.turn()
		if comparison := s.getComparison(); apimeta.IsStatusConditionTrue(comparison.Status.Conditions, condition) {
			return comparison
		}
	}
	s.t.Fatalf("the comparison was never %s: %+v", condition, s.getComparison().Status)
	return nil
}

// complete ends a run as its own reconciler does: every point has that value.
func (s *comparisons) complete(run *v1alpha1.BenchmarkRun, value float64) {
	s.t.Helper()
	p, err := validation.PlanRun(run)
	s.must(err)
	rep := &report.Report{Run: report.Run{Name: run.Name, UID: string(run.UID)}, Records: s.pilots}
	for _, trial := range p.Trials {
		rep.Records = append(rep.Records, testutil.Record(trial.Number, 1, p.Points[trial.Point].Parameters, value))
	}
	files, err := report.Files(rep)
	s.must(err)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: run.Name + "-results"}, Data: map[string]string{}}
	for _, f := range files {
		cm.Data[f.Name] = string(f.Data)
	}
	if err := api.Create(s.t.Context(), cm); !apierrors.IsAlreadyExists(err) {
		s.must(err)
	}
	run.Status.Results = v1alpha1.ResultsReference{ConfigMap: cm.Name, Digest: digestOf(files)}
	run.Status.Environment = v1alpha1.Environment{DatabaseNode: "worker", LoaderNode: "worker2", SettingsDigest: "sha256:abcd"}
	s.finish(run, v1alpha1.ConditionComplete, v1alpha1.ReasonComplete, "measured")
}

// fail ends a run without results.
func (s *comparisons) fail(run *v1alpha1.BenchmarkRun, reason, message string) {
	s.t.Helper()
	s.finish(run, v1alpha1.ConditionFailed, reason, message)
}

func (s *comparisons) finish(run *v1alpha1.BenchmarkRun, condition, reason, message string) {
	s.t.Helper()
	run.Status.CompletionTime = ptr.To(metav1.NewTime(s.clock.Now()))
	for _, c := range []string{condition, v1alpha1.ConditionFinished} {
		apimeta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{
			Type: c, Status: metav1.ConditionTrue, Reason: reason, Message: message,
		})
	}
	s.must(api.Status().Update(s.t.Context(), run))
}

// byVariant lets the runs of a variant have another value than those of others, with some noise.
func (s *comparisons) byVariant(values map[string]float64) func(*v1alpha1.BenchmarkRun) {
	return func(run *v1alpha1.BenchmarkRun) {
		noise := 1 + 0.004*float64(len(s.made)%3)
		s.complete(run, values[run.Labels[v1alpha1.LabelVariant]]*noise)
	}
}

// reasonOfEnd is why the comparison has failed.
func reasonOfEnd(comparison *v1alpha1.BenchmarkComparison) string {
	c := apimeta.FindStatusCondition(comparison.Status.Conditions, v1alpha1.ConditionFailed)
	return c.Reason + ": " + c.Message
}
