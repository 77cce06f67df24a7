//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// installed are two installations that see the same runs, each with the Leases of its lanes in a namespace of its own.
type installed struct {
	*cluster
	one, two *BenchmarkRunReconciler
	leases   map[*BenchmarkRunReconciler]string
}

func newInstalled(t *testing.T) *installed {
	t.Helper()
	c := newCluster(t)
	i := &installed{cluster: c, one: c.newReconciler(), two: c.newReconciler(), leases: map[*BenchmarkRunReconciler]string{}}
	for r, name := range map[*BenchmarkRunReconciler]string{i.one: "one", i.two: "two"} {
		other := newCluster(t).namespace
		r.LaneNamespace, r.HostNamespace, i.leases[r] = other, other, other
		r.Installation = &Installation{Namespace: other, Name: name, Live: &Live{Reader: api}, Clock: c.clock}
		i.renew(r)
	}
	return i
}

// renew the Lease by which the managers of an installation elect their leader.
func (i *installed) renew(r *BenchmarkRunReconciler) {
	i.t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: i.leases[r], Name: "manager", Labels: map[string]string{LabelInstallation: r.Installation.Name},
	}}
	err := api.Get(i.t.Context(), client.ObjectKeyFromObject(lease), lease)
	if apierrors.IsNotFound(err) {
		err = api.Create(i.t.Context(), lease)
	}
	i.must(err)
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(i.clock.Now()))
	i.must(api.Update(i.t.Context(), lease))
}

// takes a turn of an installation, whatever comes of it.
func (i *installed) takes(r *BenchmarkRunReconciler, name string) {
	i.t.Helper()
	i.reconciler = r
	for range 5 {
		if _, err := i.try(name); err != nil {
			i.t.Logf("to be tried again: %v", err)
		}
	}
}

// claims takes a step of an installation that claims a run as it was read.
func (i *installed) claims(r *BenchmarkRunReconciler, run *v1alpha1.BenchmarkRun) (*runStep, error) {
	return r.takeStep(i.t.Context(), claimant, run)
}

// lanes that an installation holds.
func (i *installed) held(r *BenchmarkRunReconciler) int {
	i.t.Helper()
	var leases coordinationv1.LeaseList
	i.must(api.List(i.t.Context(), &leases, client.InNamespace(i.leases[r]), client.HasLabels{v1alpha1.LabelLane}))
	return len(leases.Items)
}

func TestEnvtestOneInstallationActs(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").Obj())
	i.takes(i.one, "run")
	i.takes(i.two, "run")
	if got, want := i.get("run").Status.Installation, i.one.Installation.identity(); got != want {
		t.Errorf("%q acts, want %q", got, want)
	}
	if one, two := i.held(i.one), i.held(i.two); one != 1 || two != 0 {
		t.Errorf("lanes that are held: %d by the first, %d by the second", one, two)
	}
	i.reconciler = i.one
	i.until("run", v1alpha1.ConditionComplete)
}

// The other one takes over when no manager of the first has renewed its Lease for a while, and not before: its manager may be
// updated.
func TestEnvtestInstallationThatIsGone(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.StartDeadlineSeconds = 3600
	}).Obj())
	i.takes(i.one, "run")
	i.clock.Step(goneAfter - time.Minute)
	i.takes(i.two, "run")
	if got := i.held(i.two); got != 0 {
		t.Fatalf("the second has %d lanes while the first is there", got)
	}
	i.clock.Step(2 * time.Minute)
	i.takes(i.two, "run")
	if got, want := i.get("run").Status.Installation, i.two.Installation.identity(); got != want {
		t.Errorf("%q acts, want %q", got, want)
	}
	i.until("run", v1alpha1.ConditionComplete)
}

// What has finished needs an installation too: it is deleted when its time is over. The other one takes that over as well, and
// not before.
func TestEnvtestFinishedRunOfAnInstallationThatIsGone(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.TTLSecondsAfterFinished = ptr.To[int32](3600)
	}).Obj())
	i.reconciler = i.one
	i.until("run", v1alpha1.ConditionComplete)
	i.clock.Step(2 * time.Hour)
	i.renew(i.one)
	i.takes(i.two, "run")
	if got, want := i.get("run").Status.Installation, i.one.Installation.identity(); got != want {
		t.Fatalf("%q acts while the first is there, want %q", got, want)
	}
	i.clock.Step(goneAfter + time.Minute)
	i.takes(i.two, "run")
	if err := i.exists(&v1alpha1.BenchmarkRun{}, "run"); !apierrors.IsNotFound(err) {
		t.Errorf("the run is still there: %v", err)
	}
}

// Who may not read the Leases of the other one leaves its runs alone until they are long past their deadline: none acts then.
func TestEnvtestInstallationThatMayNotBeRead(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").Obj())
	i.takes(i.one, "run")
	i.two.Installation.Live = &Live{Reader: forbidden{api}}
	i.clock.SetTime(i.get("run").Status.Deadline.Time)
	i.takes(i.two, "run")
	if got, want := i.get("run").Status.Installation, i.one.Installation.identity(); got != want {
		t.Errorf("%q acts, want %q", got, want)
	}
	i.clock.Step(goneAfter + time.Minute)
	i.takes(i.two, "run")
	if got, want := i.get("run").Status.Installation, i.two.Installation.identity(); got != want {
		t.Errorf("%q acts, want %q", got, want)
	}
	i.until("run", v1alpha1.ConditionFailed)
}

type forbidden struct{ client.Reader }

func (forbidden) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "", nil)
}

// Of two that look at a new run at the same time, with the same version of it, one acts; and not before everybody can see that.
func TestEnvtestInstallationsAtTheSameTime(t *testing.T) {
	for _, suspended := range []bool{false, true} {
		i := newInstalled(t)
		i.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = &suspended }).Obj())
		one, two := i.get("run"), i.get("run")
		if _, err := i.claims(i.one, one); err != nil {
			t.Errorf("the first: %v", err)
		}
		if _, err := i.claims(i.two, two); !apierrors.IsConflict(err) {
			t.Errorf("the second: %v, want a conflict", err)
		}
		if one, two := i.held(i.one), i.held(i.two); one != 0 || two != 0 {
			t.Errorf("lanes that are held by claimants: %d by the first, %d by the second", one, two)
		}
		status := i.get("run").Status
		if got, want := status.Installation, i.one.Installation.identity(); got != want {
			t.Errorf("%q acts, want %q", got, want)
		}
		if reported := len(status.Conditions) > 0; reported != suspended { // before it acts, a run that may go has nothing to say
			t.Errorf("suspended %t: the first status has conditions: %v", suspended, status.Conditions)
		}
	}
}

// A claim is what a claimant saw, not what came meanwhile.
func TestEnvtestClaimOfAnOwnerThatChanged(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.StartDeadlineSeconds = 3600
	}).Obj())
	seen := i.get("run")
	i.takes(i.one, "run")
	i.clock.SetTime(i.get("run").Status.Deadline.Add(time.Minute)) // that it failed is decided by live reads
	seen.Status.Deadline = i.get("run").Status.Deadline
	if _, err := i.claims(i.two, seen); !isStale(err) {
		t.Errorf("the second: %v, want that it is stale", err)
	}
	if got, want := i.get("run").Status.Installation, i.one.Installation.identity(); got != want {
		t.Errorf("%q acts, want %q", got, want)
	}
}

// pageIn is the page among results. It is whole, and has a plot, and what else it is to have.
func pageIn(t *testing.T, results *corev1.ConfigMap, name string, more ...string) {
	t.Helper()
	text := must.Get(result.UnpackFile(page.File, results.BinaryData))(t)
	for _, want := range append([]string{"<!DOCTYPE html>", "<title>" + name, "<svg", "</html>"}, more...) {
		if !bytes.Contains(bytes.ToLower(text), bytes.ToLower([]byte(want))) {
			t.Errorf("the page lacks %q:\n%.2000s", want, text)
		}
	}
}
