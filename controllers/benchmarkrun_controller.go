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
	policyv1 "k8s.io/api/policy/v1"
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
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
)

const (
	// firstRetry and lastRetry are the shortest and the longest time after which a step that failed is tried again. What a person
	// has mended, a quota for example, is found within the longest.
	firstRetry, lastRetry = 200 * time.Millisecond, 30 * time.Second
	// staleRetry is the time after which a step is tried again that found the cache behind the API server.
	staleRetry = 100 * time.Millisecond
)

// BenchmarkRunReconciler carries out BenchmarkRuns.
type BenchmarkRunReconciler struct {
	client.Client
	// Live reads from the API server, where a stale answer of the cache would do harm.
	Live client.Reader
	// Logs of containers that have ended.
	Logs LogOpener
	// Recorder of events.
	Recorder events.EventRecorder
	// Metrics of what changes, or nil.
	Metrics *telemetry.Metrics
	// Clock for deadlines and records.
	Clock clock.PassiveClock
	// Images of the loader.
	Images podutil.Images
	// Namespace is the only one to work in; empty is all. LaneNamespace has the Leases of the lanes.
	Namespace, LaneNamespace string
	// Installation that the manager is a part of, or nil: it is alone.
	Installation *Installation
	// MaxTurn is for how long a run may have its lane; 0 is without a bound.
	MaxTurn time.Duration
	// DefaultTTL is after how long a finished run is deleted that sets no spec.ttlSecondsAfterFinished; 0 is never.
	DefaultTTL time.Duration
	// HostTuningAllowed says whether runs may have the kernel settings of their database's node changed, by HostTuningReconciler.
	// HostNamespace has the Leases of tuned nodes.
	HostTuningAllowed bool
	HostNamespace     string
	// NameOthers lets results and statuses name what is in other namespaces: Pods on a database's node, and who holds a lane or a
	// node.
	NameOthers bool

	memories memories[memory]
	// queues of lanes, as watches tell of them; nil without any.
	queues *laneQueues
	// decoding is held while a document is decoded: whoever wrote it, that may take a good part of the operator's memory.
	decoding sync.Mutex
}

// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns/status,verbs=get;patch
// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=services;configmaps;persistentvolumeclaims,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create
// +kubebuilder:rbac:groups="",resources=events;nodes,verbs=list
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=mariadbs,verbs=get;list;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=list

// More permissions on Leases are for one namespace only, and stand with those of leader election.

// Reconcile takes a run one step further.
func (r *BenchmarkRunReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var run v1alpha1.BenchmarkRun
	if err := r.Get(ctx, req.NamespacedName, &run); err != nil {
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
		r.memories.forget(req.NamespacedName)
		return r.lanes().releaseAbandoned(ctx, req.NamespacedName, "")
	}
	is, after, err := r.Installation.partInRun(ctx, r.Client, &run)
	if err != nil || is == bystander {
		return ctrl.Result{RequeueAfter: after}, err
	}
	after, err = r.step(ctx, &run, is)
	abandoned, left := r.lanes().releaseAbandoned(ctx, req.NamespacedName, run.UID)
	if err != nil {
		r.Metrics.Fail(telemetry.RunController, isStale(err), err)
	}
	switch {
	case isStale(err):
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	r.memories.of(&run).succeed()
	return ctrl.Result{RequeueAfter: lifecycle.Sooner(after, abandoned.RequeueAfter)}, left
}

// writer writes on behalf of a run.
func (r *BenchmarkRunReconciler) writer(run *v1alpha1.BenchmarkRun) *writer {
	return &writer{Client: r.Client, live: r.Live, recorder: r.Recorder, metrics: r.Metrics, owner: runOwner(run)}
}

// databaseWriter writes on behalf of the owner of a run's database: the run, or its comparison.
func (r *BenchmarkRunReconciler) databaseWriter(run *v1alpha1.BenchmarkRun) *writer {
	return &writer{Client: r.Client, live: r.Live, recorder: r.Recorder, owner: databaseOwner(run)}
}

// SetupWithManager watches runs, comparisons and Leases for the queues of lanes, and all objects that have the name of a run in
// their label. Of ConfigMaps, which hold the results of all runs, only the metadata.
func (r *BenchmarkRunReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.queues = new(laneQueues)
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.BenchmarkRun{}).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 4,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		}).
		Watches(&v1alpha1.BenchmarkRun{}, r.lanes().enqueueNext()).
		Watches(&v1alpha1.BenchmarkComparison{}, r.lanes().enqueueNext()).
		Watches(&v1alpha1.BenchmarkComparison{}, enqueueCurrent()).
		Watches(&coordinationv1.Lease{}, handler.EnqueueRequestsFromMapFunc(r.lanes().waitFor)).
		WatchesMetadata(&corev1.ConfigMap{}, r.enqueueRuns())
	for _, object := range []client.Object{
		&batchv1.Job{}, &appsv1.StatefulSet{}, &corev1.Pod{}, &corev1.Service{}, &corev1.PersistentVolumeClaim{},
		&policyv1.PodDisruptionBudget{},
	} {
		b = b.Watches(object, r.enqueueRuns())
	}
	return b.Complete(r)
}
