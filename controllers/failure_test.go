//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestEnvtestFailures lets things go wrong that end a run, and asks for the reason and the sentence.
func TestEnvtestFailures(t *testing.T) {
	for name, test := range map[string]struct {
		prepare       func(*cluster)
		run           func(*v1alpha1.BenchmarkRun)
		reason, says  string
		attempts      []string
		publishedToo  bool
		eventsMustSay string
	}{
		"server refuses its configuration": {
			prepare: func(c *cluster) {
				c.server = func(p *corev1.Pod) {
					testutil.RefusedDatabasePod(p, "2026-01-01 0:00:00 0 [Note] Starting\n"+
						"2026-01-01 0:00:00 0 [ERROR] mariadbd: Error while setting value 'O_DIRCET' to 'innodb_flush_method'\n"+
						"2026-01-01 0:00:00 0 [ERROR] Aborting\n")
				}
			},
			reason:        v1alpha1.ReasonServerConfigurationRejected,
			says:          "mariadbd: Error while setting value 'O_DIRCET' to 'innodb_flush_method'",
			eventsMustSay: "Warning ServerConfigurationRejected",
		},
		"loader is silent too often": {
			prepare: func(c *cluster) { c.loader = c.failSilently("garbage") },
			run:     func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.MaxInvalid = ptr.To[int32](1) },
			reason:  v1alpha1.ReasonTooManyInvalid, says: "Silent: the loader ended with exit code 1 and left no result",
			attempts: []string{"run-t1-a1 Invalidated", "run-t1-a2 Invalidated"}, publishedToo: true,
			eventsMustSay: "Warning AttemptInvalidated",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			test.prepare(c)
			run := testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(1)
			if test.run != nil {
				run.With(test.run)
			}
			c.apply(run.Obj())
			failed := c.patiently("run", v1alpha1.ConditionFinished)
			c.settle("run")
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != test.reason || !strings.Contains(condition.Message, test.says) {
				t.Errorf("failed with %s: %s; want %s: …%s…", condition.Reason, condition.Message, test.reason, test.says)
			}
			if !apimeta.IsStatusConditionTrue(failed.Status.Conditions, v1alpha1.ConditionStalled) {
				t.Error("Stalled is not true")
			}
			must.Same(t, "records", test.attempts, c.attemptNames())
			err := api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-results"}, &corev1.ConfigMap{})
			must.Same(t, "results published", test.publishedToo, err == nil)
			c.nothingRuns()
			c.eventSays(test.eventsMustSay)
		})
	}
}

func (c *cluster) eventSays(want string) {
	c.t.Helper()
	for {
		select {
		case event := <-c.events.Events:
			if strings.Contains(event, want) {
				return
			}
		default:
			if want != "" {
				c.t.Errorf("no event says %q", want)
			}
			return
		}
	}
}

// TestEnvtestInvalidSpecification: what the API's schema cannot refuse ends the run at first sight. Nothing is created.
func TestEnvtestInvalidSpecification(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{
			Script: "tpcc", Clients: 1, Seconds: ptr.To[int32](1), Percentile: 95, RandType: "uniform",
			Sweep: &v1alpha1.SysbenchSweep{TableSize: []v1alpha1.SysbenchTableSize{5}},
		}}
	}).Obj())
	c.settle("run")
	failed := c.condition("run", v1alpha1.ConditionFailed)
	if failed.Reason != v1alpha1.ReasonInvalidSpecification ||
		!strings.Contains(failed.Message, "workload Sysbench: script tpcc has no such parameter") {
		t.Fatalf("condition is %+v", failed)
	}
	for _, list := range []client.ObjectList{
		&corev1.PodList{}, &batchv1.JobList{}, &appsv1.StatefulSetList{}, &corev1.SecretList{}, &corev1.ServiceList{},
		&policyv1.PodDisruptionBudgetList{},
	} {
		c.must(api.List(t.Context(), list, client.InNamespace(c.namespace)))
		must.Same(t, fmt.Sprintf("objects in %T", list), 0, apimeta.LenList(list))
	}
}

// upgraded is an operator of the next release: it has other images.
func (c *cluster) upgraded() *RunReconciler {
	r := c.newReconciler()
	r.Images.Loader, r.Images.Sysbench = "loader:next", "sysbench:next"
	r.Images.Databases = map[string]string{"MariaDB": "mariadb:next"}
	return r
}

// digests lets the image of a Pod decide about its digest, as a registry does.
func digests(p *corev1.Pod) {
	for i := range p.Status.ContainerStatuses {
		for _, c := range p.Spec.Containers {
			if p.Status.ContainerStatuses[i].Name == c.Name {
				p.Status.ContainerStatuses[i].ImageID = "sha256:of-" + c.Image
			}
		}
	}
}

// An operator that is upgraded in mid-run goes on with the images that the run began with: for its loaders, and for the probe,
// the observer and the server of each new database.
func TestEnvtestOperatorUpgradedInMidRun(t *testing.T) {
	c := newCluster(t)
	server, succeed := c.server, c.loader
	images := map[string]bool{}
	saw := func(p *corev1.Pod) {
		digests(p)
		for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for _, container := range containers {
				images[container.Image] = true
			}
		}
	}
	c.server = func(p *corev1.Pod) { server(p); saw(p) }
	c.loader = func(job *batchv1.Job, p *corev1.Pod) { succeed(job, p); saw(p) }
	c.apply(testutil.MakeRun("run", "").Repetitions(4).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.Server = v1alpha1.ServerPerTrial
	}).Obj())
	for len(c.attemptNames()) < 2 {
		c.reconcile("run")
		c.react()
	}
	c.reconciler = c.upgraded()
	c.until("run", v1alpha1.ConditionComplete)
	for _, attempt := range c.attemptNames() {
		if !strings.HasSuffix(attempt, "-a1 Accepted") {
			t.Errorf("attempt %s", attempt)
		}
	}
	for image := range images {
		if strings.HasSuffix(image, ":next") {
			t.Errorf("the run has used %s", image)
		}
	}
	if !images["loader:test"] || !images["mariadb:11.8"] {
		t.Errorf("the run has used %v", images)
	}
}

// A loader that finds no room ends the run with the resource that it lacks.
func TestEnvtestLoaderThatFitsNowhere(t *testing.T) {
	c := newCluster(t)
	c.loader = func(_ *batchv1.Job, p *corev1.Pod) {
		p.Status.Phase = corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available: 1 Insufficient cpu.",
		}}
	}
	c.apply(testutil.MakeRun("run", "").Obj())
	c.cycle("run", 6)
	c.clock.Step(10 * time.Minute) // far beyond the deadline: objects carry the API server's time, not this clock's
	failed := apimeta.FindStatusCondition(c.until("run", v1alpha1.ConditionFailed).Status.Conditions, v1alpha1.ConditionFailed)
	want := regexp.MustCompile(`^trial 1: no loader ran .*: 0/1 nodes are available: 1 Insufficient cpu\.: no eligible node has enough cpu ` +
		`\(it requests 1\): set loader\.resources\.requests to what fits`)
	if failed.Reason != v1alpha1.ReasonLoaderNotStarted || !want.MatchString(failed.Message) {
		t.Errorf("failed with %s: %s", failed.Reason, failed.Message)
	}
	c.settle("run")
}

// Pods whose requests are below their limits share their node's CPUs with others, and the results say so.
func TestEnvtestBurstableIsReported(t *testing.T) {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	burstable := corev1.ResourceRequirements{Limits: limits, Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		want   string
	}{
		"guaranteed": {func(*v1alpha1.BenchmarkRun) {}, ""},
		"loader":     {func(r *v1alpha1.BenchmarkRun) { r.Spec.Loader.Resources = burstable }, "Pods are not Guaranteed (loader Burstable): other Pods on their nodes may take CPU and memory from them"},
		"both": {func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Loader.Resources, r.Spec.Database.Resources = burstable, burstable
		}, "Pods are not Guaranteed (database Burstable, loader Burstable): other Pods on their nodes may take CPU and memory from them"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(testutil.MakeRun("run", "").Repetitions(1).With(tc.change).Obj())
			run := c.until("run", v1alpha1.ConditionComplete)
			warnings := run.Status.FindingTexts()
			if tc.want == "" && len(warnings) > 0 || tc.want != "" && !slices.Contains(warnings, tc.want) {
				t.Errorf("warnings are %q, want %q", warnings, tc.want)
			}
		})
	}
}
