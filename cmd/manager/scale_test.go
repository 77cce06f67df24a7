//go:build envtest && scale

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestScaleMemory starts a manager beside 1,000 finished runs with five attempts and 50 kB of results each, a run of 5,000
// measured trials, and 250 ConfigMaps of 900 kB that anybody has made and labelled, and prints what it takes. More than 128 MiB
// is too much.
func TestScaleMemory(t *testing.T) {
	const most = 128
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "scale-"}}
	create(t, namespace)
	var objects []client.Object
	for i := range 250 {
		objects = append(objects, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: fmt.Sprintf("by-hand-%d", i), Labels: map[string]string{
				v1alpha1.LabelRun: "any", v1alpha1.LabelComponent: "any",
			}},
			Data: map[string]string{"text": strings.Repeat("x", 900_000)},
		})
	}
	inParallel(t, objects, func(o client.Object) { create(t, o) })
	var runs []client.Object
	for i := range 1000 {
		runs = append(runs, testutil.MakeRun(fmt.Sprintf("run%d", i), namespace.Name).Repetitions(5).Obj())
	}
	inParallel(t, runs, func(o client.Object) { finishedRun(t, o.(*v1alpha1.BenchmarkRun)) })
	large := largeRun(t, namespace.Name)

	m := start(t, namespace.Name, "scale", "")
	rss, peak := 0, 0
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		rss, peak = memory(t, m.pid)
		return large(ctx), nil
	})
	if err != nil {
		t.Fatalf("the large run: %v\n%s", err, m.log)
	}
	fmt.Printf("1,000 finished runs, 5,000 trials, 225 MB by hand: RSS %d MiB, at most %d MiB\n", rss, peak)
	if peak > most {
		t.Errorf("the manager took %d MiB, want at most %d", peak, most)
	}
}

func inParallel(t *testing.T, list []client.Object, do func(client.Object)) {
	t.Helper()
	work := make(chan client.Object)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for o := range work {
				do(o)
			}
		})
	}
	for _, o := range list {
		work <- o
	}
	close(work)
	workers.Wait()
}

// chained creates a run with so many records, and returns it with the reference to the newest in its status.
func chained(t *testing.T, run *v1alpha1.BenchmarkRun, n int) {
	t.Helper()
	run.UID = ""
	create(t, run)
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Error(err)
		return
	}
	list, newest := testutil.Chain(run, p, n)
	for _, cm := range list {
		create(t, cm)
	}
	run.Status.Records = newest
}

func finishedRun(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	chained(t, run, 5)
	create(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: run.Namespace, Name: plan.ResultsName(run), Labels: plan.Labels(run, v1alpha1.ComponentResults),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))},
		},
		Data: map[string]string{"results.json": strings.Repeat("x", 50_000)},
	})
	run.Status.Results.ConfigMap = plan.ResultsName(run)
	run.Status.Trials.Measured = ptr.To[int32](5)
	for _, condition := range []string{v1alpha1.ConditionComplete, v1alpha1.ConditionFinished} {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{
			Type: condition, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonComplete, LastTransitionTime: metav1.Now(),
		})
	}
	must.Do(t, api.Status().Update(t.Context(), run))
}

// largeRun makes a suspended run of 5,000 measured trials. What is returned says whether the manager has read all of them.
func largeRun(t *testing.T, namespace string) func(context.Context) bool {
	t.Helper()
	var values []v1alpha1.CommitSizeRowsPerCommit
	for i := range 100 {
		values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
	}
	run := testutil.MakeRun("large", namespace).Sweep(values...).Repetitions(plan.MaxTrials / 100).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Suspend = ptr.To(true)
	}).Obj()
	chained(t, run, plan.MaxTrials)
	must.Do(t, api.Status().Update(t.Context(), run))
	return func(ctx context.Context) bool {
		var now v1alpha1.BenchmarkRun
		return api.Get(ctx, client.ObjectKeyFromObject(run), &now) == nil && now.Status.Progress == "5000/5000"
	}
}

var resident = regexp.MustCompile(`Vm(RSS|HWM):\s+([0-9]+) kB`)

// memory of a process in MiB, now and at most.
func memory(t *testing.T, pid int) (now, most int) {
	t.Helper()
	text := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	for _, match := range resident.FindAllStringSubmatch(string(text), -1) {
		kilobytes := must.Get(strconv.Atoi(match[2]))(t)
		if match[1] == "RSS" {
			now = kilobytes >> 10
		} else {
			most = kilobytes >> 10
		}
	}
	return now, most
}

// TestScaleQueue prints what a queue of 1,000 runs in one lane costs: a manager that starts, and two departures.
func TestScaleQueue(t *testing.T) {
	took, writes := departures(t, 1000)
	fmt.Printf("1,000 runs in the queue of a lane: all have their place %.1f s after the start of the manager; %d writes for two departures\n",
		took.Seconds(), writes)
}

// TestScaleStrangers starts a manager beside what it reads and no cache reduces: 180 events of 1.3 MB about the Pod of a database
// that finds no room, and 85 Pods of over a megabyte of labels on the only node, which are read for the database's neighbors when
// it has its node after all. It prints the memory, and the CPU time of a look. More than 128 MiB is too much.
func TestScaleStrangers(t *testing.T) {
	const most, watched = 128, 20 * time.Second
	namespace, theirs := madeNamespace(t, "victim-"), madeNamespace(t, "theirs-")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "crowded"}}
	create(t, node)
	inParallel(t, fatPods(theirs, node.Name, 85), func(o client.Object) { create(t, o) })
	m := start(t, namespace, "strangers", "")
	run := runIn(t, namespace, "victim")
	pod := waitingServer(t, m, run)
	inParallel(t, fatEvents(pod, 180), func(o client.Object) { create(t, o) })
	began := cpuTime(t, m.pid)
	within(t, 5*time.Minute, "the run tells of the warnings\n"+m.log.String(), func(ctx context.Context) bool {
		return strings.Contains(message(ctx, run, v1alpha1.ConditionDatabaseReady), "Insufficient cpu")
	})
	time.Sleep(watched) // that long it is looked at; nothing is waited for
	looking := cpuTime(t, m.pid) - began
	_, waiting := memory(t, m.pid)

	to := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node.Name}}
	must.Do(t, api.SubResource("binding").Create(t.Context(), pod, to))
	must.Do(t, api.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	testutil.ReadyDatabasePod(pod)
	must.Do(t, api.Status().Update(t.Context(), pod))
	var job batchv1.Job
	within(t, 5*time.Minute, "the first attempt\n"+m.log.String(), func(ctx context.Context) bool {
		return api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "victim-t1-a1"}, &job) == nil
	})
	_, peak := memory(t, m.pid)
	fmt.Printf("180 events of 1.3 MB and 85 Pods of 1.2 MB by somebody else: at most %d MiB while the run waits, %d MiB with its first "+
		"attempt; CPU for %s of waiting: %s\n", waiting, peak, watched, looking.Round(10*time.Millisecond))
	if peak > most {
		t.Errorf("the manager took %d MiB, want at most %d", peak, most)
	}
	if !strings.Contains(job.Annotations["benchrun.dev/neighbors"], `"cut":true`) {
		t.Errorf("that not all was read is not noted: %.200s", job.Annotations["benchrun.dev/neighbors"])
	}
}

// waitingServer is the Pod of a run's first server, which nothing here makes: no node has room for it.
func waitingServer(t *testing.T, m *manager, run *v1alpha1.BenchmarkRun) *corev1.Pod {
	t.Helper()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: run.Name + "-db1"}}
	eventually(t, "the run has its server\n"+m.log.String(), func(ctx context.Context) bool {
		return api.Get(ctx, client.ObjectKeyFromObject(set), set) == nil
	})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: run.Namespace, Name: set.Name + "-0", Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Spec: set.Spec.Template.Spec,
	}
	create(t, pod)
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/1 nodes are available: 1 Insufficient cpu.",
	}}
	must.Do(t, api.Status().Update(t.Context(), pod))
	return pod
}

func fatPods(namespace, node string, n int) (all []client.Object) {
	for i := range n {
		meta := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("fat", i), Labels: map[string]string{}}
		for k := range 2000 {
			meta.Labels[fmt.Sprintf("%s.%s.%s/%05d%s", bulk[:63], bulk[:63], bulk[:63], k, bulk[:58])] = bulk[:63]
		}
		all = append(all, &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
			NodeName: node, Containers: []corev1.Container{{Name: "a", Image: "example.com/a"}}, TerminationGracePeriodSeconds: ptr.To[int64](0),
		}})
	}
	return all
}

func fatEvents(about *corev1.Pod, n int) (all []client.Object) {
	text := strings.Repeat("x", 1_300_000)
	for i := range n {
		all = append(all, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: about.Namespace, Name: fmt.Sprint("fat", i)},
			Type:       corev1.EventTypeWarning, Reason: "Fat", Message: text,
			InvolvedObject: corev1.ObjectReference{
				APIVersion: "v1", Kind: "Pod", Namespace: about.Namespace, Name: about.Name, UID: about.UID,
			},
		})
	}
	return all
}

// message of a run's condition.
func message(ctx context.Context, run *v1alpha1.BenchmarkRun, condition string) string {
	var now v1alpha1.BenchmarkRun
	if api.Get(ctx, client.ObjectKeyFromObject(run), &now) != nil {
		return ""
	}
	if c := apimeta.FindStatusCondition(now.Status.Conditions, condition); c != nil {
		return c.Message
	}
	return ""
}

// cpuTime that a process has used.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t)
	_, after, _ := strings.Cut(string(text), ") ") // the name of the program
	fields := strings.Fields(after)
	ticks := 0
	for _, field := range fields[11:13] {
		n := must.Get(strconv.Atoi(field))(t)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// TestScaleLargeComparison prints the CPU time that a suspended comparison of 1,000 points costs: the largest that is taken, and
// one that is refused.
func TestScaleLargeComparison(t *testing.T) {
	namespace := madeNamespace(t, "large-")
	m := start(t, namespace, "large", "")
	for bytes, want := range map[int]string{8000: v1alpha1.ConditionSuspended, 90_000: v1alpha1.ConditionFailed} {
		comparison := testutil.MakeVariants(fmt.Sprint("c", bytes), namespace, "a", "b").With(func(c *v1alpha1.BenchmarkRun) {
			c.Spec.Suspend = ptr.To(true)
			w := &v1alpha1.CustomWorkload{
				Image: "i", Command: []v1alpha1.CustomArgument{"x", "${n}"}, User: 1, Parameters: map[string]v1alpha1.SweptValue{"n": "0"},
			}
			for n := range bytes / 500 { // 64 arguments of each have room for 32 kB
				program := []*[]v1alpha1.CustomArgument{&w.Command, &w.Prepare, &w.Cleanup}[n%3]
				*program = append(*program, v1alpha1.CustomArgument(bulk[:500]))
			}
			for i := range 1000 {
				w.Points = append(w.Points, v1alpha1.CustomPoint{Parameters: map[string]v1alpha1.SweptValue{"n": v1alpha1.SweptValue(fmt.Sprint(i))}})
			}
			c.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: w}
		}).Obj()
		comparison.UID = ""
		began := cpuTime(t, m.pid)
		create(t, comparison)
		within(t, 2*time.Minute, fmt.Sprintf("a comparison with %d bytes is %s\n%s", bytes, want, m.log), func(ctx context.Context) bool {
			var now v1alpha1.BenchmarkRun
			err := api.Get(ctx, client.ObjectKeyFromObject(comparison), &now)
			return err == nil && apimeta.IsStatusConditionTrue(now.Status.Conditions, want)
		})
		fmt.Printf("a suspended comparison of 1,000 points with %d bytes: %s after %s of CPU\n", bytes, want, cpuTime(t, m.pid)-began)
	}
}

// foreign is how many objects of each kind there are. The API server and etcd need some 20 GB for 300.
var foreign = flag.Int("foreign", 300, "objects of 900 kB of each watched kind that somebody else has made")

// TestScaleForeign starts a manager beside 300 objects of 900 kB of each watched kind that a user has made and labelled in a
// namespace of his own, 1,000 queued runs and a run of 5,000 measured trials, and prints what it takes. More than 128 MiB is too
// much.
func TestScaleForeign(t *testing.T) {
	const most = 128
	each := *foreign
	theirs, namespace := madeNamespace(t, "theirs-"), madeNamespace(t, "queue-")
	for kind, of := range foreignKinds {
		var objects []client.Object
		for i := range each {
			objects = append(objects, of(foreignMeta(theirs, fmt.Sprintf("foreign%d", i))))
		}
		began := time.Now()
		inParallel(t, objects, func(o client.Object) { create(t, o) })
		t.Logf("%d objects of kind %s made in %s", each, kind, time.Since(began).Round(time.Second))
	}
	var queued []client.Object
	for i := range 1000 {
		queued = append(queued, testutil.MakeRun(fmt.Sprintf("queued%d", i), namespace).Repetitions(5).Obj())
	}
	inParallel(t, queued, func(o client.Object) { o.SetUID(""); create(t, o) })
	large := largeRun(t, namespace)

	m := start(t, madeNamespace(t, "leases-"), "foreign", "")
	peak := 0
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 20*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, now := memory(t, m.pid)
		peak = max(peak, now) // one that has ended has none
		return large(ctx) && allQueued(ctx, namespace), nil
	})
	if err != nil {
		t.Fatalf("the queue and the large run: %v, %d MiB\n%s", err, peak, m.log)
	}
	fmt.Printf("%d × 900 kB of %d kinds by somebody else, 1,000 queued runs, 5,000 trials: at most %d MiB\n",
		each, len(foreignKinds), peak)
	if peak > most {
		t.Errorf("the manager took %d MiB, want at most %d", peak, most)
	}
}

func madeNamespace(t *testing.T, prefix string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
	create(t, namespace)
	return namespace.Name
}

// allQueued says whether the manager has looked at every run: each has conditions.
func allQueued(ctx context.Context, namespace string) bool {
	var runs v1alpha1.BenchmarkRunList
	if api.List(ctx, &runs, client.InNamespace(namespace)) != nil {
		return false
	}
	for i := range runs.Items {
		if len(runs.Items[i].Status.Conditions) == 0 {
			return false
		}
	}
	return len(runs.Items) == 1001
}

// bulk is as much text as an object has room for.
var bulk = strings.Repeat("x", 900_000)

// foreignMeta has the labels and owner references of Benchrun, forged, and annotations as large as the API server takes.
func foreignMeta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name,
		Labels: map[string]string{
			v1alpha1.LabelComponent: v1alpha1.ComponentAttempt, v1alpha1.LabelRun: name, v1alpha1.LabelRunUID: name, v1alpha1.LabelTrial: "1",
		},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRun", Name: name, UID: "forged", Controller: ptr.To(true),
		}},
	}
}

// large fills an object by its metadata: annotations up to their bound, and labels, which have none. The API server adds their
// keys to the managed fields.
func large(meta metav1.ObjectMeta) metav1.ObjectMeta {
	meta.Annotations = map[string]string{"benchrun.dev/any": bulk[:125_000], "example.com/any": bulk[:130_000]}
	for i := range 1500 {
		meta.Labels[fmt.Sprintf("%s.%s.%s/%05d%s", bulk[:63], bulk[:63], bulk[:63], i, bulk[:58])] = bulk[:63]
	}
	return meta
}

func foreignPod() corev1.PodSpec {
	return corev1.PodSpec{
		Containers:    []corev1.Container{{Name: "a", Image: "example.com/a", Args: []string{bulk}}},
		RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To[int64](0),
	}
}

// foreignKinds are the watched kinds, each with an object of 900 kB.
var foreignKinds = map[string]func(metav1.ObjectMeta) client.Object{
	"ConfigMap": func(m metav1.ObjectMeta) client.Object {
		return &corev1.ConfigMap{ObjectMeta: large(m)}
	},
	"Job": func(m metav1.ObjectMeta) client.Object {
		return &batchv1.Job{ObjectMeta: m, Spec: batchv1.JobSpec{
			Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{Spec: foreignPod()},
		}}
	},
	"Pod": func(m metav1.ObjectMeta) client.Object { return &corev1.Pod{ObjectMeta: m, Spec: foreignPod()} },
	"StatefulSet": func(m metav1.ObjectMeta) client.Object {
		labels := map[string]string{"app": m.Name}
		template := foreignPod()
		template.RestartPolicy = corev1.RestartPolicyAlways
		return &appsv1.StatefulSet{ObjectMeta: m, Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: template},
		}}
	},
	"Service": func(m metav1.ObjectMeta) client.Object {
		return &corev1.Service{ObjectMeta: large(m), Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 1}},
		}}
	},
	"PersistentVolumeClaim": func(m metav1.ObjectMeta) client.Object {
		return &corev1.PersistentVolumeClaim{ObjectMeta: large(m), Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
		}}
	},
	"PodDisruptionBudget": func(m metav1.ObjectMeta) client.Object {
		return &policyv1.PodDisruptionBudget{ObjectMeta: large(m)}
	},
	"BenchmarkRun": func(m metav1.ObjectMeta) client.Object {
		run := testutil.MakeRun(m.Name, m.Namespace).With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }).Obj()
		m.OwnerReferences = nil
		run.ObjectMeta = large(m)
		return run
	},
}
