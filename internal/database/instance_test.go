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
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// A container without which there is no server is given up when it has ended three times, and the message has its last words.
func TestStartIsGivenUp(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	backOff := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 20s"}}
	died := terminated("Error", "starting\nmmap failed\n\nAborted (core dumped)\n", 134)
	const last = "its log ends with: starting | mmap failed | Aborted (core dumped)"
	status := func(container string, restarts int32, state, last corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: container, RestartCount: restarts, State: state, LastTerminationState: last}
	}
	started := status("server", 7, running, died)
	started.Started, started.Ready = ptr.To(true), true
	for name, tc := range map[string]struct {
		init, main []corev1.ContainerStatus
		log        string
		want       database.State
	}{
		"once": {
			main: []corev1.ContainerStatus{status("server", 0, died, corev1.ContainerState{})},
			want: database.State{Waiting: "the server ended with exit code 134 before the database was up; " + last},
		},
		"twice": {
			main: []corev1.ContainerStatus{status("server", 1, backOff, died)},
			want: database.State{Waiting: "the server ended with exit code 134 before the database was up; " + last},
		},
		"twice, and started again": {
			main: []corev1.ContainerStatus{status("server", 2, running, died)}, want: database.State{Waiting: "the server is starting"},
		},
		"three times": {
			main: []corev1.ContainerStatus{status("server", 2, backOff, died)},
			want: database.State{Broken: "the server ended 3 times with exit code 134 before the database was up; " + last},
		},
		"an image that does nothing": {
			main: []corev1.ContainerStatus{status("server", 2, backOff, terminated("Completed", "", 0))}, log: "Hello from Docker!\n",
			want: database.State{
				Broken: "the server ended 3 times with exit code 0 before the database was up; its log ends with: Hello from Docker!",
			},
		},
		"no such program": {
			main: []corev1.ContainerStatus{status("server", 2, backOff, terminated("StartError", "exec: not found", 128))},
			want: database.State{Broken: "the server ended 3 times with exit code 128 before the database was up; " +
				"its log ends with: exec: not found"},
		},
		"out of memory": {
			main: []corev1.ContainerStatus{status("server", 2, backOff, terminated("OOMKilled", "", 137))},
			want: database.State{Broken: "the server ran out of memory and was killed 3 times before the database was up: " +
				"raise database.resources.limits.memory"},
		},
		"a container that prepares the volume": {
			init: []corev1.ContainerStatus{status("restore", 2, backOff, terminated("Error", "no space left", 1))},
			want: database.State{
				Broken: "container restore ended 3 times with exit code 1 before the database was up; its log ends with: no space left",
			},
		},
		"a container that has prepared it": {
			init: []corev1.ContainerStatus{status("probe", 5, terminated("Completed", "", 0), corev1.ContainerState{})},
			want: database.State{Waiting: "the database's Pod is starting"},
		},
		"the observer": {
			init: []corev1.ContainerStatus{status("observer", 5, backOff, died)}, main: []corev1.ContainerStatus{status("server", 0, running, corev1.ContainerState{})},
			want: database.State{Waiting: "the server is starting"},
		},
		"a server that is up": {main: []corev1.ContainerStatus{started}, want: database.State{Ready: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod(func(p *corev1.Pod) {
				p.Status.PodIP, p.Status.InitContainerStatuses, p.Status.ContainerStatuses = "192.0.2.10", tc.init, tc.main
			})
			i := &database.Instance{Set: &appsv1.StatefulSet{}, Pod: p}
			if _, needed := i.NeedsLog(); needed {
				i.ServerLog = tc.log
			}
			must.Same(t, "state", tc.want, i.State())
		})
	}
}

// What the scheduler says of a claim that is not bound is nothing; the claim's own event says why.
func TestClaimThatCannotBeProvisioned(t *testing.T) {
	p := pod(unschedulable(corev1.ConditionFalse))
	i := &database.Instance{Set: &appsv1.StatefulSet{}, Pod: p, ClaimWarning: "failed to provision volume: no room"}
	must.Same(t, "waiting", "a volume of the database cannot be provisioned: failed to provision volume: no room", i.State().Waiting)
}

func TestLost(t *testing.T) {
	deleted := ptr.To(metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	ended := func(reason string, code int32) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code}
	}
	for name, tc := range map[string]struct {
		set  func(*appsv1.StatefulSet) *appsv1.StatefulSet
		pod  func(*corev1.Pod) *corev1.Pod
		want string
	}{
		"up":          {},
		"set gone":    {set: func(*appsv1.StatefulSet) *appsv1.StatefulSet { return nil }, want: "the database's StatefulSet was deleted"},
		"set is gone": {set: func(s *appsv1.StatefulSet) *appsv1.StatefulSet { s.DeletionTimestamp = deleted; return s }, want: "the database's StatefulSet was deleted"},
		"Pod gone":    {pod: func(*corev1.Pod) *corev1.Pod { return nil }, want: "the database's Pod is gone"},
		"Pod deleted": {pod: func(p *corev1.Pod) *corev1.Pod { p.DeletionTimestamp = deleted; return p }, want: "the database's Pod was deleted"},
		"evicted": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.DeletionTimestamp = deleted
				p.Status.Conditions = []corev1.PodCondition{{
					Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler", Message: "preempted",
				}}
				return p
			},
			want: "the database's Pod was disrupted: PreemptionByScheduler: preempted",
		},
		"evicted by Kueue": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.DeletionTimestamp = deleted
				p.Status.Conditions = []corev1.PodCondition{{
					Type: "TerminationTarget", Status: corev1.ConditionTrue, Reason: "WorkloadEvicted", Message: "The ClusterQueue is stopped",
				}}
				return p
			},
			want: "Kueue evicted the database's Pod: The ClusterQueue is stopped",
		},
		"node lost": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.Spec.NodeName, p.DeletionTimestamp = "worker", deleted
				p.Status.Conditions = []corev1.PodCondition{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"},
					{Type: corev1.PodReady, Status: corev1.ConditionFalse},
				}
				return p
			},
			want: "the database's node worker does not answer",
		},
		"out of memory": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated = ended("OOMKilled", 137)
				return p
			},
			want: "the server ran out of memory and was killed: raise database.resources.limits.memory",
		},
		"ended": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: ended("Error", 1)}
				return p
			},
			want: "the server ended with exit code 1; its log is empty",
		},
		"restarted": {
			pod: func(p *corev1.Pod) *corev1.Pod {
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated = ended("Completed", 0)
				return p
			},
			want: "the server ended with exit code 0; its log is empty",
		},
		"no status yet": {pod: func(p *corev1.Pod) *corev1.Pod { p.Status.ContainerStatuses = nil; return p }},
	} {
		t.Run(name, func(t *testing.T) {
			set, pod := &appsv1.StatefulSet{}, &corev1.Pod{}
			testutil.ReadyDatabasePod(pod)
			if tc.set != nil {
				set = tc.set(set)
			}
			if tc.pod != nil {
				pod = tc.pod(pod)
			}
			must.Same(t, "lost", tc.want, (&database.Instance{Set: set, Pod: pod}).Lost())
		})
	}
}

// refusalLog is what a server writes that does not know a variable.
const refusalLog = `2026-01-02  3:04:05 0 [Note] Starting MariaDB 11.8.3-MariaDB-ubu2404 as process 1
2026-01-02  3:04:05 0 [Warning] option 'x': value adjusted
2026-01-02  3:04:05 0 [ERROR] 
2026-01-02  3:04:05 0 [ERROR] Aborting
2026-01-02  3:04:05 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'innodb_nonsense=1'
2026-01-02  3:04:05 0 [ERROR] Something that follows from it
`

func pod(changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "run-db1-0"}}
	for _, change := range changes {
		change(p)
	}
	return p
}

// server sets the status of the server's container.
func server(s corev1.ContainerStatus) func(*corev1.Pod) {
	s.Name = database.ServerContainer
	return func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{s} }
}

// waiting sets what an init container waits for.
func waiting(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: database.ProbeContainer, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}
	}
}

func terminated(reason, log string, exitCode int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exitCode, Reason: reason, Message: log}}
}

func unschedulable(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "not this one"},
			{Type: corev1.PodScheduled, Status: status, Message: "0/3 nodes are available"},
		}
	}
}

// held is what the API server makes of a Pod that Kueue has yet to admit.
func held(p *corev1.Pod) {
	p.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "bench"}
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
		Message: "Scheduling is blocked due to non-empty scheduling gates",
	}}
}

func beingDeleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }

func TestObserve(t *testing.T) {
	const unknown = "/usr/sbin/mariadbd: unknown variable 'innodb_nonsense=1'"
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	backOff := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s"}}
	starting := database.State{Waiting: "the database's Pod is starting"}
	cases := map[string]struct {
		noSet bool
		pod   *corev1.Pod
		want  database.State
	}{
		"nothing": {noSet: true, want: database.State{Waiting: "the database is being created"}},
		"a Pod that has lost its StatefulSet": {
			noSet: true, pod: pod(testutil.ReadyDatabasePod), want: database.State{Waiting: "the database is being created"},
		},
		"no Pod":        {want: database.State{Waiting: "the database's Pod is being created"}},
		"no status":     {pod: pod(), want: starting},
		"scheduled":     {pod: pod(unschedulable(corev1.ConditionTrue)), want: starting},
		"unschedulable": {pod: pod(unschedulable(corev1.ConditionFalse)), want: database.State{Waiting: "the database's Pod cannot be scheduled: 0/3 nodes are available"}},
		"held by Kueue": {pod: pod(held), want: database.State{
			Waiting: `Kueue has not admitted the database's Pod yet: LocalQueue "bench" needs quota for database and loader at the same time`,
			Held:    true,
		}},
		"held by somebody else": {
			pod: pod(held, func(p *corev1.Pod) { p.Spec.SchedulingGates[0].Name = "example.com/gate" }),
			want: database.State{
				Waiting: "the database's Pod cannot be scheduled: Scheduling is blocked due to non-empty scheduling gates",
			},
		},
		"image of the probe is not found": {
			pod: pod(waiting("ImagePullBackOff", "no such image")), want: database.State{Waiting: "container probe is waiting: ImagePullBackOff: no such image"},
		},
		"waiting without a message": {pod: pod(waiting("ErrImagePull", "")), want: database.State{Waiting: "container probe is waiting: ErrImagePull"}},
		"being created":             {pod: pod(waiting("ContainerCreating", "")), want: starting},
		"initializing":              {pod: pod(waiting("PodInitializing", "")), want: starting},
		"image of the server is not found": {
			pod: pod(server(corev1.ContainerStatus{State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"},
			}})),
			want: database.State{Waiting: "container server is waiting: ImagePullBackOff: no such image"},
		},
		"server is starting": {
			pod: pod(server(corev1.ContainerStatus{State: running, Started: ptr.To(false)})), want: database.State{Waiting: "the server is starting"},
		},
		"ready": {pod: pod(testutil.ReadyDatabasePod), want: database.State{Ready: true}},
		"ready, and being deleted": {
			pod: pod(testutil.ReadyDatabasePod, beingDeleted), want: database.State{Waiting: "the database's Pod is being deleted"},
		},
		"refused, and waiting to be started again": {
			pod: pod(func(p *corev1.Pod) { testutil.RefusedDatabasePod(p, refusalLog) }), want: database.State{Refused: unknown},
		},
		"refused just now": {
			pod: pod(server(corev1.ContainerStatus{State: terminated("Error", refusalLog, 1)})), want: database.State{Refused: unknown},
		},
		"refused, and started again": {
			pod:  pod(server(corev1.ContainerStatus{State: running, Started: ptr.To(false), LastTerminationState: terminated("Error", refusalLog, 7)})),
			want: database.State{Refused: unknown},
		},
		"out of memory is no refusal": {
			pod: pod(server(corev1.ContainerStatus{State: backOff, LastTerminationState: terminated("OOMKilled", refusalLog, 137)})),
			want: database.State{
				Waiting: "the server ran out of memory and was killed before the database was up: raise database.resources.limits.memory",
			},
		},
		"a good end is no refusal": {
			pod: pod(server(corev1.ContainerStatus{State: backOff, LastTerminationState: terminated("Completed", "over", 0)})),
			want: database.State{
				Waiting: "the server ended with exit code 0 before the database was up; its log ends with: over",
			},
		},
		"an end without an error line is no refusal": {
			pod: pod(server(corev1.ContainerStatus{State: backOff, LastTerminationState: terminated("Error", "[ERROR] Aborting\n[ERROR] \nkilled", 1)})),
			want: database.State{Waiting: "the server ended with exit code 1 before the database was up; " +
				"its log ends with: [ERROR] Aborting | [ERROR] | killed"},
		},
		"an error of a server that is up again is no refusal": {
			pod: pod(server(corev1.ContainerStatus{
				State: running, Ready: true, Started: ptr.To(true), RestartCount: 1, LastTerminationState: terminated("Error", refusalLog, 1),
			}), func(p *corev1.Pod) { p.Status.PodIP = "192.0.2.10" }),
			want: database.State{Ready: true},
		},
		"a probe for another processor": {
			pod: pod(func(p *corev1.Pod) {
				p.Spec.NodeName = "worker"
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
					Name: database.ProbeContainer, Image: "loader:arm64", State: backOff,
					LastTerminationState: terminated("Error", "exec /loader: exec format error", 255),
				}}
			}),
			want: database.State{
				Broken: "node worker cannot execute image loader:arm64 of container probe: it is for another processor (exec format error)",
			},
		},
		"an error of another container is no refusal": {
			pod: pod(func(p *corev1.Pod) {
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: database.ProbeContainer, State: terminated("Error", "[ERROR] no", 1)}}
			}),
			want: database.State{
				Waiting: "container probe ended with exit code 1 before the database was up; its log ends with: [ERROR] no",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.StatefulSet{}
			if tc.noSet {
				set = nil
			}
			must.Same(t, "state", tc.want, (&database.Instance{Set: set, Pod: tc.pod}).State())
		})
	}
}

func TestFactsOfThePod(t *testing.T) {
	probe := func(state corev1.ContainerState) *corev1.Pod {
		return pod(func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: database.ProbeContainer, State: state}}
		})
	}
	cases := map[string]struct {
		pod         *corev1.Pod
		fingerprint string
		known       bool
		image       string
	}{
		"no status":         {pod: pod()},
		"up":                {pod(testutil.ReadyDatabasePod), testutil.Fingerprint, true, "mariadb@sha256:2222"},
		"probe is running":  {pod: probe(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})},
		"probe has failed":  {pod: probe(terminated("Error", "panic", 2))},
		"probe has no text": {pod: probe(terminated("Completed", "", 0)), known: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fingerprint, known := database.Fingerprint(tc.pod)
			if fingerprint != tc.fingerprint || known != tc.known {
				t.Errorf("fingerprint is %q, %t", fingerprint, known)
			}
			must.Same(t, "image", tc.image, (&database.Instance{Pod: tc.pod}).Image())
		})
	}
}

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
		must.Same(t, name+": interrupted", tc.interrupted, i.Interrupted(began) != "")
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
		must.Same(t, name, "the database's Pod is being created: "+tc.want, tc.instance.State().Waiting)
	}
}
