// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	Live  client.Reader
	Clock clock.PassiveClock

	mutex sync.Mutex
	// others by their identities.
	others map[string]otherInstallation
}

// otherInstallation is what was last seen of one.
type otherInstallation struct {
	looked time.Time
	state  installationState
}

// identity is what the status of a run names an installation.
func (i *Installation) identity() string { return i.Namespace + "/" + i.Name }

// claimed is an owner, and the place in its status that names the installation which acts on it.
type claimed struct {
	client.Object
	by       *string
	finished bool
	// due is when whoever acts ends it or, once it has finished, deletes it; nil if that is not known yet, or never.
	due *metav1.Time
}

func claimedRun(run *v1alpha1.BenchmarkRun) claimed {
	s := &run.Status
	return newClaimed(run, &s.Installation, s.Conditions, s.Deadline, s.ExpirationTime)
}

func claimedSuite(suite *v1alpha1.BenchmarkSuite) claimed {
	s := &suite.Status
	return newClaimed(suite, &s.Installation, s.Conditions, s.Deadline, s.ExpirationTime)
}

func newClaimed(owner client.Object, by *string, conditions []metav1.Condition, deadline, expires *metav1.Time) claimed {
	if apimeta.IsStatusConditionTrue(conditions, v1alpha1.ConditionFinished) {
		return claimed{owner, by, true, expires}
	}
	return claimed{owner, by, false, deadline}
}

// acts says whether this installation acts on an owner. If nobody does, it first writes that it will, and nothing else: of two
// that do so, the API server lets one. After says when to look again if it does not act; 0 is when the owner changes.
func (i *Installation) acts(ctx context.Context, w client.Client, o claimed) (acts bool, after time.Duration, err error) {
	switch {
	case i == nil, *o.by == i.identity(), *o.by == "" && o.finished:
		return true, 0, nil
	case *o.by == "":
		return false, 0, i.claim(ctx, w, o)
	}
	state, err := i.stateOf(ctx, *o.by)
	switch {
	case err != nil:
		return false, 0, err
	case state == gone, state == unknown && i.overdue(o):
		return false, 0, i.claim(ctx, w, o)
	case o.finished:
		return false, finishedInterval, nil
	}
	return false, otherInterval, nil
}

// overdue says whether something should have happened to an owner some time ago: nobody acts on it any more.
func (i *Installation) overdue(o claimed) bool {
	return o.due != nil && i.Clock.Since(o.due.Time) > goneAfter
}

// notNow is the result for an owner on which the installation does not act, or not yet.
func notNow(after time.Duration, err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: staleRetry}, nil // somebody was faster, or the cache is behind
	}
	return ctrl.Result{RequeueAfter: after}, err
}

// claim an owner. It fails with a conflict if somebody has written to it since it was read.
func (i *Installation) claim(ctx context.Context, w client.Client, o claimed) error {
	patch := client.MergeFromWithOptions(o.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{})
	before := *o.by
	*o.by = i.identity()
	err := w.Status().Patch(ctx, o.Object, patch, client.FieldOwner(v1alpha1.FieldOwner))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing status.installation: %w", err)
	}
	if before != "" && err == nil {
		ctrl.LoggerFrom(ctx).Info("Taken over from an installation that is gone", "installation", before)
	}
	return nil
}

// installationState is what is known of another installation.
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
	var leases coordinationv1.LeaseList
	err := i.Live.List(ctx, &leases, client.InNamespace(namespace), client.MatchingLabels{LabelInstallation: name})
	switch {
	case apierrors.IsForbidden(err):
		return unknown, nil
	case err != nil:
		return unknown, fmt.Errorf("listing the Leases of installation %s: %w", other, err)
	}
	for _, lease := range leases.Items {
		if lease.Spec.RenewTime != nil && now.Sub(lease.Spec.RenewTime.Time) < goneAfter {
			return present, nil
		}
	}
	return gone, nil
}

// actsOnRun says whether this installation acts on a run. A run of a suite is the suite's installation's.
func (i *Installation) actsOnRun(
	ctx context.Context, w client.Client, run *v1alpha1.BenchmarkRun,
) (acts bool, after time.Duration, err error) {
	of := lifecycle.MemberOf(run)
	if i == nil || of == nil || run.Status.Installation != "" {
		return i.acts(ctx, w, claimedRun(run))
	}
	var suite v1alpha1.BenchmarkSuite
	err = w.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: of.Name}, &suite)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return false, 0, fmt.Errorf("reading suite %s for its installation: %w", of.Name, err)
	case err == nil && suite.UID == of.UID && suite.Status.Installation != i.identity():
		return false, otherInterval, nil
	}
	return i.acts(ctx, w, claimedRun(run))
}
