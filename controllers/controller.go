// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
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

// writerFor writes on behalf of an owner.
func (b *Base) writerFor(o owner, metrics *telemetry.Metrics) *writer {
	return &writer{
		Client: b.Client, live: b.Live, recorder: b.Recorder, metrics: metrics, owner: o, clusterUsers: b.ClusterUsers,
	}
}

// unobserved are the blockers of an owner that could not be observed.
func (b *Base) unobserved() lifecycle.Blockers {
	return lifecycle.Blockers{ObserveFailed: true, MaxTurn: b.MaxTurn, DefaultTTL: b.DefaultTTL}
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
