// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// in is a run that was created so many seconds before now.
func in(lane, namespace, name string, age time.Duration, changes ...func(*v1alpha1.BenchmarkRun)) v1alpha1.BenchmarkRun {
	run := testutil.MakeRun(name, namespace).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Lane, r.CreationTimestamp, r.UID = lane, ago(age), types.UID(namespace+name)
	})
	for _, change := range changes {
		run = run.With(change)
	}
	return *run.Obj()
}

func condition(name string) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue})
	}
}

func TestLine(t *testing.T) {
	suspended := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }
	deleted := func(r *v1alpha1.BenchmarkRun) { r.DeletionTimestamp = ptr.To(ago(0)) }
	run := in("default", "b", "run", 10*time.Second)
	all := []v1alpha1.BenchmarkRun{
		in("default", "b", "younger", 9*time.Second),
		in("default", "c", "same-age", 10*time.Second),
		in("default", "b", "sam", 10*time.Second), // after "run" by its name
		in("default", "a", "zebra", 10*time.Second),
		in("default", "z", "older", 11*time.Second),
		in("other", "a", "elsewhere", time.Hour),
		in("default", "a", "suspended", time.Hour, suspended),
		in("default", "a", "deleted", time.Hour, deleted),
		in("default", "a", "failed", time.Hour, condition(v1alpha1.ConditionFailed)),
		in("default", "a", "finished", time.Hour, condition(v1alpha1.ConditionFinished)),
		in("default", "a", "holder", time.Hour),
		in("default", "a", "admitted", time.Second, condition(v1alpha1.ConditionAdmitted)),
		in("default", "b", "run", time.Hour, suspended), // as a cache that is behind may have it
	}
	all = append(all,
		in("default", "a", "resumed", time.Hour, func(r *v1alpha1.BenchmarkRun) { r.Status.QueuedTime = ptr.To(ago(5 * time.Second)) }),
		in("default", "a", "just-resumed", time.Hour, condition(v1alpha1.ConditionSuspended)))
	holder := HolderOf(&all[10])
	var contenders []Contender
	for i := range all {
		contenders = append(contenders, ContenderOf(&all[i]))
	}
	want := []string{
		"run a/admitted", "run z/older", "run a/zebra", "run b/run", "run b/sam", "run c/same-age",
		"run b/younger", "run a/resumed", "run a/just-resumed",
	}
	for range 3 {
		slices.Reverse(contenders)
		must.Same(t, "line", want, line(ContenderOf(&run), contenders, &holder))
		must.Same(t, "next", want[0], NextInLine(ContenderOf(&run), contenders, &holder).String())
	}
	must.Same(t, "the oldest, with no holder", "run a/holder", line(ContenderOf(&run), contenders, nil)[1])
}

// line is the whole queue, the next one first.
func line(one Contender, all []Contender, holder *Holder) (names []string) {
	waiting := slices.DeleteFunc(slices.Clone(all), func(c Contender) bool { return !one.competes(&c, holder) })
	for _, c := range slices.SortedFunc(slices.Values(append(waiting, one)), Contender.compare) {
		names = append(names, c.String())
	}
	return names
}

func TestHolderIdentity(t *testing.T) {
	for identity, says := range map[string]string{
		"BenchmarkRun/ns/name/uid": "run ns/name",
		"somebody":                 "somebody",
		"a/b":                      "a/b",
		"":                         "",
	} {
		h := ParseHolder(identity)
		must.Same(t, identity+" is called", says, h.String())
		if strings.Count(identity, "/") == 3 && h.Identity() != identity {
			t.Errorf("%q becomes %q", identity, h.Identity())
		}
	}
}

func TestNextInTheQueue(t *testing.T) {
	me := HolderOf(oneAxis(1, 2))
	first := Holder{Kind: RunKind, Namespace: "a", Name: "first", UID: "1"}
	queue := func(a Action, message string) Decision {
		return Decision{Action: a, Reason: v1alpha1.ReasonQueued, Message: message}
	}
	unexpected := func(d Decision) Decision {
		d.Unexpected = true
		return d
	}
	free := Lane{Lease: "s/l", Next: me}
	notYet := Lane{Lease: "s/l", Next: first}
	taken := Lane{Lease: "s/l", Holder: &first, Next: me}
	foreign, gone := taken, taken
	foreign.Foreign, gone.Foreign, gone.Abandoned = true, true, true
	waiting := "waiting for run a/first, which holds lane default; next in the queue"
	elsewhere := "waiting for run a/first of another installation, which holds lane default (Lease s/l); next in the queue"
	provide := Decision{Action: ProvideDatabase{Instance: 1}, Reason: v1alpha1.ReasonProvisioningDatabase, Message: "the database is being created"}
	admitted := condition(v1alpha1.ConditionAdmitted)
	up := []Instance{instanceOf(1, "u")}
	checkDecisions(t, map[string]decision{
		"free, and first":      {seen: Observed{Lane: free}, want: queue(TakeLane{}, "lane default is free; next in the queue")},
		"free, not first":      {seen: Observed{Lane: notYet}, want: queue(Wait{}, "in the queue of lane default; others are ahead of it")},
		"taken":                {seen: Observed{Lane: taken}, want: queue(Wait{}, waiting)},
		"elsewhere":            {seen: Observed{Lane: foreign}, want: after(queue(Wait{}, elsewhere), 10*time.Second)},
		"elsewhere, abandoned": {seen: Observed{Lane: gone}, want: queue(ReleaseLane{first}, elsewhere)},
		"held":                 {seen: Observed{Lane: Lane{Lease: "s/l", Holder: &me}}, want: provide},
		"held under this name by an earlier run": {
			seen: Observed{Lane: Lane{Lease: "s/l", Holder: &Holder{RunKind, me.Namespace, me.Name, "old"}, Next: me}},
			want: queue(Wait{}, "waiting for run ns/run, which holds lane default; next in the queue"),
		},
		"predecessor, taken":   {seen: Observed{Lane: taken, Predecessor: Predecessor{Remains: []string{"run-db1"}}}, want: queue(Wait{}, waiting)},
		"invalid, taken":       {seen: Observed{Lane: taken, Blockers: Blockers{Terminal: &Failure{"InvalidSpecification", "no"}}}, want: failsWith("InvalidSpecification", "no")},
		"lost":                 {run: admitted, seen: Observed{Lane: taken}, want: unexpected(queue(Wait{}, waiting))},
		"lost, with a Job":     {run: admitted, seen: Observed{Lane: taken, Attempts: []Attempt{attemptOf(1, 1)}, Instances: up}, want: unexpected(queue(RemoveJob{Job: attemptOf(1, 1).Job}, waiting))},
		"lost, with a server":  {run: admitted, seen: Observed{Lane: taken, Instances: up}, want: unexpected(queue(RemoveDatabase{1}, waiting))},
		"lost, and taken back": {run: admitted, seen: Observed{Lane: free, Instances: up}, want: queue(TakeLane{}, "lane default is free; next in the queue")},
		"retrying": {seen: Observed{Lane: free, Blockers: Blockers{RetryError: "no"}}, want: Decision{
			Action: TakeLane{}, Reason: v1alpha1.ReasonRetrying, Message: "no",
		}},
	})
}

// A run leaves its lane when nothing of it can disturb the next one, whatever becomes of what it leaves for inspection.
func TestNextLeavesTheLane(t *testing.T) {
	lane := held(oneAxis(1, 2))
	lane.Lease = "s/l"
	me := *lane.Holder
	ended := func(policy v1alpha1.CleanupPolicy) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) {
			endedRun(r, v1alpha1.ConditionFailed)
			r.Spec.Cleanup = policy
		}
	}
	ttl := func(seconds int32) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) {
			ended(v1alpha1.CleanupAlways)(r)
			r.Spec.TTLSecondsAfterFinished = &seconds
		}
	}
	always, never := ended(v1alpha1.CleanupAlways), ended(v1alpha1.CleanupNever)
	wait, leave := after(Decision{Action: Wait{}}, time.Second), Decision{Action: ReleaseLane{me}}
	loader := func(phase corev1.PodPhase, deletedAgo time.Duration) []corev1.Pod {
		pod := corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		if deletedAgo > 0 {
			pod.DeletionTimestamp = ptr.To(ago(deletedAgo))
		}
		return []corev1.Pod{pod}
	}
	kept := func(pods ...corev1.Pod) []Attempt {
		return []Attempt{attemptOf(1, 1, func(a *Attempt) { a.Pods = pods })}
	}
	dying := func(deletedAgo time.Duration) []Instance {
		return []Instance{instanceOf(1, "u", setGone, onlyPod, func(i *Instance) { i.Pod.DeletionTimestamp = ptr.To(ago(deletedAgo)) })}
	}
	idle := []Instance{instanceOf(1, "u")}
	checkDecisions(t, map[string]decision{
		"nothing is left":               {run: always, seen: Observed{Lane: lane}, want: leave},
		"another has it":                {run: always, seen: Observed{Lane: heldByOther}, want: Decision{Action: Wait{}}},
		"the Job is going":              {run: always, seen: Observed{Lane: lane, Attempts: []Attempt{attemptOf(1, 1, jobGoing, loading)}}, want: wait},
		"the Job is going, alone":       {run: always, seen: Observed{Lane: lane, Attempts: []Attempt{attemptOf(1, 1, jobGoing)}}, want: leave},
		"the loader is going":           {run: always, seen: Observed{Lane: lane, Lingering: loader(corev1.PodRunning, time.Second)}, want: wait},
		"the loader has ended":          {run: always, seen: Observed{Lane: lane, Lingering: loader(corev1.PodFailed, time.Second)}, want: leave},
		"the loader's node is lost":     {run: always, seen: Observed{Lane: lane, Lingering: loader(corev1.PodRunning, time.Minute)}, want: leave},
		"the server is going":           {run: always, seen: Observed{Lane: lane, Instances: dying(time.Second)}, want: wait},
		"the server's node is lost":     {run: always, seen: Observed{Lane: lane, Instances: dying(time.Minute)}, want: leave},
		"the StatefulSet is going":      {run: always, seen: Observed{Lane: lane, Instances: []Instance{instanceOf(1, "u", removed)}}, want: wait},
		"the StatefulSet goes, alone":   {run: always, seen: Observed{Lane: lane, Instances: []Instance{instanceOf(1, "u", removed, withoutPod)}}, want: leave},
		"kept, idle":                    {run: never, seen: Observed{Lane: lane, Instances: idle}, want: leave},
		"kept, a loader works":          {run: never, seen: Observed{Lane: lane, Attempts: kept(loader(corev1.PodRunning, 0)...), Instances: idle}, want: wait},
		"kept, the loader has ended":    {run: never, seen: Observed{Lane: lane, Attempts: kept(loader(corev1.PodSucceeded, 0)...), Instances: idle}, want: wait},
		"kept, a Job without a Pod":     {run: never, seen: Observed{Lane: lane, Attempts: kept(), Instances: idle}, want: wait},
		"kept, a Job that has ended":    {run: never, seen: Observed{Lane: lane, Attempts: []Attempt{attemptOf(1, 1, vanished)}, Instances: idle}, want: leave},
		"lifetime over, lane first":     {run: ttl(0), seen: Observed{Lane: lane}, want: leave},
		"lifetime over, something left": {run: ttl(0), seen: Observed{Lane: lane, Lingering: loader(corev1.PodRunning, 1)}, want: after(Decision{Action: DeleteRun{}}, time.Second)},
		"lifetime not over, left":       {run: ttl(3600 + 60), seen: Observed{Lane: lane, Lingering: loader(corev1.PodRunning, 1)}, want: wait},
	})
}

// The time in the queue counts neither for the start of a run nor against its deadline, before it starts and after it was
// suspended.
func TestQueuedTimeDoesNotCount(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.DeadlineSeconds = ptr.To[int32](60)
	at := now
	look := func(after time.Duration, suspend bool, lane Lane) {
		t.Helper()
		at = at.Add(after)
		run.Spec.Suspend = ptr.To(suspend)
		run.Status = stored(t, statusOf(t, run, &Observed{Lane: lane}, at))
	}
	lane := held(run)
	look(0, false, heldByOther)
	look(24*time.Hour, false, heldByOther)
	if s := &run.Status; s.StartTime != nil || s.Deadline != nil || statuses(s.Conditions)[v1alpha1.ConditionFailed] != "False InProgress" {
		t.Errorf("in the queue: started %v, deadline %v, %v", s.StartTime, s.Deadline, statuses(s.Conditions))
	}
	look(time.Second, false, lane)
	start := at
	if !run.Status.StartTime.Time.Equal(start) {
		t.Errorf("started %s, want %s", run.Status.StartTime, start)
	}
	look(30*time.Second, true, lane)       // suspended; its database is being removed
	look(time.Hour, true, heldByOther)     // it has left its lane
	look(time.Hour, false, heldByOther)    // resumed
	look(24*time.Hour, false, heldByOther) // still in the queue
	look(time.Hour, false, lane)           // its turn again
	look(29*time.Second, false, lane)      // one second is left
	want := metav1.NewTime(start.Add(27*time.Hour + time.Minute))
	if s := &run.Status; !s.Deadline.Equal(&want) || *s.SuspendedSeconds != 27*3600 || statuses(s.Conditions)[v1alpha1.ConditionFailed] != "False InProgress" {
		t.Errorf("deadline %s, want %s; %d seconds; %v", s.Deadline, want, *s.SuspendedSeconds, statuses(s.Conditions))
	}
	if look(time.Second, false, lane); statuses(run.Status.Conditions)[v1alpha1.ConditionFailed] != "True DeadlineExceeded" {
		t.Errorf("after its deadline: %v", statuses(run.Status.Conditions))
	}
}

// A run that an error keeps from its lane ends too.
func TestRetriesInTheQueueEndAtTheDeadline(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.DeadlineSeconds = ptr.To[int32](60)
	seen := func() *Observed {
		return &Observed{Lane: Lane{Lease: "s/l"}, Blockers: Blockers{RetryError: "leases is forbidden"}}
	}
	run.Status = statusOf(t, run, seen(), now)
	d := next(t, run, seen(), now.Add(time.Minute))
	if d.Failure == nil || d.Failure.Reason != v1alpha1.ReasonDeadlineExceeded || !strings.Contains(d.Failure.Message, "leases is forbidden") {
		t.Errorf("decided %+v", d)
	}
}

// Only an installation's lanes can be asked for. What has begun goes on.
func TestLaneRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		lane    string
		lanes   []string
		started bool
		refused bool
	}{
		"any":               {"mine", nil, false, false},
		"the only one":      {"default", []string{"default"}, false, false},
		"one of two":        {"disks", []string{"default", "disks"}, false, false},
		"a tenant's own":    {"mine", []string{"default", "disks"}, false, true},
		"begun before that": {"mine", []string{"default"}, true, false},
	} {
		run := testutil.MakeRun("r", "ns").Obj()
		run.Spec.Lane = tc.lane
		if tc.started {
			run.Status.StartTime = ptr.To(metav1.NewTime(now))
		}
		got := (&Limits{Lanes: tc.lanes}).Refused(run)
		must.Same(t, fmt.Sprintf("%s: %v", name, got), tc.refused, got != nil)
		want := "spec.lane is mine, but the lanes of this installation are: default, disks; use one of them, or ask an administrator " +
			"for another (--lanes)"
		if got != nil && (got.Message != want || got.Reason != v1alpha1.ReasonInvalidSpecification) {
			t.Errorf("%s: %s: %s", name, got.Reason, got.Message)
		}
	}
}

// Who waits is not told who is in another namespace, and where the administrator finds it; its own namespace has names.
func TestPositionNamesNobodyElse(t *testing.T) {
	me := Holder{Kind: RunKind, Namespace: "ns", Name: "run"}
	run := Holder{Kind: RunKind, Namespace: "tenant", Name: "secret"}
	near, odd := Holder{Kind: RunKind, Namespace: "ns", Name: "near"}, ParseHolder("tenant secret")
	const lease = "s/default.lane.benchrun.dev"
	for name, tc := range map[string]struct {
		lane Lane
		want string
	}{
		"a run": {Lane{Holder: &run}, "waiting for a run of another namespace, which holds lane default (Lease " + lease + "); next in the queue"},
		"near":  {Lane{Holder: &near}, "waiting for run ns/near, which holds lane default; next in the queue"},
		"foreign": {
			Lane{Holder: &run, Foreign: true},
			"waiting for a run of another installation, which holds lane default (Lease " + lease + "); next in the queue",
		},
		"no holder that we know": {
			Lane{Holder: &odd, Foreign: true},
			"waiting for an unrecognized holder of another installation, which holds lane default (Lease " + lease + "); next in the queue",
		},
	} {
		tc.lane.Lease, tc.lane.Anonymous, tc.lane.Next = lease, true, me
		must.Same(t, name, tc.want, tc.lane.turn("default", me).Message)
		tc.lane.Anonymous = false
		if got := tc.lane.turn("default", me).Message; name != "near" && !strings.Contains(got, "secret") {
			t.Errorf("%s: with names: %s", name, got)
		}
	}
}
