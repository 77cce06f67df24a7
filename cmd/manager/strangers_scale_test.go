//go:build envtest && scale

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestScaleStrangers starts a manager beside what it reads and no cache reduces: 180 events of 1.3 MB about the Pod of a database
// that finds no room, and 85 Pods of over a megabyte of labels on the only node, which are read for what would fit and, when the
// database has its node after all, for its neighbors. It prints the memory, and the CPU time of a look. More than 128 MiB is too
// much.
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
