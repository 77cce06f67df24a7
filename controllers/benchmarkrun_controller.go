// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/podutil"
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
	// Clock for deadlines and records.
	Clock clock.PassiveClock
	// Images of the loader.
	Images podutil.Images
}

// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns/status,verbs=get;patch
// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=services;configmaps,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=pods;persistentvolumeclaims,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create
// +kubebuilder:rbac:groups="",resources=events;nodes,verbs=list
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=mariadbs,verbs=get;list;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile takes a run one step further.
func (r *BenchmarkRunReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var run v1alpha1.BenchmarkRun
	if err := r.Get(ctx, req.NamespacedName, &run); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if run.DeletionTimestamp != nil {
		return ctrl.Result{}, nil // what it owns is deleted with it
	}
	seen, err := r.observe(ctx, &run)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("observing: %w", err)
	}
	p, err := lifecycle.Plan(&run)
	if err != nil {
		seen.Obstacle = lifecycle.Invalid(err)
	}
	now := r.Clock.Now()
	decision := lifecycle.Next(&run, p, seen, now)
	if err := r.act(ctx, &run, p, seen, decision.Action); err != nil {
		obstacle := new(obstacleError)
		if !errors.As(err, &obstacle) {
			return ctrl.Result{}, fmt.Errorf("acting: %w", err)
		}
		seen.Obstacle = &obstacle.failure
		decision = lifecycle.Next(&run, p, seen, now)
	}
	old := run.DeepCopy()
	run.Status = lifecycle.Status(&run, p, seen, decision, now)
	if err := r.writer(&run).patchStatus(ctx, old, announcements(&old.Status, &run.Status, seen)); err != nil {
		return ctrl.Result{}, fmt.Errorf("writing the status: %w", err)
	}
	return ctrl.Result{RequeueAfter: decision.After}, nil
}

// writer writes on behalf of a run.
func (r *BenchmarkRunReconciler) writer(run *v1alpha1.BenchmarkRun) *writer {
	return &writer{Client: r.Client, live: r.Live, recorder: r.Recorder, owner: runOwner(run)}
}

// SetupWithManager watches runs, and all objects that have the name of a run in their label.
func (r *BenchmarkRunReconciler) SetupWithManager(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.BenchmarkRun{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4})
	for _, object := range []client.Object{
		&batchv1.Job{}, &appsv1.StatefulSet{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Service{},
		&corev1.PersistentVolumeClaim{}, &policyv1.PodDisruptionBudget{},
	} {
		b = b.Watches(object, enqueueOwner(v1alpha1.LabelRun))
	}
	return b.Complete(r)
}
