//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A run that asks for host tuning ends at once where it is not allowed: it says who allows it, and has created nothing.
func TestEnvtestHostTuningNotAllowed(t *testing.T) {
	t.Run("nowhere", func(t *testing.T) { hostTuningIsRefused(t, newCluster(t)) })
	t.Run("elsewhere", func(t *testing.T) {
		c := newCluster(t)
		c.reconciler.HostTuningAllowed, c.reconciler.HostTuningScope = true, Scope{"other"}
		hostTuningIsRefused(t, c)
	})
}

func hostTuningIsRefused(t *testing.T, c *cluster) {
	t.Helper()
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
	}).Obj())
	c.reconcile("run")
	run := c.get("run")
	failed := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed)
	if failed.Reason != v1alpha1.ReasonHostTuningNotAllowed || !strings.Contains(failed.Message, "have an administrator set") {
		t.Errorf("failed with %+v", failed)
	}
	if !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		t.Error("it has not finished")
	}
	var sets appsv1.StatefulSetList
	if c.list(&sets); len(sets.Items) != 0 || len(c.jobs) != 0 {
		t.Errorf("%d StatefulSets, Jobs %v", len(sets.Items), c.jobs)
	}
}

const (
	dbNode  = "node-of-statefulset"
	toOne   = dbNode + " set --swappiness=1"
	toSixty = dbNode + " set --swappiness=60"
)

// The node is tuned before anything is measured, and restored before the results are written: they say both. The Jobs are
// privileged, on that node alone, and in the operator's namespace.
func TestEnvtestHostIsTunedAndRestored(t *testing.T) {
	c := newTuning(t)
	c.apply(tunedRun("run", 2))
	c.turns("the node is tuned", func() bool { return slices.Contains(c.hosts.done, toOne) }, "run")
	c.checkPrivilegedJobs()
	c.turns("complete", c.is("run", v1alpha1.ConditionComplete), "run")
	published := c.published("run")
	want := []string{dbNode + " read --swappiness=1", toOne, "measure run-t1-a1", "measure run-t2-a1", toSixty}
	if diff := cmp.Diff(want, c.hosts.done); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	tuned := []result.HostTuning{{
		Node: dbNode, Before: result.HostSettings{Swappiness: "60"}, After: result.HostSettings{Swappiness: "1"}, Restored: true,
	}}
	if diff := cmp.Diff(tuned, published); diff != "" {
		t.Errorf("results.json (-want +got):\n%s", diff)
	}
	c.turns("the Lease is gone", func() bool { return len(c.leases()) == 0 }, "run")
	c.settle("run")
	c.restored(dbNode)
	status := []v1alpha1.HostTuningStatus{{
		Node: dbNode, Before: v1alpha1.HostSettings{Swappiness: "60"}, After: v1alpha1.HostSettings{Swappiness: "1"}, Restored: ptr.To(true),
	}}
	if diff := cmp.Diff(status, c.get("run").Status.HostTuning); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	c.turn()
	c.nothingRuns()
}

// checkPrivilegedJobs checks every Job that tunes a node.
func (c *tuning) checkPrivilegedJobs() {
	c.t.Helper()
	var jobs batchv1.JobList
	c.must(api.List(c.t.Context(), &jobs, client.InNamespace(c.namespace),
		client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentHostTuning}))
	for _, job := range jobs.Items {
		spec := job.Spec.Template.Spec
		if spec.NodeName != dbNode || !*spec.Containers[0].SecurityContext.Privileged || *spec.AutomountServiceAccountToken ||
			len(spec.Volumes) != 0 || spec.HostPID || spec.HostNetwork || *job.Spec.ActiveDeadlineSeconds != 60 {
			c.t.Errorf("Job %s: %+v", job.Name, spec)
		}
	}
	if len(jobs.Items) == 0 {
		c.t.Error("no Job tunes the node")
	}
}

// published is what the results of a run say of the nodes that it has tuned.
func (c *tuning) published(name string) []result.HostTuning {
	c.t.Helper()
	var cm corev1.ConfigMap
	c.must(api.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name + "-results"}, &cm))
	var document struct{ Run report.Run }
	c.must(json.Unmarshal([]byte(cm.Data[report.JSONFile]), &document))
	return document.Run.HostTuning
}

// A node whose run is deleted is restored, however far the run was; and so is one whose run was deleted while no manager ran, or
// made again under the same name.
func TestEnvtestHostOfADeletedRunIsRestored(t *testing.T) {
	t.Parallel()
	for name, until := range map[string]func(*tuning) bool{
		"there is only a Lease": func(c *tuning) bool { return len(c.leases()) == 1 },
		"the values are read": func(c *tuning) bool {
			return slices.ContainsFunc(c.hosts.done, func(s string) bool { return strings.Contains(s, "read") })
		},
		"the values are set":      func(c *tuning) bool { return slices.Contains(c.hosts.done, toOne) },
		"a trial is measured":     func(c *tuning) bool { return slices.Contains(c.hosts.done, "measure run-t1-a1") },
		"the values are set back": func(c *tuning) bool { return slices.Contains(c.hosts.done, toSixty) },
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, made again: %t", name, again), func(t *testing.T) {
				t.Parallel()
				c := newTuning(t)
				c.apply(tunedRun("run", 1))
				c.turns(name, func() bool { return until(c) }, "run")
				c.must(api.Delete(t.Context(), c.get("run")))
				if again {
					c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }).Obj())
				}
				c.turns("the Lease is gone", func() bool { return len(c.leases()) == 0 })
				c.restored(dbNode)
			})
		}
	}
}

// A suspended run has its node restored before it leaves its lane, and tuned again when it goes on.
func TestEnvtestHostOfASuspendedRun(t *testing.T) {
	c := newTuning(t)
	c.apply(tunedRun("run", 2))
	c.turns("a trial is measured", func() bool { return slices.Contains(c.hosts.done, "measure run-t1-a1") }, "run")
	c.suspend("run", true)
	c.turns("the lane is left", func() bool {
		held := c.held() != nil
		if !held && c.hosts.at(dbNode).Swappiness != "60" {
			t.Error("the lane is left, and the node is tuned")
		}
		return !held && len(c.leases()) == 0
	}, "run")
	c.restored(dbNode)
	c.suspend("run", false)
	c.turns("finished", c.is("run", v1alpha1.ConditionComplete), "run")
	c.turns("the Lease is gone", func() bool { return len(c.leases()) == 0 }, "run")
	c.restored(dbNode)
}

func (c *tuning) suspend(name string, suspend bool) {
	c.t.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec": {"suspend": %t}}`, suspend))
	c.must(api.Patch(c.t.Context(), c.get(name), patch))
}

// A node is tuned by one run at a time: one of another lane waits, until it is restored.
func TestEnvtestHostOfAnotherRun(t *testing.T) {
	c := newTuning(t)
	c.apply(tunedRun("first", 1))
	second := tunedRun("second", 1)
	second.Spec.Lane = "other"
	c.turns("the node is tuned", func() bool { return slices.Contains(c.hosts.done, toOne) }, "first")
	c.apply(second)
	waiting := "node " + dbNode + " is tuned by run " + c.namespace + "/first and has not been restored yet"
	c.turns("it waits", func() bool { return strings.Contains(c.condition("second", v1alpha1.ConditionReconciling), waiting) }, "second")
	c.turns("both complete", func() bool {
		return c.is("first", v1alpha1.ConditionComplete)() && c.is("second", v1alpha1.ConditionComplete)()
	}, "first", "second")
	c.turns("the Leases are gone", func() bool { return len(c.leases()) == 0 }, "first", "second")
	c.restored(dbNode)
	at := func(step string) int { return slices.Index(c.hosts.done, step) }
	if at("measure second-t1-a1") < at(toSixty) {
		t.Errorf("the second measures before the first has restored: %q", c.hosts.done)
	}
}

// A user who deletes the Lease of a tuned node takes the values with it that it had. The run ends, and says so.
func TestEnvtestHostLeaseDeleted(t *testing.T) {
	c := newTuning(t)
	c.apply(tunedRun("run", 2))
	c.turns("the status says it", func() bool {
		return len(c.get("run").Status.HostTuning) > 0 && c.get("run").Status.HostTuning[0].After.Swappiness != ""
	}, "run")
	lease := c.leases()[0]
	c.must(api.Delete(t.Context(), &lease))
	c.turns("failed", c.is("run", v1alpha1.ConditionFailed), "run")
	want := "Lease " + lease.Name + ", which recorded the original values of node " + dbNode + ", was deleted: the node may still be tuned"
	if got := c.condition("run", v1alpha1.ConditionFailed); got != "HostTuningFailed: "+want {
		t.Errorf("it says %q", got)
	}
	if h := c.get("run").Status.HostTuning[0]; *h.Restored || h.Message != want {
		t.Errorf("status is %+v", h)
	}
}

// The page cache is dropped before each attempt, and once for each.
func TestEnvtestPageCacheIsDropped(t *testing.T) {
	c := newTuning(t)
	run := tunedRun("run", 2)
	run.Spec.Database.HostTuning.DropPageCache = v1alpha1.DropPageCacheBeforeEachTrial
	c.apply(run)
	c.turns("complete", c.is("run", v1alpha1.ConditionComplete), "run")
	drop := dbNode + " drop-page-cache"
	want := []string{dbNode + " read --swappiness=1", toOne, drop, "measure run-t1-a1", drop, "measure run-t2-a1", toSixty}
	if diff := cmp.Diff(want, c.hosts.done); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// TestEnvtestHostTuningCrashAfterEveryWrite kills the manager after its n-th write, for every n of a run on a tuned node, and
// starts another: the node is measured tuned, and is restored.
func TestEnvtestHostTuningCrashAfterEveryWrite(t *testing.T) {
	t.Parallel()
	want, writes := tunedAndKilled(t, 0)
	var all []int
	for n := range writes {
		all = append(all, n+1)
	}
	killedAfter(t, all, func(t *testing.T, n int) {
		got, _ := tunedAndKilled(t, n)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed after write %d of %d (-undisturbed +killed):\n%s", n, writes, diff)
		}
	})
	fmt.Printf("host tuning, crash after every write: n = %d\n", writes)
}

func tunedAndKilled(t *testing.T, n int) (v1alpha1.HostTuningStatus, int) {
	t.Helper()
	c := newTuning(t)
	m := &mortal{dieAfter: n}
	c.reconciler.Client = m.client()
	c.controller = c.newController(m.client())
	c.apply(tunedRun("run", 1))
	survive := func(_ ctrl.Result, err error) {
		switch {
		case m.dead:
			m.dead, m.dieAfter = false, 0 // another manager takes over
			c.reconciler = c.newReconciler()
			c.reconciler.Client = m.client()
		case err != nil:
			t.Fatalf("killed after write %d: %v", n, err)
		}
	}
	settled := 0
	for range 200 {
		if settled == 6 {
			break
		}
		survive(c.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: c.namespace, Name: "run"}}))
		for _, lease := range c.leases() {
			survive(c.controller.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&lease)}))
		}
		c.react()
		c.collectJobs()
		if c.is("run", v1alpha1.ConditionFinished)() && len(c.leases()) == 0 {
			settled++
		}
	}
	if settled < 6 {
		t.Fatalf("killed after write %d: it has not ended; done is %q", n, c.hosts.done)
	}
	c.restored(dbNode)
	c.nothingRuns()
	c.allAccepted("run", 1)
	if len(c.published("run")) != 1 {
		t.Errorf("killed after write %d: the results say %+v", n, c.published("run"))
	}
	return c.get("run").Status.HostTuning[0], m.writes
}

// A run whose node does not take a value, or cannot be tuned, ends with the reason. What was changed is restored.
func TestEnvtestHostThatCannotBeTuned(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*fakeHosts)
		want   string
	}{
		"not effective": {
			func(h *fakeHosts) {
				h.refuse = func(s result.HostSettings) string {
					if s.Swappiness != "1" {
						return ""
					}
					h.at(dbNode).Swappiness = "2" // a part of what was asked
					return "vm.swappiness: requested 1, effective 2"
				}
			},
			"SettingNotEffective: node " + dbNode + ": vm.swappiness: requested 1, effective 2",
		},
		"no privileged Pods": {
			func(h *fakeHosts) {
				h.broken = func([]string) string { return "pods are forbidden: violates PodSecurity" }
			},
			"HostTuningFailed: node " + dbNode + " could not be tuned: the Job that should do it failed: pods are forbidden: violates PodSecurity",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTuning(t)
			tc.change(c.hosts)
			c.apply(tunedRun("run", 1))
			c.turns("failed", c.is("run", v1alpha1.ConditionFailed), "run")
			if got := c.condition("run", v1alpha1.ConditionFailed); got != tc.want {
				t.Errorf("it says %q, want %q", got, tc.want)
			}
			c.turns("the Lease is gone", func() bool { return len(c.leases()) == 0 }, "run")
			c.restored(dbNode)
			if measured := slices.ContainsFunc(c.hosts.done, func(s string) bool { return strings.HasPrefix(s, "measure") }); measured {
				t.Error("something was measured")
			}
		})
	}
}

// A node that is not restored is reported after three attempts, in the status, the results and an event; the run ends, and the
// lane is left. The operator goes on trying, and says when it has succeeded.
func TestEnvtestHostThatIsNotRestored(t *testing.T) {
	c := newTuning(t)
	broken := true
	c.hosts.broken = func(args []string) string {
		if broken && slices.Contains(args, "--swappiness=60") {
			return "the node does not answer"
		}
		return ""
	}
	c.apply(tunedRun("run", 1))
	finished := func() bool { c.clock.Step(10 * time.Second); return c.is("run", v1alpha1.ConditionFinished)() }
	c.turns("finished", finished, "run")
	status := c.get("run").Status.HostTuning[0]
	const why = "the Job that should do it failed: the node does not answer"
	if status.Restored == nil || *status.Restored || status.Message != why {
		t.Errorf("status is %+v", status)
	}
	if p := c.published("run"); len(p) != 1 || p[0].Restored || p[0].Message != why {
		t.Errorf("results say %+v", p)
	}
	c.turns("the lane is left", func() bool { return c.held() == nil }, "run")
	warned := 0
	for len(c.events.Events) > 0 {
		if strings.Contains(<-c.events.Events, "HostNotRestored node "+dbNode+" was not restored: "+why) {
			warned++
		}
	}
	if warned != 1 {
		t.Errorf("%d events warn of it", warned)
	}
	if c.hosts.at(dbNode).Swappiness != "1" || len(c.leases()) != 1 {
		t.Errorf("node %+v, %d Leases", c.hosts.at(dbNode), len(c.leases()))
	}
	broken = false
	c.turns("the Lease is gone", func() bool { c.clock.Step(time.Minute); return len(c.leases()) == 0 }, "run")
	c.restored(dbNode)
	if status := c.get("run").Status.HostTuning[0]; !*status.Restored || status.Message != "" {
		t.Errorf("status is %+v", status)
	}
}

// A node that is gone cannot be restored: that is said at once, and its Lease does not stay.
func TestEnvtestHostThatIsGone(t *testing.T) {
	c := newTuning(t)
	c.databaseNode = "gone-" + c.namespace
	c.node(c.databaseNode)
	c.apply(tunedRun("run", 1))
	c.turns("a trial is measured", func() bool { return slices.Contains(c.hosts.done, "measure run-t1-a1") }, "run")
	c.must(api.Delete(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.databaseNode}}))
	c.turns("finished", c.is("run", v1alpha1.ConditionFinished), "run")
	status := c.get("run").Status.HostTuning[0]
	if *status.Restored || status.Message != "node "+c.databaseNode+" no longer exists" {
		t.Errorf("status is %+v", status)
	}
	c.turns("the Lease is gone", func() bool { c.clock.Step(time.Minute); return len(c.leases()) == 0 }, "run")
}
