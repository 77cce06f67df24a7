// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// Two installations whose managers elect their leaders in different namespaces do not know each other. Of those that see the same
// run, one acts on it: that which status.installation names, because it was the first to write that.

// LabelInstallation of a Lease of leader election is the name of the installation.
const LabelInstallation = "app.kubernetes.io/instance"

const (
	// goneAfter is how old the last renewal of an installation's Lease is when the installation counts as gone. A manager that is
	// updated, or whose node was lost, is back before.
	goneAfter = 5 * time.Minute
	// otherInterval is the time between two looks at an installation that acts on a run.
	otherInterval = 30 * time.Second
	// finishedInterval is the same for what has finished: there are many, and only their deletion is left.
	finishedInterval = time.Hour
)

// Installation is what this manager is a part of. A nil one is alone: it acts on everything.
type Installation struct {
	// Namespace has the Leases by which its managers elect a leader, and Name is their label.
	Namespace, Name string
	// Live reads the Leases of other installations.
	Live  *Live
	Clock clock.PassiveClock

	mutex sync.Mutex
	// others by their identities.
	others map[string]otherInstallation
}

type otherInstallation struct {
	looked time.Time
	state  installationState
}

// Settings of an installation, as its administrator has set them.
type Settings struct {
	lifecycle.Limits
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
}

// Scope has the namespaces that a manager works in; empty is all.
type Scope []string

// Runs in the scope, as a reader has them: those of a cache must not be changed.
func (s Scope) Runs(ctx context.Context, reader client.Reader) ([]v1alpha1.BenchmarkRun, error) {
	namespaces := []string(s)
	if len(s) == 0 {
		namespaces = []string{""}
	}
	var all []v1alpha1.BenchmarkRun
	for _, namespace := range namespaces {
		var runs v1alpha1.BenchmarkRunList
		if err := reader.List(ctx, &runs, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing runs: %w", err)
		}
		if len(namespaces) == 1 {
			return runs.Items, nil
		}
		all = append(all, runs.Items...)
	}
	return all, nil
}

func (i *Installation) identity() string { return i.Namespace + "/" + i.Name }

// part is what an installation has in what happens to a run.
type part int

const (
	// bystander: another installation acts.
	bystander part = iota
	// claimant: none acts yet, or not any more. The first status that this one writes says that it does; before, it does nothing. Of
	// two that do so, the API server lets one.
	claimant
	// actor: this one acts.
	actor
)

// partIn a run. After says when a bystander looks again; 0 is when the owner changes.
func (i *Installation) partIn(ctx context.Context, run *v1alpha1.BenchmarkRun) (is part, after time.Duration, err error) {
	by, finished := run.Status.Installation, apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
	switch {
	case i == nil, by == i.identity(), by == "" && finished:
		return actor, 0, nil
	case by == "":
		return claimant, 0, nil
	}
	state, err := i.stateOf(ctx, by)
	switch {
	case err != nil:
		return bystander, 0, err
	case state == gone, state == unknown && i.overdue(run, finished):
		ctrl.LoggerFrom(ctx).Info("Taking over from an installation that is gone", "installation", by)
		return claimant, 0, nil
	case finished:
		return bystander, finishedInterval, nil
	}
	return bystander, otherInterval, nil
}

// overdue says whether a run should have ended or, once it has finished, have been deleted some time ago: no installation acts on
// it any more.
func (i *Installation) overdue(run *v1alpha1.BenchmarkRun, finished bool) bool {
	due := run.Status.Deadline
	if finished {
		due = run.Status.ExpirationTime
	}
	return due != nil && i.Clock.Since(due.Time) > goneAfter
}

type installationState int

const (
	// present: a manager of it has renewed its Lease lately.
	present installationState = iota
	// gone: its Leases can be read, and none was renewed lately.
	gone
	// unknown: this installation may not read its Leases. Who acts for it is told by its runs alone.
	unknown
)

// stateOf another installation. What was seen is remembered for a while, and logged when it is new.
func (i *Installation) stateOf(ctx context.Context, other string) (installationState, error) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	now := i.Clock.Now()
	known, met := i.others[other]
	if met && now.Sub(known.looked) < otherInterval {
		return known.state, nil
	}
	state, err := i.look(ctx, other, now)
	if err != nil {
		return unknown, err
	}
	if i.others == nil {
		i.others = map[string]otherInstallation{}
	}
	i.others[other] = otherInstallation{now, state}
	if state != gone && !met {
		ctrl.LoggerFrom(ctx).Info("Another installation acts on runs that this one sees too, and leaves alone: remove one of them, or "+
			"have them watch different namespaces", "installation", other, "this", i.identity())
	}
	return state, nil
}

func (i *Installation) look(ctx context.Context, other string, now time.Time) (installationState, error) {
	namespace, name, _ := strings.Cut(other, "/")
	state := gone
	cut, err := i.Live.Some(ctx, new(coordinationv1.LeaseList), func(object runtime.Object) bool {
		lease, is := object.(*coordinationv1.Lease)
		if is && lease.Spec.RenewTime != nil && now.Sub(lease.Spec.RenewTime.Time) < goneAfter {
			state = present
		}
		return state != present
	}, client.InNamespace(namespace), client.MatchingLabels{LabelInstallation: name})
	switch {
	case apierrors.IsForbidden(err), cut:
		return unknown, nil
	case err != nil:
		return unknown, fmt.Errorf("listing the Leases of installation %s: %w", other, err)
	}
	return state, nil
}

// tolerated is by how much the clocks of the operator and of the API server may differ: an answer travels for a while, and its
// date has whole seconds.
const tolerated = 5 * time.Second

// APIClock is the API server's clock, as far as its answers say. What the operator waits for was created by that clock: one of
// its own that is five minutes ahead would find each object at its start deadline, and each Pod that is being deleted cut off.
type APIClock struct {
	clock.PassiveClock
	offset atomic.Int64
}

// Now implements clock.PassiveClock.
func (c *APIClock) Now() time.Time { return c.PassiveClock.Now().Add(time.Duration(c.offset.Load())) }

// Since implements clock.PassiveClock.
func (c *APIClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Wrap reads the dates of the answers that a transport gets.
func (c *APIClock) Wrap(transport http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := transport.RoundTrip(request)
		if err == nil {
			c.read(response.Header.Get("Date"))
		}
		return response, err
	})
}

// read the date of an answer that came just now. Small differences change nothing: time must not jump to and fro.
func (c *APIClock) read(date string) {
	at, err := http.ParseTime(date)
	if err != nil {
		return // a proxy that leaves it out
	}
	offset := at.Sub(c.PassiveClock.Now())
	if (offset - time.Duration(c.offset.Load())).Abs() > tolerated {
		c.offset.Store(int64(offset))
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
