// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers reads and writes the cluster for internal/lifecycle, which decides.
//
// A reconcile observes, decides, acts, patches the status once, and then sends events. It never blocks. Every object that belongs
// to a run has the run's name in a label and is watched, so that each change leads to the next reconcile; while something waits
// that is not watched (the cluster's warnings, a MariaDB resource), lifecycle asks for another reconcile after some seconds.
//
// Files:
//
//	benchmarkrun_controller.go  Reconcile, the permissions, what is watched, and what is announced of a new status
//	controller.go               observes, decides, acts, and writes the status; what is remembered from one step to the next
//	benchmarkrun_observe.go     reads the run's objects from the cache, and past it before a decision that cannot be taken back;
//	                            what else is on a database's node
//	records.go                  reads the chain of records
//	clusterwarnings.go          reads warning events, and logs: that of a server that failed to start
//	benchmarkrun_act.go         carries out actions; checks variants, and records where each was measured
//	benchmarkrun_results.go     creates the ConfigMaps of attempts and of results, with the report page
//	benchmarkrun_documents.go   reads the result document from a loader's log, and follows the logs of loaders that run
//	provide.go                  creates the objects of a database instance
//	lanes.go                    reads, takes and releases a lane: a Lease; whom a change of a run or a Lease wakes in its queue
//	installation.go             which of several installations acts on a run
//	ours.go                     what was made of what, by controller references, and whether it still loads a node
//	instances.go                reads and removes database instances, each of a variant
//	live.go                     what is kept of each object in the cache; reads past it: lists in pages, and of what strangers
//	                            have made only so much
//	writer.go                   who owns an object: this run, an earlier one of the same name, or a third party; creates, deletes,
//	                            and patches the status
//	store.go                    writes records, once, and results
//	hosttuning_controller.go    tunes and restores nodes that have a Lease for that, also when their runs are gone
//
// The names of objects follow from the run alone. With a stale cache, or beside a second operator, a create therefore ends with
// AlreadyExists, and never makes a second Job for an attempt.
package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// RunReconciler carries out BenchmarkRuns.
type RunReconciler struct {
	client.Client
	// Live reads from the API server, where a stale answer of the cache would do harm.
	Live *Live
	// Logs of containers that have ended.
	Logs LogOpener
	// Recorder of events.
	Recorder events.EventRecorder
	// Metrics of what changes, or nil.
	Metrics *telemetry.Metrics
	// Clock for deadlines and records.
	Clock clock.PassiveClock
	Settings
	// Installation that the manager is a part of, or nil: it is alone.
	Installation *Installation

	// queues of lanes, as watches tell of them; nil without any.
	queues   *laneQueues
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
func (r *RunReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	run := new(v1alpha1.BenchmarkRun)
	if err := r.Get(ctx, req.NamespacedName, run); err != nil {
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
		r.forget(req.NamespacedName)
		return r.releaseAbandoned(ctx, req.NamespacedName, "")
	}
	is, after, err := r.Installation.partIn(ctx, run)
	if err != nil || is == bystander {
		return ctrl.Result{RequeueAfter: after}, err
	}
	s, err := r.takeStep(ctx, is, run)
	abandoned, left := r.releaseAbandoned(ctx, req.NamespacedName, run.UID)
	switch {
	case isStale(err):
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	case err != nil:
		return ctrl.Result{}, err
	}
	remembered := r.memories.of(run)
	remembered.failures, remembered.last = 0, nil
	if s != nil {
		after = s.lookAgain()
	}
	return ctrl.Result{RequeueAfter: lifecycle.Sooner(after, abandoned.RequeueAfter)}, left
}

const (
	// firstRetry and lastRetry are the shortest and the longest time after which a step that failed is tried again. What a person
	// has mended, a quota for example, is found within the longest.
	firstRetry, lastRetry = 200 * time.Millisecond, 30 * time.Second
	// staleRetry is the time after which a step is tried again that found the cache behind the API server.
	staleRetry = 100 * time.Millisecond
	// workers is how many runs are taken a step further at the same time: one whose step takes long does not hold up the others.
	workers = 4
)

// SetupWithManager watches runs, Leases for the queues of lanes, and all objects that have the name of a run in their label; and
// hears which loaders have delivered. Of ConfigMaps, which hold the results of all runs, it watches only the metadata.
func (r *RunReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.queues, r.followers = new(laneQueues), newFollowers(r.Logs, &r.decoding)
	if err := mgr.Add(r.followers); err != nil {
		return fmt.Errorf("following the logs of loaders: %w", err)
	}
	c := ctrl.NewControllerManagedBy(mgr).For(&v1alpha1.BenchmarkRun{}).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		}).
		WatchesRawSource(source.Channel(r.followers.told, &handler.EnqueueRequestForObject{})).
		Watches(&corev1.ConfigMap{}, enqueueOwner(), builder.OnlyMetadata).
		Watches(&v1alpha1.BenchmarkRun{}, r.enqueueNext()).
		Watches(&coordinationv1.Lease{}, handler.EnqueueRequestsFromMapFunc(r.waitFor))
	for _, object := range []client.Object{
		&batchv1.Job{}, &appsv1.StatefulSet{}, &corev1.Pod{}, &corev1.Service{}, &corev1.PersistentVolumeClaim{},
		&policyv1.PodDisruptionBudget{},
	} {
		c = c.Watches(object, enqueueOwner())
	}
	return c.Complete(r)
}

// decide what to do with a run that was read by the same reader. If what it has cannot be read, the step is blind.
func (r *RunReconciler) decide(ctx context.Context, run *v1alpha1.BenchmarkRun, reader client.Reader) (*runStep, error) {
	p, invalid := validation.PlanRun(run)
	s := &runStep{run: run, old: run.DeepCopy(), plan: p, now: r.Clock.Now()}
	seen, err := r.observe(ctx, run, reader)
	if err != nil {
		s.seen = &lifecycle.Observed{Blockers: lifecycle.Blockers{ObserveFailed: true, MaxTurn: r.MaxTurn, DefaultTTL: r.DefaultTTL}}
		return s, fmt.Errorf("observing: %w", err)
	}
	s.seen = seen
	seen.MaxTurn, seen.DefaultTTL = r.MaxTurn, r.DefaultTTL
	seen.RetryError, seen.Unwritten = r.memories.of(run).reported()
	seen.Terminal = cmp.Or(lifecycle.Invalid(invalid), r.Refused(run), seen.Terminal)
	r.next(s)
	return s, nil
}

// next decides, after something new was seen.
func (r *RunReconciler) next(s *runStep) {
	s.decision = lifecycle.Next(s.run, s.plan, s.seen, s.now)
	r.memories.of(s.run).compared = s.seen.Compared
}

func (r *RunReconciler) forget(run client.ObjectKey) {
	r.memories.forget(run)
	r.followers.delivered(run, nil)
}

func (r *RunReconciler) writeStatus(ctx context.Context, s *runStep) error {
	s.run.Status = lifecycle.Status(s.run, s.plan, s.seen, s.decision, s.now)
	list := announcements(&s.old.Status, &s.run.Status, s.seen)
	transitions := telemetry.OfRun(s.run, &s.old.Status, s.seen.Records)
	written, err := r.writer(s.run).patchStatus(ctx, s.old)
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	if written { // each change is told once
		for _, a := range list {
			r.Recorder.Eventf(s.run, nil, a.kind, a.reason, a.action, "%s", a.message)
		}
		r.Metrics.Count(transitions)
		for i := range transitions {
			log.FromContext(ctx).Info("Transition", transitions[i].KeysAndValues()...)
		}
	}
	r.memories.of(s.run).reach(s.run)
	return nil
}

type announcement struct{ kind, reason, action, message string }

// maxNote is how many bytes the text of an event may have; the API server refuses one that has more.
const maxNote = 1024

var runConditions = []struct{ condition, kind, action string }{
	{v1alpha1.ConditionAdmitted, corev1.EventTypeNormal, "Admit"},
	{v1alpha1.ConditionDatabaseReady, corev1.EventTypeNormal, "Provide"},
	{v1alpha1.ConditionSuspended, corev1.EventTypeNormal, "Suspend"},
	{v1alpha1.ConditionComplete, corev1.EventTypeNormal, "Finish"},
	{v1alpha1.ConditionFailed, corev1.EventTypeWarning, "Finish"},
}

func announcements(old, status *v1alpha1.BenchmarkRunStatus, seen *lifecycle.Observed) []announcement {
	var list []announcement
	add := func(kind, reason, action, message string) {
		list = append(list, announcement{kind, reason, action, result.Truncate(message, maxNote)})
	}
	if ptr.Deref(status.Trials.Invalidated, 0) > ptr.Deref(old.Trials.Invalidated, 0) {
		counted := int(ptr.Deref(old.Trials.Measured, 0) + ptr.Deref(old.Trials.Invalidated, 0))
		for _, r := range seen.Records[min(len(seen.Records), counted):] {
			if r.Outcome == result.OutcomeInvalidated {
				add(corev1.EventTypeWarning, "AttemptInvalidated", "Measure",
					fmt.Sprintf("trial %d, attempt %d: %s: %s", r.Trial, r.Attempt, r.Cause, r.Message))
			}
		}
	}
	for _, h := range status.HostTuning {
		if notRestored(h) && !slices.ContainsFunc(old.HostTuning, func(b v1alpha1.HostTuningStatus) bool {
			return notRestored(b) && b.Node == h.Node
		}) {
			add(corev1.EventTypeWarning, "HostNotRestored", "Restore", fmt.Sprintf("node %s was not restored: %s", h.Node, h.Message))
		}
	}
	c := apimeta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if c != nil && c.Reason == v1alpha1.ReasonRefused && status.Refusal.Object != old.Refusal.Object {
		add(corev1.EventTypeWarning, c.Reason, "Create", c.Message)
	}
	for _, a := range runConditions {
		c := apimeta.FindStatusCondition(status.Conditions, a.condition)
		if c != nil && c.Status == metav1.ConditionTrue && !apimeta.IsStatusConditionTrue(old.Conditions, a.condition) {
			add(a.kind, c.Reason, a.action, c.Message)
		}
	}
	return list
}

func notRestored(h v1alpha1.HostTuningStatus) bool { return !ptr.Deref(h.Restored, true) }
