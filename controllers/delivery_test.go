//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// follows lets the operator follow the logs of loaders, as it does in a manager. awaited waits until what it follows is read.
func (c *cluster) follows() (awaited func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c.t.Cleanup(cancel)
	c.reconciler.followers = newFollowers(c.reconciler.Logs, &c.reconciler.decoding)
	c.reconciler.followers.until(ctx)
	return c.reconciler.followers.reading.Wait
}

// delivers lets a loader write its whole document, and run on: the kubelet has yet to report its end.
func (c *cluster) delivers(job *batchv1.Job, pod *corev1.Pod) {
	c.succeed(job, pod)
	c.ends[pod.Name] = pod.Status.DeepCopy()
	job.Status.Conditions = nil
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

// reportEnds has the kubelet report some of the ends that it has yet to report.
func (c *cluster) reportEnds(some func() bool) {
	c.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(c.ends)) {
		if !some() {
			continue
		}
		key, status := client.ObjectKey{Namespace: c.namespace, Name: name}, c.ends[name]
		delete(c.ends, name)
		var pod corev1.Pod
		if err := api.Get(c.t.Context(), key, &pod); apierrors.IsNotFound(err) {
			continue
		}
		status.DeepCopyInto(&pod.Status)
		c.must(api.Status().Update(c.t.Context(), &pod))
		key.Name = pod.Labels[batchv1.JobNameLabel]
		var job batchv1.Job
		if err := api.Get(c.t.Context(), key, &job); apierrors.IsNotFound(err) {
			continue
		}
		testutil.JobCondition(&job, batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached)
		job.Status.StartTime = &metav1.Time{Time: c.clock.Now()}
		c.must(api.Status().Update(c.t.Context(), &job))
	}
}

// untilSettled reconciles a run many times, lets the cluster react, and waits for what is followed.
func (c *cluster) untilSettled(name string, awaited func()) {
	c.t.Helper()
	for range 60 {
		c.reconcile(name)
		awaited()
		c.react()
	}
}

// recordsOf are the records of a run, by their names.
func (c *cluster) recordsOf(run string) map[string]*result.Record {
	c.t.Helper()
	var configs corev1.ConfigMapList
	c.must(api.List(c.t.Context(), &configs, client.InNamespace(c.namespace), client.MatchingLabels{
		v1alpha1.LabelComponent: v1alpha1.ComponentAttempt, v1alpha1.LabelRun: run,
	}))
	records := map[string]*result.Record{}
	for _, cm := range configs.Items {
		record, err := result.DecodeRecord(cm.Data[result.RecordKey])
		c.must(err)
		records[cm.Name] = record
	}
	return records
}

// frozen compares the status and all records of a run with those that were recorded.
func (c *cluster) frozen(name, run string) {
	c.t.Helper()
	frozen.Check(c.t, name, frozen.Stable(c.t, map[string]any{"status": c.get(run).Status, "records": c.recordsOf(run)}, c.namespace))
}

// endOf a run, without what depends on how the API server's answers and the test's steps lie in time.
func (c *cluster) endOf(run string) []byte {
	c.t.Helper()
	status := c.get(run).Status
	conditions := map[string]string{}
	for _, condition := range []string{v1alpha1.ConditionComplete, v1alpha1.ConditionFailed, v1alpha1.ConditionFinished} {
		c := apimeta.FindStatusCondition(status.Conditions, condition)
		conditions[condition] = string(c.Status) + " " + c.Reason
	}
	points := map[string]any{}
	for _, p := range status.Points {
		points[fmt.Sprint(p.Parameters)] = p
	}
	return frozen.Stable(c.t, map[string]any{
		"conditions": conditions, "points": points, "records": c.attemptNames(), "jobs": c.jobs, "progress": status.Progress,
		"answer": status.Answer, "trials": status.Trials,
	}, c.namespace)
}

// A run does not wait until the kubelet reports that a loader has ended: its document is all that counts, and the next trial starts
// while the Pod of the last one is still said to run.
func TestEnvtestDeliveredIsRecorded(t *testing.T) {
	c := newCluster(t)
	awaited := c.follows()
	c.loader = c.delivers
	c.apply(testutil.MakeRun("run", "").Repetitions(3).Obj())
	c.untilSettled("run", awaited)
	c.allAccepted("run", 3)
	c.nothingRuns()
	must.Same(t, "logs that are still followed", 0, len(c.reconciler.followers.byName))
}

// The record of an attempt is the same whether its document was seen in the log or its end was reported: two operators, of which
// one sees the one first, and one the other, write the same.
func TestEnvtestDeliveredRecordIsTheSame(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("reported", "").Repetitions(1).Obj())
	c.until("reported", v1alpha1.ConditionComplete)
	c.settle("reported") // it leaves its lane
	awaited := c.follows()
	c.loader = c.delivers
	c.apply(testutil.MakeRun("delivered", "").Repetitions(1).Obj())
	c.untilSettled("delivered", awaited)
	reported, delivered := c.recordsOf("reported")["reported-t1-a1"], c.recordsOf("delivered")["delivered-t1-a1"]
	if reported == nil || delivered == nil {
		t.Fatalf("records: %v, %v", reported, delivered)
	}
	// What differs between two runs in any case.
	for _, record := range []*result.Record{reported, delivered} {
		record.JobUID, record.Place.DatabasePodUID, record.Place.LoaderPodUID = "", "", ""
		who := &record.Summary.Identity
		who.RunUID, who.PodUID, record.Summary.DocumentSHA256, record.Summary.DocumentBytes = "", "", "", 0
	}
	must.Same(t, "record of what is delivered, as of what is reported", reported, delivered)
}

// A loader that has delivered and then is said to have failed, before the operator has recorded it, is judged by what the cluster
// says; and one whose Pod is being deleted, too.
func TestEnvtestDeliveredAndFailed(t *testing.T) {
	c := newCluster(t)
	awaited := c.follows()
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		c.delivers(job, pod)
		if c.jobs["run-t1-a2"] == 0 {
			c.failSilently("")(job, pod)
		}
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.untilSettled("run", awaited)
	must.Same(t, "records", []string{"run-t1-a1 Invalidated", "run-t1-a2 Accepted"}, c.attemptNames())
}

// Where a program makes the load, a document in the log ends nothing: the program may have written it. The loader's end does.
func TestEnvtestProgramsDoNotDeliver(t *testing.T) {
	c := newCluster(t)
	awaited := c.follows()
	c.loader = c.delivers
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: &v1alpha1.CustomWorkload{
			Image: "tool:1", Command: []v1alpha1.CustomArgument{"tool"},
		}}
	}).Obj())
	c.untilSettled("run", awaited)
	if names := c.attemptNames(); len(names) != 0 || len(c.ends) != 1 {
		t.Fatalf("before the loader has ended: %q, %d loaders", names, len(c.ends))
	}
	c.reportEnds(func() bool { return true })
	c.untilSettled("run", awaited)
	c.allAccepted("run", 1)
}

// A Pod of another owner that comes to the database's node during a trial, and a node under pressure, are said with the number.
// A Pod that was there all the time, and the run's own, are not. Of a Pod of another namespace, nothing that a user with "view"
// in the run's namespace can read has its name.
func TestEnvtestNeighbors(t *testing.T) {
	c := newCluster(t)
	visitors := summaryBesideNeighbors(t, c)
	must.Has(t, visitors.summary,
		"- Pods started on the database node during the attempt: "+c.namespace+"/visitor, 1 of other namespaces (1 of 3 trials)\n",
		"- the database node was short of resources: DiskPressure (2 of 3 trials)\n",
	)
	for _, other := range []string{"resident", "elsewhere", "run-db1", "Pods left"} {
		must.Lack(t, visitors.summary, "during the attempt: "+other, c.namespace+"/"+other)
	}
	for _, secret := range append(visitors.uids, "confidential", visitors.elsewhere) {
		for name, text := range visitors.readable {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s:\n%s", name, secret, text)
			}
		}
	}
}

// An administrator may let results name Pods of all namespaces.
func TestEnvtestNeighborsWithNames(t *testing.T) {
	c := newCluster(t)
	c.reconciler.NameOthers = true
	visitors := summaryBesideNeighbors(t, c)
	want := visitors.elsewhere + "/confidential-visitor"
	must.Has(t, visitors.summary, want)
}

// besideNeighbors is what is left of a run beside Pods of others.
type besideNeighbors struct {
	summary string
	// elsewhere is another namespace that has Pods on the node, and uids are those of all Pods of others.
	elsewhere string
	uids      []string
	// readable is the text of each object of the run, and of all events.
	readable map[string]string
}

func summaryBesideNeighbors(t *testing.T, c *cluster) *besideNeighbors {
	t.Helper()
	seen := &besideNeighbors{readable: map[string]string{}}
	node := "node-of-" + c.namespace
	c.databaseNode = node
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "tenant-"}}
	c.must(api.Create(t.Context(), other))
	seen.elsewhere = other.Name
	c.must(api.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}))
	t.Cleanup(func() {
		c.must(api.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}))
	})
	// It is in the test's namespace, or in that of another user, of whose Job it is and who labels it as one of the run's own.
	pod := func(namespace, name, node string) {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		if namespace == seen.elsewhere {
			p.Labels = map[string]string{v1alpha1.LabelRunUID: string(c.get("run").UID)}
			p.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "confidential", UID: "1", Controller: ptr.To(true),
			}}
		}
		c.must(api.Create(t.Context(), p))
		seen.uids = append(seen.uids, string(p.UID))
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(3).Obj())
	pod(c.namespace, "resident", node)
	pod(seen.elsewhere, "confidential-resident", node)
	c.loader = func(job *batchv1.Job, loader *corev1.Pod) {
		text, err := json.Marshal(job)
		c.must(err)
		seen.readable["Job "+job.Name] = string(text)
		if strings.HasSuffix(job.Name, "-t2-a1") {
			pod(c.namespace, "visitor", node)
			pod(seen.elsewhere, "confidential-visitor", node)
			pod(c.namespace, "elsewhere", "another-node")
			var n corev1.Node
			n.Name = node
			n.Status.Conditions = []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue},
			}
			c.must(api.Status().Update(t.Context(), &n))
		}
		c.succeed(job, loader)
	}
	c.until("run", "Complete")
	seen.summary = c.summary("run")
	seen.keep(t, c)
	return seen
}

// keep what can be read of the run in the end.
func (b *besideNeighbors) keep(t *testing.T, c *cluster) {
	t.Helper()
	text, err := json.Marshal(c.get("run"))
	c.must(err)
	b.readable["the run"] = string(text)
	var configs corev1.ConfigMapList
	c.must(api.List(t.Context(), &configs, client.InNamespace(c.namespace)))
	for i := range configs.Items {
		text, err := json.Marshal(configs.Items[i].Data)
		c.must(err)
		b.readable["ConfigMap "+configs.Items[i].Name] = string(text)
	}
	contents, err := clusterfiles.Read(t.Context(), api, c.namespace, "run-results")
	c.must(err)
	results, err := result.UnpackFile("results.json", contents)
	c.must(err)
	b.readable["results.json"] = string(results)
	if len(configs.Items) < 4 || len(results) == 0 {
		t.Fatalf("there are %d ConfigMaps, and results.json has %d bytes", len(configs.Items), len(results))
	}
}
