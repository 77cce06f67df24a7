//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

var errKilled = errors.New("the manager was killed")

// mortal is a client that dies after its n-th write: the write takes place, its answer is never seen.
type mortal struct {
	writes, dieAfter int
	dead             bool
	// leases are the numbers of the writes of Leases, and shared those of the objects of a database that runs share.
	leases, shared []int
}

// note a write that is about to take place.
func (m *mortal) note(o client.Object) {
	if _, lease := o.(*coordinationv1.Lease); lease {
		m.leases = append(m.leases, m.writes+1)
	}
	if ofDatabase(o) && o.GetLabels()[v1alpha1.LabelRun] == "" {
		m.shared = append(m.shared, m.writes+1)
	}
}

func (m *mortal) write(do func() error) error {
	if m.dead {
		return errKilled
	}
	err := do()
	if m.writes++; m.writes == m.dieAfter {
		m.dead = true
		return errKilled
	}
	return err
}

func (m *mortal) client() client.Client {
	return interceptor.NewClient(api, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			m.note(o)
			return m.write(func() error { return c.Create(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			m.note(o)
			return m.write(func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			return m.write(func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return m.write(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return m.write(func() error { return c.Update(ctx, o, opts...) })
		},
	})
}

// TestEnvtestWritesPerTrial counts what a trial on a reused database costs the API server, Events not counted: the Job, the
// status that names it, the record, the status that names this, the Job's deletion.
func TestEnvtestWritesPerTrial(t *testing.T) {
	writes := func(trials int32) int {
		c := newCluster(t)
		m := &mortal{}
		c.reconciler.Client = m.client()
		c.apply(testutil.MakeRun("run", "").Repetitions(trials).Obj())
		c.until("run", v1alpha1.ConditionComplete)
		return m.writes
	}
	few, many := writes(2), writes(6)
	perTrial := float64(many-few) / 4
	fmt.Printf("API writes per trial: %.2f\n", perTrial)
	if perTrial > 5 {
		t.Errorf("a trial takes %.2f API writes (2 trials: %d, 6 trials: %d), want 5", perTrial, few, many)
	}
}

// outcome is everything that must not depend on when the manager was killed.
type outcome struct {
	Attempts []string
	Jobs     map[string]int
	Headline string
	Progress string
	Complete bool
}

// TestEnvtestCrashAfterEveryWrite kills the manager after its n-th write, for every n of a whole run with an invalidated
// attempt, and starts another: the end is the same each time, and no Job is made twice.
func TestEnvtestCrashAfterEveryWrite(t *testing.T) {
	t.Parallel()
	want, writes := crashAfter(t, 0)
	var all []int
	for n := range writes {
		all = append(all, n+1)
	}
	killedAfter(t, all, func(t *testing.T, n int) {
		got, _ := crashAfter(t, n)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed after write %d of %d (-undisturbed +killed):\n%s", n, writes, diff)
		}
	})
	fmt.Printf("crash after every write: n = %d\n", writes)
}

// killedAfter runs a scenario in which the manager is killed after a write, for each of these writes, several at a time: each has
// a namespace and lanes of its own.
func killedAfter(t *testing.T, writes []int, scenario func(t *testing.T, n int)) {
	t.Helper()
	for _, n := range writes {
		t.Run(fmt.Sprintf("write %d", n), func(t *testing.T) {
			t.Parallel()
			scenario(t, n)
		})
	}
}

func crashAfter(t *testing.T, n int) (outcome, int) {
	t.Helper()
	c := newCluster(t)
	m := &mortal{dieAfter: n}
	c.reconciler.Client = m.client()
	fine := c.loader
	c.loader = c.failSilently("")
	c.apply(testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(1).Obj())
	settled := 0
	w := newWorld(c, rand.New(rand.NewPCG(uint64(n), 0)))
	for range 400 {
		w.pass()
		_, err := c.reconciler.Reconcile(t.Context(), ctrl.Request{
			NamespacedName: client.ObjectKey{Namespace: c.namespace, Name: "run"},
		})
		switch {
		case m.dead:
			m.dead, m.dieAfter = false, 0
			c.reconciler = c.newReconciler() // another manager takes over, and remembers nothing
			c.reconciler.Client = m.client()
		case err != nil:
			t.Fatalf("killed after write %d: reconciling: %v", n, err)
		}
		c.react()
		if len(c.jobs) > 0 {
			c.loader = fine // the first attempt was disturbed, the others are not
		}
		if apimeta.IsStatusConditionTrue(c.get("run").Status.Conditions, v1alpha1.ConditionFinished) {
			if settled++; settled > 6 {
				break
			}
		}
	}
	run := c.get("run")
	w.leave()
	c.nothingRuns()
	if n == 0 {
		c.frozen("scenarios/crash.json", "run")
	}
	return outcome{
		Attempts: c.attemptNames(), Jobs: c.jobs, Headline: run.Status.Headline, Progress: run.Status.Progress,
		Complete: apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete),
	}, m.writes
}
