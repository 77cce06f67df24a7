// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
)

// BenchmarkComparisonReconciler carries out BenchmarkComparisons: it creates their runs, one after the other, and compares these.
type BenchmarkComparisonReconciler struct {
	client.Client
	// Live reads from the API server, where a stale answer of the cache would do harm.
	Live client.Reader
	// Recorder of events.
	Recorder events.EventRecorder
	// Metrics of what changes, or nil.
	Metrics *telemetry.Metrics
	// Clock for deadlines.
	Clock clock.PassiveClock
	// Images of the loader, which the runs of a comparison share.
	Images podutil.Images
	// Namespace is the only one to work in; empty is all. LaneNamespace has the Leases of the lanes.
	Namespace, LaneNamespace string
	// HostNamespace has the Leases of tuned nodes.
	HostNamespace string
	// NameOthers lets the status name who holds a lane in another namespace.
	NameOthers bool
	// Installation that the manager is a part of, or nil: it is alone.
	Installation *Installation
	// MaxTurn is for how long a comparison may have its lane; 0 is without a bound.
	MaxTurn time.Duration
	// DefaultTTL is after how long a finished comparison is deleted that sets no spec.ttlSecondsAfterFinished; 0 is never.
	DefaultTTL time.Duration

	// decoding is held while a document is decoded.
	decoding sync.Mutex
	memories memories[comparisonMemory]
	// queues of lanes, as watches tell of them; nil without any.
	queues *laneQueues
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
	var comparison v1alpha1.BenchmarkComparison
	if err := r.Get(ctx, req.NamespacedName, &comparison); err != nil {
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
		r.memories.forget(req.NamespacedName)
		return r.lanes().releaseAbandoned(ctx, req.NamespacedName, "")
	}
	is, after, err := r.Installation.partIn(ctx, claimedComparison(&comparison))
	if err != nil || is == bystander {
		return ctrl.Result{RequeueAfter: after}, err
	}
	after, err = r.step(ctx, &comparison, is)
	abandoned, left := r.lanes().releaseAbandoned(ctx, req.NamespacedName, comparison.UID)
	if err != nil {
		r.Metrics.Fail(telemetry.ComparisonController, isStale(err), err)
	}
	switch {
	case isStale(err):
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	r.memories.of(&comparison).succeed()
	return ctrl.Result{RequeueAfter: lifecycle.Sooner(after, abandoned.RequeueAfter)}, left
}

// writer writes on behalf of a comparison.
func (r *BenchmarkComparisonReconciler) writer(comparison *v1alpha1.BenchmarkComparison) *writer {
	return &writer{Client: r.Client, live: r.Live, recorder: r.Recorder, metrics: r.Metrics, owner: comparisonOwner(comparison)}
}

// SetupWithManager watches comparisons, all runs that have the name of a comparison in their label, and what makes load when it
// comes or goes; and runs, comparisons and Leases for the queues of lanes. One comparison is reconciled at a time: the results of
// a run may be large.
func (r *BenchmarkComparisonReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.queues = new(laneQueues)
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.BenchmarkComparison{}).
		WithOptions(controller.Options{
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		}).
		Watches(&v1alpha1.BenchmarkRun{}, enqueueOwner(v1alpha1.LabelComparison)).
		Watches(&v1alpha1.BenchmarkRun{}, r.lanes().enqueueNext()).
		Watches(&v1alpha1.BenchmarkComparison{}, r.lanes().enqueueNext()).
		Watches(&coordinationv1.Lease{}, handler.EnqueueRequestsFromMapFunc(r.lanes().waitFor))
	for _, object := range []client.Object{&batchv1.Job{}, &appsv1.StatefulSet{}, &corev1.Pod{}} {
		b = b.Watches(object, enqueueComparison())
	}
	return b.Complete(r)
}
