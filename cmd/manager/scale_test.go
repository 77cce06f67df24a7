//go:build envtest && scale

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	if err := api.Status().Update(t.Context(), run); err != nil {
		t.Error(err)
	}
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
