// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// podOf is the Pod of a run's StatefulSet.
func podOf(t *testing.T, run *v1alpha1.BenchmarkRun) corev1.PodSpec {
	t.Helper()
	for _, object := range objects(t, run, 1, "", images) {
		if set, ok := object.(*appsv1.StatefulSet); ok {
			return set.Spec.Template.Spec
		}
	}
	t.Fatal("there is no StatefulSet")
	return corev1.PodSpec{}
}

func container(spec corev1.PodSpec, name string) *corev1.Container {
	all := slices.Concat(spec.InitContainers, spec.Containers)
	if i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// The observer adds to what the Pod requests what the documentation says, and takes nothing from the server.
func TestObserverInThePod(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Obj()
	with := podOf(t, run)
	run.Spec.Database.Observer = v1alpha1.ObserverDisabled
	without := podOf(t, run)
	if container(without, database.ObserverContainer) != nil || without.ShareProcessNamespace != nil {
		t.Error("a run without an observer has one, or shares processes")
	}
	for name, want := range map[corev1.ResourceName]string{corev1.ResourceCPU: "100m", corev1.ResourceMemory: "32Mi"} {
		requests := resource.PodRequests(&corev1.Pod{Spec: with}, resource.PodResourcesOptions{})
		limits := resource.PodLimits(&corev1.Pod{Spec: with}, resource.PodResourcesOptions{})
		before := resource.PodRequests(&corev1.Pod{Spec: without}, resource.PodResourcesOptions{})
		more := requests[name]
		more.Sub(before[name])
		if more.Cmp(apiresource.MustParse(want)) != 0 || requests.Name(name, apiresource.DecimalSI).Cmp(limits[name]) != 0 {
			t.Errorf("%s: %s more, not %s; limits %v", name, more.String(), want, limits)
		}
	}
}

// An observer that is started again makes the Pod unready for a moment. That says nothing about the server or its node, and
// the instance stays as it was.
func TestObserverIsNotTheServer(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	observer := func(restarts int32, containersReady time.Time) *corev1.Pod {
		p := pod(testutil.ReadyDatabasePod)
		p.UID = "uid"
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(began.Add(time.Minute))},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(containersReady)},
		}
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, corev1.ContainerStatus{
			Name: database.ObserverContainer, RestartCount: restarts,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(containersReady)}},
			LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"},
			},
		})
		return p
	}
	for name, tc := range map[string]struct {
		pod         *corev1.Pod
		interrupted bool
	}{
		"the observer was started again":         {observer(1, began.Add(59*time.Second)), false},
		"the node did not answer":                {observer(0, began.Add(-time.Hour)), true},
		"it was started again long before":       {observer(3, began.Add(-time.Minute)), true},
		"a container of a policy became ready":   {withForeign(observer(0, began.Add(time.Minute)), true), false},
		"a container of a policy is never ready": {withForeign(observer(0, time.Time{}), false), false},
	} {
		i := &database.Instance{Number: 1, Set: &appsv1.StatefulSet{}, Pod: tc.pod}
		if got := i.Interrupted(began) != ""; got != tc.interrupted {
			t.Errorf("%s: interrupted is %t", name, got)
		}
		if lost := i.Lost(); lost != "" || !i.Intact("uid") || !i.State().Ready {
			t.Errorf("%s: lost %q, intact %t, %+v", name, lost, i.Intact("uid"), i.State())
		}
	}
}

// withForeign adds a container to a Pod, which is not ready as long as that one is not.
func withForeign(p *corev1.Pod, ready bool) *corev1.Pod {
	p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "agent"})
	p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "agent", Ready: ready})
	for i := range p.Status.Conditions {
		if !ready {
			p.Status.Conditions[i].Status = corev1.ConditionFalse
		}
	}
	return p
}

// What a LimitRange says about a Pod names no container. The user's own are large enough, so that it can only be the observer.
func TestObserverThatIsTooSmall(t *testing.T) {
	const refused = "forbidden: minimum cpu usage per Container is 200m, but request is 100m"
	observed := &appsv1.StatefulSet{}
	observed.Spec.Template.Spec.InitContainers = []corev1.Container{{
		Name: database.ObserverContainer, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: apiresource.MustParse("100m"), corev1.ResourceMemory: apiresource.MustParse("32Mi"),
		}},
	}}
	const hint = "; the observer requests 100m of CPU and 32Mi of memory: set database.observer to Disabled to leave it out"
	for name, tc := range map[string]struct {
		instance database.Instance
		want     string
	}{
		"too small":   {database.Instance{Set: observed, Warning: refused}, refused + hint},
		"no observer": {database.Instance{Set: &appsv1.StatefulSet{}, Warning: refused}, refused},
		"a quota":     {database.Instance{Set: observed, Warning: "forbidden: exceeded quota"}, "forbidden: exceeded quota"},
	} {
		if got, want := tc.instance.State().Waiting, "the database's Pod is being created: "+tc.want; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
