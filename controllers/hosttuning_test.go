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

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// fakeHost is the database's node, with what was done there.
type fakeHost struct {
	*cluster
	controller *HostTuningReconciler
	swappiness string
	done       []string
	// broken is why no Pod sets this value, or empty.
	broken map[string]string
}

func newFakeHost(t *testing.T) *fakeHost {
	t.Helper()
	h := &fakeHost{cluster: newCluster(t), swappiness: "60", broken: map[string]string{}}
	h.host, h.databaseNode = h, "node-of-"+h.namespace
	h.must(api.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: h.databaseNode}}))
	h.controller = h.newController(api)
	fine := h.loader
	h.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		h.done = append(h.done, job.Name+" with "+h.swappiness)
		fine(job, pod)
	}
	return h
}

func (h *fakeHost) newController(written client.Client) *HostTuningReconciler {
	return &HostTuningReconciler{
		Client: written, Live: &Live{Reader: api}, Clock: h.clock, Images: h.reconciler.Images, Namespace: h.namespace,
	}
}

// work does what a privileged Pod does.
func (h *fakeHost) work(job *batchv1.Job, pod *corev1.Pod) {
	args := pod.Spec.Containers[0].Args
	h.done = append(h.done, strings.Join(args, " "))
	_, value, _ := strings.Cut(args[len(args)-1], "=")
	if why := h.broken[value]; why != "" && slices.Contains(args, "--set") {
		testutil.JobCondition(job, batchv1.JobFailureTarget, "DeadlineExceeded")
		testutil.JobCondition(job, batchv1.JobFailed, "DeadlineExceeded")
		job.Status.Conditions[len(job.Status.Conditions)-1].Message = why
		return
	}
	if slices.Contains(args, "--set") {
		h.swappiness = value
	}
	message, err := json.Marshal(result.HostReport{Settings: result.HostSettings{Swappiness: h.swappiness}})
	h.must(err)
	testutil.EndedLoaderPod(pod, 0, string(message), h.clock.Now())
	pod.Status.ContainerStatuses[0].Name = "host"
	testutil.JobCondition(job, batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached)
	testutil.JobCondition(job, batchv1.JobComplete, batchv1.JobReasonCompletionsReached)
	job.Status.CompletionTime, job.Status.Succeeded = &metav1.Time{Time: h.clock.Now()}, 1
}

// tunedRun asks for swappiness 1.
func tunedRun(name string, trials int32) *v1alpha1.BenchmarkRun {
	return testutil.MakeRun(name, "").Repetitions(trials).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
	}).Obj()
}

func (h *fakeHost) leases() []lifecycle.TunedNode {
	h.t.Helper()
	nodes, err := tunedNodes(h.t.Context(), api, h.namespace, nil)
	h.must(err)
	return nodes
}

// turn reconciles runs, also those that are gone, and all tuned nodes, and lets the cluster react. What survives a step is told of
// its error.
func (h *fakeHost) turn(survives func(error), names ...string) {
	h.t.Helper()
	for _, name := range names {
		_, err := h.reconciler.Reconcile(h.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: h.namespace, Name: name}})
		survives(err)
	}
	for _, n := range h.leases() {
		_, err := h.controller.Reconcile(h.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(n.Lease)})
		survives(err)
	}
	h.react()
	var jobs batchv1.JobList
	h.list(&jobs)
	for i := range jobs.Items { // those of Leases that are gone, as the garbage collector does
		owned := func(n lifecycle.TunedNode) bool { return metav1.IsControlledBy(&jobs.Items[i], n.Lease) }
		if jobs.Items[i].Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentHostTuning && !slices.ContainsFunc(h.leases(), owned) {
			h.must(client.IgnoreNotFound(api.Delete(h.t.Context(), &jobs.Items[i], client.PropagationPolicy(metav1.DeletePropagationBackground))))
		}
	}
}

// turns until something is the case.
func (h *fakeHost) turns(what string, is func() bool, names ...string) {
	h.t.Helper()
	for range 150 {
		if is() {
			return
		}
		h.clock.Step(time.Second)
		h.turn(h.must, names...)
	}
	h.t.Fatalf("never: %s; done is %q", what, h.done)
}

func (h *fakeHost) did(step string) func() bool {
	return func() bool { return slices.Contains(h.done, step) }
}

func (h *fakeHost) is(name, condition string) func() bool {
	return func() bool { return apimeta.IsStatusConditionTrue(h.get(name).Status.Conditions, condition) }
}

func (h *fakeHost) forgotten() bool { return len(h.leases()) == 0 }

// restored turns until no node is tuned, and checks it.
func (h *fakeHost) restored(names ...string) {
	h.t.Helper()
	if h.turns("the Lease is gone", h.forgotten, names...); h.swappiness != "60" {
		h.t.Errorf("the node has swappiness %s after %q", h.swappiness, h.done)
	}
}

// published is what the results of a run say of the nodes that it has tuned.
func (h *fakeHost) published(name string) []v1alpha1.HostTuningStatus {
	h.t.Helper()
	var cm corev1.ConfigMap
	h.must(api.Get(h.t.Context(), client.ObjectKey{Namespace: h.namespace, Name: name + "-results"}, &cm))
	var document struct{ Run report.Run }
	h.must(json.Unmarshal([]byte(cm.Data[report.JSONFile]), &document))
	return document.Run.HostTuning
}

const read, toOne, toSixty = "host --swappiness=1", "host --set --swappiness=1", "host --set --swappiness=60"

// TestEnvtestHostTuningCrashAfterEveryWrite kills the manager after its n-th write, for every n of a run on a tuned node, and
// starts another: the node is tuned before anything is measured, and restored before the results are written, which say both.
func TestEnvtestHostTuningCrashAfterEveryWrite(t *testing.T) {
	t.Parallel()
	var all []int
	for n := range tunedAndKilled(t, 0) {
		all = append(all, n+1)
	}
	killedAfter(t, all, func(t *testing.T, n int) { tunedAndKilled(t, n) })
	fmt.Printf("host tuning, crash after every write: n = %d\n", len(all))
}

func tunedAndKilled(t *testing.T, n int) (writes int) {
	t.Helper()
	h := newFakeHost(t)
	m := &mortal{dieAfter: n}
	h.reconciler.Client = m.client()
	h.controller = h.newController(m.client())
	h.apply(tunedRun("run", 1))
	survives := func(err error) {
		switch {
		case m.dead:
			m.dead, m.dieAfter = false, 0 // another manager takes over
			h.reconciler = h.newReconciler()
			h.reconciler.Client = m.client()
		case err != nil:
			t.Fatalf("killed after write %d: %v", n, err)
		}
	}
	for settled, turns := 0, 0; settled < 6 && turns < 200; turns++ {
		h.turn(survives, "run")
		if h.is("run", v1alpha1.ConditionFinished)() && h.forgotten() {
			settled++
		}
	}
	h.restored()
	h.nothingRuns()
	h.allAccepted("run", 1)
	must.Same(t, fmt.Sprintf("killed after write %d: steps", n), []string{read, toOne, "run-t1-a1 with 1", toSixty}, h.done)
	want := []v1alpha1.HostTuningStatus{{
		Node: h.databaseNode, Before: v1alpha1.HostSettings{Swappiness: "60"}, After: v1alpha1.HostSettings{Swappiness: "1"}, Restored: ptr.To(true),
	}}
	must.Same(t, fmt.Sprintf("killed after write %d: status", n), want, h.get("run").Status.HostTuning)
	must.Same(t, fmt.Sprintf("killed after write %d: results", n), want, h.published("run"))
	return m.writes
}

// A node is tuned by one run at a time: one of another lane waits until it is restored, also if the first is deleted while no manager
// works for it, and made again under the same name. A suspended run has its node restored before it leaves its lane, and tuned again
// when it goes on.
func TestEnvtestHostOfSeveralRuns(t *testing.T) {
	h := newFakeHost(t)
	h.apply(tunedRun("first", 1))
	h.turns("a trial is measured", h.did("first-t1-a1 with 1"), "first")
	h.must(api.Delete(t.Context(), h.get("first")))
	h.apply(testutil.MakeRun("first", "").Repetitions(1).Obj())
	second := tunedRun("second", 1)
	second.Spec.Lane = "other"
	h.apply(second)
	h.turns("another trial is measured", h.did("second-t1-a1 with 1"), "second")
	suspend := func(suspend bool) {
		patch := fmt.Appendf(nil, `{"spec": {"suspend": %t}}`, suspend)
		h.must(api.Patch(t.Context(), h.get("second"), client.RawPatch("application/merge-patch+json", patch)))
	}
	suspend(true)
	h.turns("the lane is left", func() bool {
		lane, err := h.reconciler.observeLane(t.Context(), lifecycle.Contender{Lane: "other"}, api)
		h.must(err)
		return lane.Holder == nil
	}, "second")
	must.Same(t, "swappiness of the node whose lane is left", "60", h.swappiness)
	suspend(false)
	h.turns("complete", h.is("second", v1alpha1.ConditionComplete), "second")
	h.restored("second")
	want := []string{
		read, toOne, "first-t1-a1 with 1", toSixty, read, toOne, "second-t1-a1 with 1", toSixty, read, toOne, "second-t1-a1 with 1", toSixty,
	}
	must.Same(t, "steps", want, h.done)
}

// A node that is not restored is reported in the status, the results and an event; the run ends. The operator goes on trying, and
// says when it has succeeded.
func TestEnvtestHostThatIsNotRestored(t *testing.T) {
	h := newFakeHost(t)
	h.broken["60"] = "the node does not answer"
	h.apply(tunedRun("run", 1))
	h.turns("finished", h.is("run", v1alpha1.ConditionFinished), "run")
	const why = "its Job failed: the node does not answer"
	for _, list := range [][]v1alpha1.HostTuningStatus{h.get("run").Status.HostTuning, h.published("run")} {
		if len(list) != 1 || list[0].Restored == nil || *list[0].Restored || list[0].Message != why {
			t.Errorf("it says %+v", list)
		}
	}
	delete(h.broken, "60")
	h.restored("run")
	if status := h.get("run").Status.HostTuning[0]; !*status.Restored || status.Message != "" {
		t.Errorf("status is %+v", status)
	}
	warned := 0
	for len(h.events.Events) > 0 {
		if strings.Contains(<-h.events.Events, "HostNotRestored node "+h.databaseNode+" was not restored: "+why) {
			warned++
		}
	}
	must.Same(t, "events that warn of it", 1, warned)
}

// A node that is gone cannot be restored: that is said at once, and its Lease does not stay.
func TestEnvtestHostThatIsGone(t *testing.T) {
	h := newFakeHost(t)
	h.apply(tunedRun("run", 1))
	h.turns("a trial is measured", h.did("run-t1-a1 with 1"), "run")
	h.must(api.Delete(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: h.databaseNode}}))
	h.turns("finished", h.is("run", v1alpha1.ConditionFinished), "run")
	if status := h.get("run").Status.HostTuning[0]; *status.Restored || status.Message != "node "+h.databaseNode+" no longer exists" {
		t.Errorf("status is %+v", status)
	}
	h.turns("the Lease is gone", func() bool { h.clock.Step(time.Minute); return h.forgotten() }, "run")
}
