// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// BenchmarkRunReconciler carries out BenchmarkRuns.
type BenchmarkRunReconciler struct {
	Base
	// Logs of containers that have ended.
	Logs LogOpener
	// HostTuning has the namespaces whose runs may have the kernel settings of their database's node changed.
	HostTuning []string

	memories memories
	// decoding is held while a document is decoded: no matter who wrote it, that may take a good part of the operator's memory.
	decoding sync.Mutex
	// followers of the logs of loaders that run; nil without a manager.
	followers *followers
}

// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns/status,verbs=get;patch
// +kubebuilder:rbac:groups=benchrun.dev,resources=benchmarkruns/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=services;configmaps;persistentvolumeclaims,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create
// +kubebuilder:rbac:groups="",resources=events;nodes,verbs=list
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=k8s.mariadb.com,resources=mariadbs,verbs=get;list;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=list

// More permissions on Leases are for one namespace only, and stand with those of leader election.

// Reconcile takes a run one step further.
func (r *BenchmarkRunReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	run, lanes := new(v1alpha1.BenchmarkRun), r.lanes()
	if err := r.Get(ctx, req.NamespacedName, run); err != nil {
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
		r.forget(req.NamespacedName)
		return lanes.releaseAbandoned(ctx, req.NamespacedName, "")
	}
	is, after, err := r.Installation.partIn(ctx, run)
	if err != nil || is == bystander {
		return ctrl.Result{RequeueAfter: after}, err
	}
	s, err := r.takeStep(ctx, is, run)
	abandoned, left := lanes.releaseAbandoned(ctx, req.NamespacedName, run.UID)
	switch {
	case isStale(err):
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	r.memories.of(run).succeed()
	if s != nil {
		after = s.lookAgain()
	}
	return ctrl.Result{RequeueAfter: lifecycle.Sooner(after, abandoned.RequeueAfter)}, left
}

// writer writes on behalf of a run.
func (r *BenchmarkRunReconciler) writer(run *v1alpha1.BenchmarkRun) *writer {
	return r.writerFor(runOwner(run), r.Metrics)
}

// SetupWithManager watches runs, and all objects that have the name of a run in their label. Of ConfigMaps, which hold the
// results of all runs, only the metadata.
func (r *BenchmarkRunReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.followers = newFollowers(r.Logs, &r.decoding)
	if err := mgr.Add(r.followers); err != nil {
		return fmt.Errorf("following the logs of loaders: %w", err)
	}
	return r.setUp(mgr, r, r.lanes, &v1alpha1.BenchmarkRun{}, r.followers.told,
		watch{[]client.Object{&corev1.ConfigMap{}}, enqueueOwner(v1alpha1.LabelRun), []builder.WatchesOption{builder.OnlyMetadata}},
		watch{[]client.Object{
			&batchv1.Job{}, &appsv1.StatefulSet{}, &corev1.Pod{}, &corev1.Service{}, &corev1.PersistentVolumeClaim{},
			&policyv1.PodDisruptionBudget{},
		}, enqueueOwner(v1alpha1.LabelRun), nil},
	)
}

// decide what to do with a run that was read by the same reader. If what it has cannot be read, the step is blind.
func (r *BenchmarkRunReconciler) decide(ctx context.Context, run *v1alpha1.BenchmarkRun, reader client.Reader) (*runStep, error) {
	s := &runStep{run: run, old: run.DeepCopy(), now: r.Clock.Now()}
	p, invalid := validation.PlanRun(run)
	s.plan = p
	seen, err := r.observe(ctx, run, reader)
	if err != nil {
		s.seen = &lifecycle.Observed{Blockers: r.unobserved()}
		return s, fmt.Errorf("observing: %w", err)
	}
	s.seen = seen
	refusals := []*lifecycle.Failure{lifecycle.Invalid(invalid)}
	for variant := range plan.Sides(run) {
		one := plan.Side(run, variant, 1)
		refusals = append(refusals, lifecycle.HostTuningRefused(one, r.HostTuning),
			lifecycle.MariaDBOperatorRefused(one, !r.NoMariaDBOperator), lifecycle.LoaderRefused(one, r.Images))
	}
	refusals = append(refusals, lifecycle.RunTurnRefused(run, r.MaxTurn), lifecycle.RunLaneRefused(run, r.Lanes))
	r.complete(&s.seen.Blockers, r.memories.of(run), refusals...)
	r.next(s)
	return s, nil
}

// next decides, after something new was seen.
func (r *BenchmarkRunReconciler) next(s *runStep) {
	s.decision = lifecycle.Next(s.run, s.plan, s.seen, s.now)
	r.memories.of(s.run).compared = s.seen.Compared
}

// forget what is remembered of a run.
func (r *BenchmarkRunReconciler) forget(run client.ObjectKey) {
	r.memories.forget(run)
	r.followers.delivered(run, nil)
}

// writeStatus writes the status that follows from a step, announces what changed, and remembers its version.
func (r *BenchmarkRunReconciler) writeStatus(ctx context.Context, s *runStep) error {
	s.run.Status = lifecycle.Status(s.run, s.plan, s.seen, s.decision, s.now)
	c := changes{
		announcements(&s.old.Status, &s.run.Status, s.seen), telemetry.OfRun(s.run, &s.old.Status, s.seen.Records),
	}
	if err := r.writer(s.run).patchStatus(ctx, s.old, c); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	r.memories.of(s.run).reach(s.run)
	return nil
}
