// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttuning

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// world is a node, its record, and the Jobs that the decisions have started.
type world struct {
	Record
	seen       Observed
	swappiness string
	jobs       map[string]Outcome
	now        time.Time
	// fails has what the Jobs of a state leave in place of their work, in order.
	fails   map[State][]Outcome
	running []func() bool
	// done is what was decided.
	done []string
}

func newWorld() *world {
	return &world{
		Record: New(&v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}, "a", "sda"), seen: Observed{Needed: true},
		swappiness: "60", jobs: map[string]Outcome{}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		fails: map[State][]Outcome{},
	}
}

// work of a Job.
func (w *world) work(args []string) Outcome {
	if fails := w.fails[w.State]; len(fails) > 0 {
		w.fails[w.State] = fails[1:]
		return fails[0]
	}
	if slices.Contains(args, "--set") {
		_, w.swappiness, _ = strings.Cut(args[len(args)-1], "=")
	}
	return Outcome{Exists: true, Ended: true, Report: &result.HostReport{Settings: result.HostSettings{Swappiness: w.swappiness}}}
}

// step carries out a decision. A Job that sets the node takes longer than others.
func (w *world) step(t *testing.T) {
	t.Helper()
	if w.swappiness != "60" && w.Before.Swappiness != "60" {
		t.Fatal("it was changed before its values were recorded")
	}
	job := Job(lease(), &w.Record, podutil.Images{})
	w.seen.Job = w.jobs[job.Name]
	switch d := Next(w.Record, w.seen, w.now); {
	case d.Start:
		w.jobs[job.Name] = Outcome{Exists: true}
		w.done = append(w.done, string(w.State))
		due := w.now.Add(map[State]time.Duration{Setting: 6 * time.Second}[w.State])
		w.running = append(w.running, func() bool {
			if w.now.Before(due) {
				return false
			}
			w.jobs[job.Name] = w.work(job.Spec.Template.Spec.Containers[0].Args)
			return true
		})
	case d.Write != nil:
		w.Record = *d.Write
	case d.Forget:
		w.done = append(w.done, "forgotten")
	}
	w.now = w.now.Add(time.Second)
	w.running = slices.DeleteFunc(w.running, func(end func() bool) bool { return end() })
}

func (w *world) steps(t *testing.T, until func() bool) {
	t.Helper()
	for range 1000 {
		if until() {
			return
		}
		w.step(t)
	}
	t.Fatalf("it does not end: %+v, %q", w.Record, w.done)
}

func (w *world) forgotten() bool { return slices.Contains(w.done, "forgotten") }

// Whenever a run no longer needs its node, or is gone, the node is restored, and its Lease deleted.
func TestReleasedAtAnyStep(t *testing.T) {
	for n := range 15 {
		for name, release := range map[string]func(*world){
			"released": func(w *world) { w.Release, w.seen.Noted = true, true }, "gone": func(w *world) { w.seen = Observed{Noted: true} },
		} {
			w := newWorld()
			for range n {
				w.step(t)
			}
			release(w)
			w.steps(t, w.forgotten)
			if w.swappiness != "60" || !*w.Restored || n < 2 && len(w.done) > 2 || n > 8 && !cmp.Equal(w.done, []string{"Reading", "Setting", "Restoring", "forgotten"}) {
				t.Errorf("%s after %d steps: swappiness %s, %q", name, n, w.swappiness, w.done)
			}
		}
	}
}

// A node that was not restored is tried again after a minute; it is forgotten only when it is restored, or gone.
func TestNodesThatFail(t *testing.T) {
	broken := Outcome{Exists: true, Ended: true, Failure: "no Pod"}
	report := func(swappiness, problem string) Outcome {
		settings := result.HostSettings{Swappiness: swappiness}
		return Outcome{Exists: true, Ended: true, Report: &result.HostReport{Settings: settings, Problem: problem}}
	}
	lost := Outcome{} // as if somebody had deleted the Job
	for name, tc := range map[string]struct {
		state State
		fails []Outcome
		seen  func(*world)
		// failure of the run, message and restored of the status when it is known how the node ends, and what was done then.
		failure, message string
		restored         bool
		done             string
		// waits is how long its Lease stays then.
		waits time.Duration
	}{
		"cannot be read":     {state: Reading, fails: []Outcome{broken}, failure: "HostTuningFailed: node a: its Job failed: no Pod", restored: true, done: "Reading"},
		"reads nothing":      {state: Reading, fails: []Outcome{report("", "")}, failure: "SettingNotEffective: node a: {Swappiness: IOScheduler: TransparentHugePages:} was read, but {Swappiness:1 IOScheduler: TransparentHugePages:} is requested", restored: true, done: "Reading"},
		"cannot be set":      {state: Setting, fails: []Outcome{broken}, failure: "HostTuningFailed: node a: its Job failed: no Pod", restored: true, done: "Reading Setting Restoring"},
		"refuses the value":  {state: Setting, fails: []Outcome{report("2", "requested 1, effective 2")}, failure: "SettingNotEffective: node a: requested 1, effective 2", restored: true, done: "Reading Setting Restoring"},
		"loses its Jobs":     {state: Setting, fails: []Outcome{lost, lost}, restored: true, done: "Reading Setting Setting Setting Restoring"},
		"has no restorer":    {state: Restoring, fails: []Outcome{broken, broken, lost}, message: "its Job failed: no Pod", done: "Reading Setting Restoring", waits: 2 * time.Minute},
		"is not restored":    {state: Restoring, fails: []Outcome{report("1", "")}, message: "read back {Swappiness:1 IOScheduler: TransparentHugePages:}, not {Swappiness:60 IOScheduler: TransparentHugePages:}", done: "Reading Setting Restoring", waits: 1 * time.Minute},
		"is gone":            {seen: func(w *world) { w.seen.NodeGone = true }, message: "node a no longer exists", done: "Reading Setting", waits: 5 * time.Minute},
		"is gone meanwhile":  {state: Restoring, fails: []Outcome{broken}, seen: func(w *world) { w.seen.NodeGone = w.Attempts > 0 }, message: "its Job failed: no Pod", done: "Reading Setting Restoring", waits: 5 * time.Minute},
		"nobody takes note":  {seen: func(w *world) { w.seen.Noted = false }, restored: true, done: "Reading Setting Restoring", waits: 5 * time.Minute},
		"nothing goes wrong": {restored: true, done: "Reading Setting Restoring"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.fails[tc.state] = tc.fails
			w.steps(t, func() bool { return w.State == Tuned || w.State == Failed })
			if got := strings.Trim(w.Reason+": "+w.Failure, ": "); got != tc.failure || (got == "") != (w.After.Swappiness == "1") {
				t.Errorf("the run fails with %q, the node has %+v", got, w.After)
			}
			w.Release, w.seen.Noted = true, true
			if tc.seen == nil {
				tc.seen = func(*world) {}
			}
			w.steps(t, func() bool { tc.seen(w); return w.Settled() })
			if got := strings.Join(w.done, " "); *w.Restored != tc.restored || w.Message != tc.message || got != tc.done {
				t.Errorf("restored %t: %q after %s", *w.Restored, w.Message, got)
			}
			settled := w.now
			w.steps(t, func() bool { tc.seen(w); return w.forgotten() })
			waited := w.now.Sub(settled).Round(10 * time.Second)
			if *w.Restored != (w.swappiness == "60") || *w.Restored == w.seen.NodeGone || waited != tc.waits {
				t.Errorf("it is forgotten with swappiness %s after %s", w.swappiness, waited)
			}
		})
	}
}

// A node that comes back is restored.
func TestNodeComesBack(t *testing.T) {
	w := newWorld()
	w.steps(t, func() bool { return w.State == Tuned })
	w.Release, w.seen.NodeGone, w.seen.Noted = true, true, true
	w.steps(t, w.Settled)
	w.seen.NodeGone = false
	w.steps(t, w.forgotten)
	if w.swappiness != "60" || !*w.Restored || w.Message != "" {
		t.Errorf("it has swappiness %s, %+v", w.swappiness, w.Record)
	}
}

func lease() *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "system", Name: LeaseName("a"), UID: "01234567-89ab-cdef-0123-456789abcdef", Labels: map[string]string{"l": "v"},
	}}
}

// Each Job is privileged, on its node alone, and has a name of its own, as has each attempt to restore a node.
func TestJob(t *testing.T) {
	r := New(&v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](0), IOScheduler: "none"}, "a", "sda")
	r.Before = v1alpha1.HostSettings{Swappiness: "60", IOScheduler: "bfq"}
	names := map[string]bool{}
	for attempts, tc := range []struct {
		state State
		want  string
	}{
		{Reading, "host --disk=sda --swappiness=0 --io-scheduler=none"},
		{Setting, "host --set --disk=sda --swappiness=0 --io-scheduler=none"},
		{Restoring, "host --set --disk=sda --swappiness=60 --io-scheduler=bfq"},
		{Restoring, "host --set --disk=sda --swappiness=60 --io-scheduler=bfq"},
	} {
		r.State, r.Attempts = tc.state, attempts
		job := Job(lease(), &r, podutil.Images{Loader: "loader:1", Registry: "registry.example.com", PullSecrets: []string{"pull"}})
		spec := job.Spec.Template.Spec
		c := spec.Containers[0]
		must.Same(t, string(tc.state), tc.want, strings.Join(c.Args, " "))
		if job.Namespace != "system" || spec.NodeName != "a" || !metav1.IsControlledBy(job, lease()) || len(job.Name) > 63 ||
			c.Image != "registry.example.com/loader:1" || spec.ImagePullSecrets[0].Name != "pull" || !*c.SecurityContext.Privileged ||
			*spec.AutomountServiceAccountToken || len(spec.Volumes) != 0 || spec.HostPID || spec.HostNetwork {
			t.Errorf("%s: %+v", tc.state, job)
		}
		names[job.Name] = true
	}
	must.Same(t, fmt.Sprintf("names %v", names), 4, len(names))
}

// What a Job has left counts only if it is its own Pod's, and whole.
func TestOutcomeOf(t *testing.T) {
	pod := func(owner string, code int32, message string) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "job", Controller: ptr.To(owner == "job")}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
				Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}},
			}}},
		}
	}
	good := pod("job", 0, `{"settings":{"swappiness":"60"}}`)
	for name, tc := range map[string]struct {
		condition batchv1.JobConditionType
		pods      []corev1.Pod
		want      string
	}{
		"running":      {"", []corev1.Pod{good}, "false 60"},
		"criteria met": {batchv1.JobSuccessCriteriaMet, []corev1.Pod{good}, "false 60"},
		"complete":     {batchv1.JobComplete, []corev1.Pod{pod("job", 1, ""), good}, "true 60"},
		"somebody's":   {batchv1.JobComplete, []corev1.Pod{pod("other", 0, `{}`)}, "true said: forbidden"},
		"garbled":      {batchv1.JobFailed, []corev1.Pod{pod("job", 2, "{")}, `true exit code 2: "{": unexpected end of JSON input: forbidden`},
		"no Pod":       {batchv1.JobFailed, nil, "true said: forbidden"},
	} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job"}, Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{
			{Type: tc.condition, Status: corev1.ConditionTrue, Message: "said"},
		}}}
		o := OutcomeOf(job, tc.pods, func() string { return "forbidden" })
		got := o.Failure
		if o.Report != nil {
			got = o.Report.Settings.Swappiness
		}
		if got = fmt.Sprint(o.Ended, " ", got); !o.Exists || got != tc.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A record comes back as it was, and one of another version does not.
func TestDecode(t *testing.T) {
	w := newWorld()
	w.steps(t, func() bool { return w.State == Tuned })
	w.Release, w.seen.NodeGone = true, true
	w.steps(t, w.Settled)
	text := must.Get(json.Marshal(w.Record))(t)
	got, err := Decode(string(text))
	if diff := cmp.Diff(&w.Record, got); err != nil || diff != "" {
		t.Errorf("%v, record (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"", "{}", `{"version":1,"status":{"node":"a"}}`, `{"version":2}`, "["} {
		if r, err := Decode(bad); err == nil {
			t.Errorf("%q is %+v", bad, r)
		}
	}
}

func TestLeaseName(t *testing.T) {
	long, other := LeaseName(strings.Repeat("a", 253)), LeaseName(strings.Repeat("a", 252)+"b")
	if got := LeaseName("worker-1"); got != "worker-1.host.benchrun.dev" || len(long) > 253 || long == other {
		t.Errorf("%s, %s and %s", got, long, other)
	}
}
