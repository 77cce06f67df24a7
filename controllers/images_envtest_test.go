//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// upgraded is an operator of the next release: it has other images.
func (c *cluster) upgraded() *BenchmarkRunReconciler {
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
		r.Spec.Trials.Server = v1alpha1.ServerFresh
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

// The runs of a comparison use the images that the comparison began with.
func TestEnvtestOperatorUpgradedInMidComparison(t *testing.T) {
	s := newComparisons(t)
	fine := s.end
	s.end = func(run *v1alpha1.BenchmarkRun) {
		s.reconcile(run.Name)
		if got := s.get(run.Name).Status.Images.Loader; got != "loader:test" {
			t.Errorf("run %s uses %q", run.Name, got)
		}
		fine(s.get(run.Name))
		if len(s.made) == 3 {
			s.reconciler = s.upgraded()
			s.comparisons = s.newComparisonReconciler()
		}
	}
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Rounds(4).Obj())
	comparison := s.untilComparison(v1alpha1.ConditionComplete)
	if comparison.Status.Images.Loader != "loader:test" || len(s.made) != 8 || s.comparisons.Images.Loader != "loader:next" {
		t.Errorf("%d runs with %+v", len(s.made), comparison.Status.Images)
	}
}
