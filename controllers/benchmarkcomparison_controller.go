// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// BenchmarkComparisonReconciler carries out BenchmarkComparisons: it creates their runs, one after the other, and compares these.
type BenchmarkComparisonReconciler struct {
	Base

	// decoding is held while a document or the results of a run are decoded, and publishing while results are written: each may
	// take a good part of the operator's memory.
	decoding, publishing sync.Mutex
	memories             memories[comparisonMemory]
}

// comparisonMemory is what the operator remembers of a comparison from one step to the next. An operator that has just started
// finds everything in it again.
type comparisonMemory struct {
	basics
	// checked: the API server has accepted the runs of all variants.
	checked bool
	// measured is what was read from the results of runs, by the digest of these.
	measured map[string]*analysis.Measurements
	// named are the metrics that claims and plots are about, besides the headline metric.
	named []string
	// variables of the servers by variant, from its first complete run.
	variables map[string]map[string]string
	// judged is what the whole rounds said when there were so many.
	judged analysis.Verdicts
}

// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkcomparisons,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkcomparisons/status,verbs=get;patch
// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkcomparisons/finalizers,verbs=update
// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns,verbs=create;patch

// Reconcile takes a comparison one step further.
func (r *BenchmarkComparisonReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return reconcileOwner(ctx, r, req.NamespacedName, new(v1alpha1.BenchmarkComparison), new(v1alpha1.BenchmarkComparison))
}

// writer writes on behalf of a comparison.
func (r *BenchmarkComparisonReconciler) writer(comparison *v1alpha1.BenchmarkComparison) *writer {
	return r.writerFor(comparisonOwner(comparison), r.Metrics)
}

// SetupWithManager watches comparisons, all runs that have the name of a comparison in their label, and what makes load when it
// comes or goes.
func (r *BenchmarkComparisonReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return r.setUp(mgr, r, r.lanes, &v1alpha1.BenchmarkComparison{}, nil,
		watch{[]client.Object{&v1alpha1.BenchmarkRun{}}, enqueueOwner(v1alpha1.LabelComparison), nil},
		watch{[]client.Object{&batchv1.Job{}, &appsv1.StatefulSet{}, &corev1.Pod{}}, enqueueComparison(), nil},
	)
}

// comparisonStep is a step of a comparison.
type comparisonStep = step[*v1alpha1.BenchmarkComparison, *analysis.ComparisonPlan, *lifecycle.ComparisonObserved]

func (r *BenchmarkComparisonReconciler) base() *Base { return &r.Base }

func (r *BenchmarkComparisonReconciler) controller() string { return telemetry.ComparisonController }

func (r *BenchmarkComparisonReconciler) part(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison,
) (part, time.Duration, error) {
	return r.Installation.partIn(ctx, claimedComparison(comparison))
}

func (r *BenchmarkComparisonReconciler) decide(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison, reader client.Reader,
) (*comparisonStep, error) {
	s := &comparisonStep{owner: comparison, old: comparison.DeepCopy(), now: r.Clock.Now()}
	p, invalid := validation.PlanComparison(comparison)
	s.plan = p
	seen, err := r.observe(ctx, comparison, p, reader)
	if err != nil {
		s.seen = &lifecycle.ComparisonObserved{Blockers: r.unobserved()}
		return s, fmt.Errorf("observing: %w", err)
	}
	s.seen = seen
	r.complete(&s.seen.Blockers, r.basicsOf(comparison), lifecycle.InvalidVariant(invalid),
		lifecycle.ComparisonTurnRefused(comparison, r.MaxTurn), lifecycle.ComparisonLaneRefused(comparison, r.Lanes))
	r.next(s)
	return s, nil
}

func (r *BenchmarkComparisonReconciler) actOn(comparison *v1alpha1.BenchmarkComparison) {
	comparison.Status.Installation = r.Installation.identity()
}

func (r *BenchmarkComparisonReconciler) next(s *comparisonStep) {
	s.decision = lifecycle.NextOfComparison(s.owner, s.plan, s.seen, s.now)
}

func (r *BenchmarkComparisonReconciler) basicsOf(comparison *v1alpha1.BenchmarkComparison) *basics {
	return &r.memories.of(comparison).basics
}

func (r *BenchmarkComparisonReconciler) forget(comparison client.ObjectKey) {
	r.memories.forget(comparison)
}

func (r *BenchmarkComparisonReconciler) lookAgain(s *comparisonStep) time.Duration {
	return lookAgain(s.decision, s.owner.Status.Conditions, s.owner.Status.Deadline, s.now)
}

func (r *BenchmarkComparisonReconciler) writeStatus(ctx context.Context, s *comparisonStep) error {
	s.owner.Status = lifecycle.StatusOfComparison(s.owner, s.plan, s.seen, s.decision, s.now)
	events := becameTrue(comparisonConditions, s.old.Status.Conditions, s.owner.Status.Conditions)
	events = append(events, becameRefused(s.old.Status.Refusal, s.owner.Status.Refusal, s.owner.Status.Conditions)...)
	events = append(events, roundDisturbed(&s.old.Status, &s.owner.Status)...)
	c := changes{events, telemetry.OfComparison(s.owner, &s.old.Status)}
	if err := r.writer(s.owner).patchStatus(ctx, s.old, c); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}
