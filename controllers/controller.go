// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
)

type runStep struct {
	run *v1alpha1.BenchmarkRun
	// old is the run as it was read.
	old      *v1alpha1.BenchmarkRun
	plan     *plan.Plan
	seen     *lifecycle.Observed
	decision lifecycle.Decision
	now      time.Time
}

// takeStep observes, decides, acts, and writes the status. What cannot be taken back is decided again on live reads, with the
// run read anew. Nothing is decided about a run that is older than what was decided about before. A claimant only
// claims it, so that no other installation has begun as well.
func (r *BenchmarkRunReconciler) takeStep(ctx context.Context, is part, run *v1alpha1.BenchmarkRun) (*runStep, error) {
	m := r.memories.of(run)
	if m.isAbove(run) {
		return nil, r.behind(ctx, run)
	}
	s, err := r.decide(ctx, run, r.Client)
	if is == claimant {
		m.reach(run)
		return nil, r.claimRun(ctx, s, err == nil)
	}
	if err == nil && s.decision.Irrevocable() {
		fresh := new(v1alpha1.BenchmarkRun)
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), fresh); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		if fresh.UID != run.UID {
			return nil, errStale
		}
		s, err = r.decide(ctx, fresh, r.Live)
	}
	m.reach(s.run)
	if err == nil {
		err = r.carryOut(ctx, s)
	}
	switch {
	case isStale(err):
		return nil, err
	case err != nil && !r.reportsRetries(s, err):
		return nil, err
	}
	if err := r.writeStatus(ctx, s); err != nil {
		return nil, err
	}
	return s, err
}

// claimRun claims a run that was read by the cache: the write leads to the next step, which acts. If there is nothing to be done
// yet, the status says so at once; otherwise it would tell of what has not begun.
func (r *BenchmarkRunReconciler) claimRun(ctx context.Context, s *runStep, decided bool) error {
	s.run.Status.Installation = r.Installation.identity()
	if _, waits := s.decision.Action.(lifecycle.Wait); decided && waits && !s.decision.Irrevocable() {
		return r.writeStatus(ctx, s)
	}
	if err := r.writer(s.run).patchStatus(ctx, s.old, changes{}); err != nil {
		return fmt.Errorf("writing status.installation: %w", err)
	}
	r.memories.of(s.run).reach(s.run)
	return nil
}

// behind is errStale: the cache has an older version of the run than the operator has seen. If the API server has none that is
// newer, it was restored from a backup, and what is remembered did not happen.
func (r *BenchmarkRunReconciler) behind(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	fresh := new(v1alpha1.BenchmarkRun)
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), fresh); err != nil {
		return client.IgnoreNotFound(err)
	}
	if r.memories.of(run).isAbove(fresh) {
		r.forget(client.ObjectKeyFromObject(run))
	}
	return errStale
}

// carryOut the decision. A terminal error becomes a new decision, and so does an object that is refused. What was written becomes
// a part of what was seen, so that the status reports it at once. Checking writes nothing: the next decision follows, on live
// reads if it cannot be taken back.
func (r *BenchmarkRunReconciler) carryOut(ctx context.Context, s *runStep) error {
	action := s.decision.Action
	if _, remove := action.(lifecycle.RemoveDatabase); remove {
		// The number of an instance that is removed must never be used again, whatever happens next.
		if err := r.writeStatus(ctx, s); err != nil {
			return err
		}
		s.old = s.run.DeepCopy()
	}
	retries := &r.memories.of(s.run).retries
	if refused := retries.refusedLately(action, s.now); refused != nil {
		s.seen.Refused = refused
		r.next(s)
		return nil
	}
	err := r.act(ctx, s, action)
	terminal, refused, unwritten := new(terminalError), new(refusedError), new(unwrittenError)
	switch {
	case errors.As(err, &unwritten):
		return fmt.Errorf("acting: %w", err)
	case errors.As(err, &terminal):
		s.seen.Terminal = &terminal.failure
		r.next(s)
		return nil
	case errors.As(err, &refused):
		if a, ok := action.(lifecycle.ProvideDatabase); ok {
			refused.Instance = a.Instance
		}
		s.seen.Refused = &refused.Refusal
		r.next(s)
		retries.refusal, retries.refused, retries.again = &refused.Refusal, reflect.TypeOf(action), s.now.Add(s.decision.After)
		return nil
	case err != nil:
		return fmt.Errorf("acting: %w", err)
	}
	switch action.(type) {
	case lifecycle.CheckVariants:
		return errStale
	case lifecycle.TakeLane, lifecycle.RecordAttempt, lifecycle.Publish:
		r.next(s)
		s.decision.Action = lifecycle.Wait{}
	}
	return nil
}

// reportsRetries notes a step that failed, and says whether the status reports it: not before the same step has failed several
// times.
func (r *BenchmarkRunReconciler) reportsRetries(s *runStep, err error) bool {
	retries, blockers := &r.memories.of(s.run).retries, &s.seen.Blockers
	retries.failures, retries.last = retries.failures+1, err
	blockers.RetryError, blockers.Unwritten = retries.reported()
	if blockers.RetryError == "" {
		return false
	}
	r.next(s)
	s.decision.Action = lifecycle.Wait{}
	return true
}

// lookAgain is when to look at the run again if nothing happens before: at its deadline at the latest.
func (s *runStep) lookAgain() time.Duration {
	d, deadline := s.decision, s.run.Status.Deadline
	if apimeta.IsStatusConditionTrue(s.run.Status.Conditions, v1alpha1.ConditionFinished) || deadline == nil || d.Pauses() {
		return d.After
	}
	left := max(firstRetry, deadline.Sub(s.now))
	if d.After == 0 {
		return left
	}
	return min(d.After, left)
}

const (
	// firstRetry and lastRetry are the shortest and the longest time after which a step that failed is tried again. What a person
	// has mended, a quota for example, is found within the longest.
	firstRetry, lastRetry = 200 * time.Millisecond, 30 * time.Second
	// staleRetry is the time after which a step is tried again that found the cache behind the API server.
	staleRetry = 100 * time.Millisecond
)

// workers is how many owners of a kind are taken a step further at the same time: one whose step takes long does not hold up the
// others.
const workers = 4

// Base is what the reconcilers have in common.
type Base struct {
	client.Client
	// Live reads from the API server, where a stale answer of the cache would do harm.
	Live *Live
	// Recorder of events.
	Recorder events.EventRecorder
	// Metrics of what changes, or nil.
	Metrics *telemetry.Metrics
	// Clock for deadlines and records.
	Clock clock.PassiveClock
	// Images of the loader.
	Images podutil.Images
	// Scope to work in.
	Scope Scope
	// LaneNamespace has the Leases of the lanes, HostNamespace those of tuned nodes.
	LaneNamespace, HostNamespace string
	// NameOthers lets results and statuses name what is in other namespaces: Pods on a database's node, and who holds a lane or a
	// node.
	NameOthers bool
	// ClusterUsers leaves users and groups of the Pods of runs to the cluster.
	ClusterUsers bool
	// NetworkPolicies has servers and observers closed to all Pods but those of their run.
	NetworkPolicies bool
	// NoMariaDBOperator says that the manager has no rights on the MariaDB operator's kind: no run has its database from it.
	NoMariaDBOperator bool
	// Installation that the manager is a part of, or nil: it is alone.
	Installation *Installation
	// Lanes are those that may be asked for; none is all.
	Lanes []string
	// MaxTurn is for how long an owner may have its lane; 0 is without a bound.
	MaxTurn time.Duration
	// DefaultTTL is after how long a finished owner is deleted that sets no spec.ttlSecondsAfterFinished; 0 is never.
	DefaultTTL time.Duration

	// queues of lanes, as watches tell of them; nil without any.
	queues *laneQueues
}

// complete what was observed with what the installation bounds, with what is remembered of earlier steps, and with why the
// specification is refused: the first failure that is not nil, which comes before those that were observed.
func (b *Base) complete(seen *lifecycle.Blockers, remembered *memory, refused ...*lifecycle.Failure) {
	seen.MaxTurn, seen.DefaultTTL = b.MaxTurn, b.DefaultTTL
	seen.RetryError, seen.Unwritten = remembered.reported()
	if failure := cmp.Or(refused...); failure != nil {
		seen.Terminal = failure
	}
}

// watch leads from objects that change to owners.
type watch struct {
	objects []client.Object
	leads   handler.EventHandler
	options []builder.WatchesOption
}

// setUp a controller of runs. It watches them, and Leases for the queues of lanes, and hears what it is told of runs.
func (b *Base) setUp(
	mgr ctrl.Manager, r reconcile.Reconciler, lanes func() *lanes, kind client.Object,
	told <-chan event.GenericEvent, watches ...watch,
) error {
	b.queues = new(laneQueues)
	watches = append(watches,
		watch{[]client.Object{&v1alpha1.BenchmarkRun{}}, lanes().enqueueNext(), nil},
		watch{[]client.Object{&coordinationv1.Lease{}}, handler.EnqueueRequestsFromMapFunc(lanes().waitFor), nil},
	)
	c := ctrl.NewControllerManagedBy(mgr).For(kind).WithOptions(controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
	})
	if told != nil {
		c = c.WatchesRawSource(source.Channel(told, &handler.EnqueueRequestForObject{}))
	}
	for _, w := range watches {
		for _, object := range w.objects {
			c = c.Watches(object, w.leads, w.options...)
		}
	}
	return c.Complete(r)
}
