//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// fakeHosts are nodes with kernel settings, and what the privileged Pods do to them.
type fakeHosts struct {
	c    *cluster
	have map[string]*result.HostSettings
	// done are the steps that were carried out, with the node of each.
	done []string
	// refuse is the problem that a node has with these settings, or empty; broken is why the Pod of a step does not run.
	refuse func(result.HostSettings) string
	broken func(args []string) string
}

// tuning is a cluster in which host tuning is allowed.
type tuning struct {
	*cluster
	controller *HostTuningReconciler
}

func newTuning(t *testing.T) *tuning {
	t.Helper()
	c := newCluster(t)
	c.hosts = &fakeHosts{
		c: c, have: map[string]*result.HostSettings{},
		refuse: func(result.HostSettings) string { return "" }, broken: func([]string) string { return "" },
	}
	c.reconciler = c.newReconciler()
	tuned := &tuning{c, nil}
	tuned.controller = tuned.newController(api)
	tuned.node(c.databaseNode)
	fine := c.loader
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		if got := c.hosts.at(c.databaseNode).Swappiness; got != "1" {
			t.Errorf("%s measures with swappiness %s", job.Name, got)
		}
		c.hosts.done = append(c.hosts.done, "measure "+job.Name)
		fine(job, pod)
	}
	return tuned
}

func (c *tuning) newController(written client.Client) *HostTuningReconciler {
	return &HostTuningReconciler{
		Client: written, Live: &Live{Reader: api}, Clock: c.clock, Images: c.reconciler.Images, Namespace: c.namespace,
	}
}

// node makes a node if there is none of the name.
func (c *tuning) node(name string) {
	c.t.Helper()
	err := api.Create(c.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if !apierrors.IsAlreadyExists(err) {
		c.must(err)
	}
}

// at are the settings of a node.
func (h *fakeHosts) at(node string) *result.HostSettings {
	if h.have[node] == nil {
		h.have[node] = &result.HostSettings{Swappiness: "60", IOScheduler: "mq-deadline", TransparentHugePages: "madvise"}
	}
	return h.have[node]
}

// work does what a privileged Pod does.
func (h *fakeHosts) work(job *batchv1.Job, pod *corev1.Pod) {
	args := pod.Spec.Containers[0].Args
	h.c.t.Logf("node %s: %v", pod.Spec.NodeName, args)
	if why := h.broken(args); why != "" {
		testutil.JobCondition(job, batchv1.JobFailureTarget, "DeadlineExceeded")
		testutil.JobCondition(job, batchv1.JobFailed, "DeadlineExceeded")
		for i := range job.Status.Conditions {
			job.Status.Conditions[i].Message = why
		}
		return
	}
	report := h.step(pod.Spec.NodeName, args[1:])
	message, err := result.EncodeHostReport(report)
	h.c.must(err)
	testutil.EndedLoaderPod(pod, 0, string(message), h.c.clock.Now())
	pod.Status.ContainerStatuses[0].Name = "host"
	testutil.JobCondition(job, batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached)
	testutil.JobCondition(job, batchv1.JobComplete, batchv1.JobReasonCompletionsReached)
	job.Status.CompletionTime = &metav1.Time{Time: h.c.clock.Now()}
	job.Status.Succeeded = 1
}

// step of the loader's program, as package host does it.
func (h *fakeHosts) step(node string, args []string) result.HostReport {
	have, requested := h.at(node), result.HostSettings{}
	fields := map[string][2]*string{
		"--swappiness": {&requested.Swappiness, &have.Swappiness}, "--io-scheduler": {&requested.IOScheduler, &have.IOScheduler},
		"--transparent-huge-pages": {&requested.TransparentHugePages, &have.TransparentHugePages},
	}
	var report result.HostReport
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		if field, known := fields[name]; known {
			*field[0] = value
		}
	}
	if args[0] == "set" {
		report.Problem = h.refuse(requested)
	}
	for name, field := range fields {
		if *field[0] == "" {
			continue
		}
		if args[0] == "set" && report.Problem == "" {
			*field[1] = *field[0]
		}
		*map[string]*string{
			"--swappiness": &report.Settings.Swappiness, "--io-scheduler": &report.Settings.IOScheduler,
			"--transparent-huge-pages": &report.Settings.TransparentHugePages,
		}[name] = *field[1]
	}
	h.done = append(h.done, strings.Join(append([]string{node}, args...), " "))
	return report
}

// tunedRun asks for swappiness 1.
func tunedRun(name string, trials int32) *v1alpha1.BenchmarkRun {
	return testutil.MakeRun(name, "").Repetitions(trials).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
	}).Obj()
}

// leases of tuned nodes.
func (c *tuning) leases() []coordinationv1.Lease {
	c.t.Helper()
	var leases coordinationv1.LeaseList
	c.must(api.List(c.t.Context(), &leases, client.InNamespace(c.namespace), tunedLabel))
	return leases.Items
}

// turn reconciles runs, also those that are gone, and all tuned nodes, and lets the cluster react.
func (c *tuning) turn(names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.reconcile(name)
	}
	for _, lease := range c.leases() {
		_, err := c.controller.Reconcile(c.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&lease)})
		c.must(err)
	}
	c.react()
	c.collectJobs()
}

// collectJobs deletes the Jobs of Leases that are gone, as the garbage collector does.
func (c *tuning) collectJobs() {
	c.t.Helper()
	var jobs batchv1.JobList
	c.list(&jobs)
	for i := range jobs.Items {
		owned := func(l coordinationv1.Lease) bool { return metav1.IsControlledBy(&jobs.Items[i], &l) }
		if jobs.Items[i].Labels[v1alpha1.LabelComponent] != v1alpha1.ComponentHostTuning || slices.ContainsFunc(c.leases(), owned) {
			continue
		}
		c.must(client.IgnoreNotFound(api.Delete(c.t.Context(), &jobs.Items[i], client.PropagationPolicy(metav1.DeletePropagationBackground))))
	}
}

// turns until something is the case.
func (c *tuning) turns(what string, is func() bool, names ...string) {
	c.t.Helper()
	for range 150 {
		if is() {
			return
		}
		c.turn(names...)
	}
	c.t.Fatalf("never: %s; done is %q", what, c.hosts.done)
}

// condition of a run as "Reason: message" if it is true, or empty.
func (c *tuning) condition(name, condition string) string {
	c.t.Helper()
	for _, have := range c.get(name).Status.Conditions {
		if have.Type == condition && have.Status == metav1.ConditionTrue {
			return fmt.Sprintf("%s: %s", have.Reason, have.Message)
		}
	}
	return ""
}

// is says whether a condition of a run is true.
func (c *tuning) is(name, condition string) func() bool {
	return func() bool { c.t.Helper(); return c.condition(name, condition) != "" }
}

// restored checks that a node is as it was, and that nothing is left.
func (c *tuning) restored(node string) {
	c.t.Helper()
	want := result.HostSettings{Swappiness: "60", IOScheduler: "mq-deadline", TransparentHugePages: "madvise"}
	if got := *c.hosts.at(node); got != want {
		c.t.Errorf("node %s has %+v", node, got)
	}
	if leases := c.leases(); len(leases) != 0 {
		c.t.Errorf("%d Leases of tuned nodes are left: %s", len(leases), leases[0].Annotations[v1alpha1.AnnotationHostTuning])
	}
}

// held is who holds the lane, or nil.
func (c *tuning) held() *lifecycle.Holder {
	c.t.Helper()
	lane, err := c.reconciler.lanes().observe(c.t.Context(), lifecycle.Contender{Lane: "default"}, api)
	c.must(err)
	return lane.Holder
}
