//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

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
