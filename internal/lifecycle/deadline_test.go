// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestDefaultDeadline(t *testing.T) {
	run := oneAxis(3, 2)
	run.Spec.Trials.StartDeadlineSeconds, run.Spec.Trials.DeadlineSeconds, run.Spec.Trials.MaxInvalid = 10, 100, ptr.To[int32](1)
	must.Same(t, "deadline", (6+2)*110*time.Second+2*10*time.Second+10*time.Minute, plan.Deadline(run, planOf(t, run)))
	run.Spec.Trials.DeadlineSeconds = 31536000
	must.Same(t, "the longest deadline", 365*24*time.Hour, plan.Deadline(run, planOf(t, run)))
	run.Spec.DeadlineSeconds = ptr.To[int32](5)
	must.Same(t, "deadline that was asked for", 5*time.Second, plan.Deadline(run, nil))
}

// Whatever a run waits for, it ends at its deadline, and says what it was.
func TestEveryWaitEndsAtTheDeadline(t *testing.T) {
	for name, tc := range map[string]struct {
		seen Observed
		says string
	}{
		"predecessor":          {Observed{Predecessor: Predecessor{Remains: []string{"run-db1"}}}, "objects of an earlier run of this name are still being deleted: run-db1"},
		"instance that stays":  {Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod", removed), instanceOf(2, "new")}}, "database instance 1 is being removed"},
		"database":             {Observed{}, "the database is being created"},
		"attempt":              {Observed{Attempts: []Attempt{attemptOf(1, 1, loading)}, Instances: []Instance{instanceOf(1, "u")}}, trialOne},
		"refused results":      {Observed{Records: records(1, 2), Blockers: Blockers{RetryError: "ConfigMap x cannot be written: quota", Unwritten: true}}, "quota"},
		"what cannot be read":  {Observed{Blockers: Blockers{ObserveFailed: true, RetryError: "listing Jobs: forbidden"}}, "listing Jobs: forbidden"},
		"a Job that is going":  {Observed{Attempts: []Attempt{attemptOf(1, 1, jobGoing)}}, trialOne},
		"a step that is stuck": {Observed{Blockers: Blockers{RetryError: "etcd: timeout"}}, "etcd: timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 2)
			run.Spec.DeadlineSeconds, run.Status.StartTime = ptr.To[int32](60), ptr.To(ago(60*time.Second))
			if d := next(t, run, &tc.seen, now.Add(-time.Second)); d.Failure != nil {
				t.Errorf("failed before its deadline: %v", d.Failure)
			}
			d := next(t, run, &tc.seen, now)
			if d.Failure == nil || d.Failure.Reason != v1alpha1.ReasonDeadlineExceeded || !strings.Contains(d.Failure.Message, tc.says) ||
				!strings.Contains(d.Failure.Message, "within 1m0s (spec.deadlineSeconds)") {
				t.Errorf("decided %+v, want a failure that says %q", d.Failure, tc.says)
			}
		})
	}
}

// What has been measured is kept, although the deadline has passed meanwhile.
func TestDeadlineLetsResultsBeWritten(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.DeadlineSeconds, run.Status.StartTime = ptr.To[int32](60), ptr.To(ago(time.Hour))
	for name, seen := range map[string]Observed{
		"record":  {Attempts: []Attempt{attemptOf(1, 1, vanished)}},
		"results": {Records: records(1, 2)},
	} {
		if d := next(t, run, &seen, now); d.Failure != nil || !d.writes() {
			t.Errorf("%s: decided %T, %v", name, d.Action, d.Failure)
		}
	}
}

// The time for which a run is suspended does not count.
func TestSuspendedTimeMovesTheDeadline(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.DeadlineSeconds = ptr.To[int32](60)
	at := now
	look := func(after time.Duration, suspend bool) {
		at = at.Add(after)
		run.Spec.Suspend = ptr.To(suspend)
		run.Status = statusOf(t, run, &Observed{}, at)
	}
	look(0, false)
	look(30*time.Second, true)
	look(time.Hour, true)
	look(time.Hour, false)
	if want := metav1.NewTime(now.Add(2*time.Hour + time.Minute)); !run.Status.Deadline.Equal(&want) {
		t.Errorf("the deadline is %s, want %s", run.Status.Deadline, want)
	}
	look(29*time.Second, true)
	look(time.Minute, false)
	if want := metav1.NewTime(now.Add(2*time.Hour + 2*time.Minute)); !run.Status.Deadline.Equal(&want) {
		t.Errorf("after a second time the deadline is %s, want %s", run.Status.Deadline, want)
	}
}

// defaultRun is a run without spec.deadlineSeconds, whose attempts may take 12 minutes with everything around them.
func defaultRun(repetitions int32) *v1alpha1.BenchmarkRun {
	run := oneAxis(1, repetitions)
	run.Spec.Trials.StartDeadlineSeconds, run.Spec.Trials.DeadlineSeconds = 10, 100
	return run
}

const defaultQuiet = 120*time.Second + 10*time.Minute

// A run that makes no progress ends when one attempt could have ended, and not when all could have.
func TestStuckRunEndsSoon(t *testing.T) {
	run := defaultRun(36)
	stuck := &Observed{Predecessor: Predecessor{Remains: []string{"run-db1"}}}
	run.Status = statusOf(t, run, stuck, now)
	if d := next(t, run, stuck, now.Add(defaultQuiet-time.Second)); d.Failure != nil {
		t.Errorf("ended too early: %v", d.Failure)
	}
	d := next(t, run, stuck, now.Add(defaultQuiet))
	if d.Failure == nil || d.Failure.Reason != v1alpha1.ReasonDeadlineExceeded ||
		d.Failure.Message != "the run made no progress for 12m0s (spec.deadlineSeconds is not set): "+
			"objects of an earlier run of this name are still being deleted: run-db1" {
		t.Errorf("decided %+v", d.Failure)
	}
}

// However slow a run is, each attempt that is recorded gives it time for the next, also if an operator was away for long before.
func TestSlowRunDoesNotEnd(t *testing.T) {
	run, at := defaultRun(36), now
	for trial := 1; trial < 36; trial++ {
		at = at.Add(119 * time.Second) // of 120 that an attempt may take
		seen := &Observed{Instances: []Instance{instanceOf(1, "u", starting)}}
		for n := range trial {
			seen.Records = append(seen.Records, records(n+1)...)
		}
		seen.Newest = v1alpha1.RecordReference{ConfigMap: "run-t1-a1", Digest: strings.Repeat("1", trial)}
		d := next(t, run, seen, at)
		if d.Failure != nil && d.Failure.Reason == v1alpha1.ReasonDeadlineExceeded {
			t.Fatalf("after %d trials it ended: %v", trial, d.Failure)
		}
		run.Status = statusOf(t, run, seen, at)
		if want := metav1.NewTime(at.Add(defaultQuiet)); !run.Status.Deadline.Equal(&want) {
			t.Fatalf("after %d trials the deadline is %s, want %s", trial, run.Status.Deadline, want)
		}
		// Nothing is new: the deadline stays, also while nothing can be read.
		for _, same := range []*Observed{seen, {Blockers: Blockers{ObserveFailed: true}}} {
			if later := statusOf(t, run, same, at.Add(time.Minute)).Deadline; !later.Equal(run.Status.Deadline) {
				t.Fatalf("a minute later it is %s", later)
			}
		}
	}
}

// An operator that was away for longer than a run may be quiet goes on with it.
func TestOperatorThatWasAway(t *testing.T) {
	run := defaultRun(36)
	seen := &Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod")}}
	run.Status = statusOf(t, run, seen, now)
	back := now.Add(2 * defaultQuiet)
	if d := next(t, run, seen, back); d.Failure != nil || d.Action == (Wait{}) {
		t.Fatalf("back again, it decides %T, %+v", d.Action, d.Failure)
	}
	attempt := attemptOf(2, 1, loading)
	attempt.Job.CreationTimestamp = metav1.NewTime(back)
	seen.Attempts = []Attempt{attempt}
	if d := next(t, run, seen, back.Add(time.Minute)); d.Failure != nil {
		t.Errorf("with the next attempt under way: %+v", d.Failure)
	}
	if d := next(t, run, seen, back.Add(defaultQuiet)); d.Failure == nil {
		t.Error("an attempt that never ends does not end the run")
	}
}

// The time for which a run waits again does not count, and it has all of its time afterwards.
func TestPausedRunHasAllOfItsTime(t *testing.T) {
	run := defaultRun(3)
	run.Status = statusOf(t, run, &Observed{}, now)
	run.Spec.Suspend = ptr.To(true)
	run.Status = statusOf(t, run, &Observed{}, now.Add(time.Minute))
	run.Spec.Suspend = ptr.To(false)
	at := now.Add(48 * time.Hour)
	seen := &Observed{Predecessor: Predecessor{Remains: []string{"x"}}}
	if d := next(t, run, seen, at); d.Failure != nil {
		t.Fatalf("after two days: %+v", d.Failure)
	}
	run.Status = statusOf(t, run, seen, at)
	if want := metav1.NewTime(at.Add(defaultQuiet)); !run.Status.Deadline.Equal(&want) {
		t.Errorf("the deadline is %s, want %s", run.Status.Deadline, want)
	}
	if d := next(t, run, seen, at.Add(defaultQuiet-time.Second)); d.Failure != nil {
		t.Errorf("before its deadline: %+v", d.Failure)
	}
}

// Progress without end is none: a Job that a user deletes again and again does not keep a run for ever.
func TestDefaultDeadlineIsBounded(t *testing.T) {
	run := defaultRun(2)
	run.Status = statusOf(t, run, &Observed{}, now)
	at := now
	for range 1000 {
		at = at.Add(time.Minute)
		attempt := attemptOf(1, 1, loading)
		attempt.Job.CreationTimestamp = metav1.NewTime(at)
		seen := &Observed{Attempts: []Attempt{attempt}, Instances: []Instance{instanceOf(1, "u")}}
		if d := next(t, run, seen, at); d.Failure != nil {
			if took := at.Sub(now); took < plan.Deadline(run, planOf(t, run)) || took > plan.Deadline(run, planOf(t, run))+time.Minute {
				t.Errorf("it ended after %s", took)
			}
			return
		}
		run.Status = statusOf(t, run, seen, at)
	}
	t.Error("it did not end")
}

func TestEnvironment(t *testing.T) {
	machine := v1alpha1.Environment{
		Kernel: "6.1.0", CPUModel: "Test CPU", CPUs: 2, MemoryBytes: 8 << 30, Filesystem: "ext4", MountOptions: "rw,relatime",
		IOScheduler: "none", Swappiness: "60", TransparentHugePages: "madvise", FdatasyncMicros: 110,
	}
	early := machine
	early.DatabaseNode, early.DatabaseImage = "worker", "mariadb@sha256:2222"
	whole := early
	whole.LoaderNode, whole.LoaderImage = "worker2", "loader@sha256:1111"
	silent := whole // the loader left no summary
	whole.ServerVersion, whole.SettingsDigest = "11.8.3-MariaDB", "sha256:abcd"
	moved := whole
	moved.DatabaseNode = "worker9"
	movedRecord := testutil.Record(2, 1, nil, 1000)
	movedRecord.Place.DatabaseNode = "worker9"
	unread := testutil.Record(1, 1, nil, 1000)
	unread.Fingerprint = nil
	evicted := disturbed(3, 1, result.OutcomeInvalidated, result.CauseEvicted)
	placeless := disturbed(1, 1, result.OutcomeInvalidated, result.CausePodDeleted)
	placeless.Place, placeless.Fingerprint = result.Place{}, nil
	garbled := func(i *Instance) { i.Pod.Status.InitContainerStatuses[0].State.Terminated.Message = "garbage" }
	cases := map[string]struct {
		seen Observed
		want v1alpha1.Environment
	}{
		"nothing":                          {},
		"no Pod":                           {Observed{Instances: []Instance{instanceOf(1, "u", withoutPod)}}, v1alpha1.Environment{}},
		"by the database's Pod":            {Observed{Instances: []Instance{instanceOf(1, "u")}}, early},
		"the probe's answer is garbage":    {Observed{Instances: []Instance{instanceOf(1, "u", garbled)}}, v1alpha1.Environment{DatabaseNode: "worker", DatabaseImage: "mariadb@sha256:2222"}},
		"by the latest accepted attempt":   {Observed{Records: []*result.Record{testutil.Record(1, 1, nil, 1000), movedRecord, evicted}}, moved},
		"by the latest, if none counts":    {Observed{Records: []*result.Record{placeless, evicted}}, silent},
		"records come before Pods":         {Observed{Records: records(1), Instances: []Instance{instanceOf(1, "u", garbled)}}, whole},
		"the probe's answer was not known": {Observed{Records: []*result.Record{unread}}, v1alpha1.Environment{DatabaseNode: "worker", DatabaseImage: "mariadb@sha256:2222", LoaderNode: "worker2", LoaderImage: "loader@sha256:1111", ServerVersion: "11.8.3-MariaDB", SettingsDigest: "sha256:abcd"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 3)
			p := planOf(t, run)
			a := judge.OfRun(run, p, tc.seen.Records)
			got := newSituation(run, p, &tc.seen, now).environment(a)
			must.Same(t, "environment", tc.want, got)
		})
	}
}

func TestPodFingerprint(t *testing.T) {
	if f := PodFingerprint(&corev1.Pod{}); f != nil {
		t.Errorf("fingerprint of a Pod without status: %+v", f)
	}
	if f := PodFingerprint(instanceOf(1, "u").Pod); f == nil || f.Kernel != "6.1.0" {
		t.Errorf("fingerprint is %+v", f)
	}
}

// A run measures under the class that it asks for, or not at all.
func TestBlockIOClass(t *testing.T) {
	requested := func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Storage.BlockIOClass = "disk-100" }
	probed := func(limit string) func(*Instance) {
		return func(i *Instance) {
			i.Pod.Spec.NodeName = "worker"
			text := strings.Replace(testutil.Fingerprint, `"ioScheduler"`, limit+`"ioScheduler"`, 1)
			i.Pod.Status.InitContainerStatuses[0].State.Terminated.Message = text
		}
	}
	refused := func(i *Instance) {
		i.Pod.Spec.NodeName = "worker"
		i.Pod.Annotations = map[string]string{database.AnnotationBlockIO: "disk-100"}
		i.Pod.Status = corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{
			Name: database.ProbeContainer, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "CreateContainerError", Message: `blockio disabled, refusing to set blockio class of container "probe" to "disk-100"`,
			}},
		}}}
	}
	const remedy = "; the administrator of the nodes defines the classes in the configuration of the container runtime"
	for name, tc := range map[string]struct {
		run     func(*v1alpha1.BenchmarkRun)
		changes []func(*Instance)
		want    string
	}{
		"in force":               {requested, []func(*Instance){probed(`"blockIO":"write 100/s on 254:0",`)}, ""},
		"not asked for":          {nil, []func(*Instance){probed(`"blockIO":"none",`)}, ""},
		"not asked for, v1":      {nil, []func(*Instance){probed("")}, ""},
		"not yet known":          {requested, []func(*Instance){starting, func(i *Instance) { i.Pod.Status.InitContainerStatuses = nil }}, ""},
		"no Pod yet":             {requested, []func(*Instance){withoutPod}, ""},
		"no limit":               {requested, []func(*Instance){probed(`"blockIO":"none",`)}, "block I/O class disk-100 does not limit the disk of the data volume (/dev/vda) on node worker" + remedy},
		"not known":              {requested, []func(*Instance){probed(`"blockIO":"unknown",`)}, "cannot read whether block I/O class disk-100 is in force on node worker"},
		"unknown to the probe":   {requested, []func(*Instance){probed("")}, "cannot read whether block I/O class disk-100 is in force on node worker"},
		"unknown to the runtime": {requested, []func(*Instance){refused}, "the container runtime of node worker has no block I/O class disk-100" + remedy},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 1)
			if tc.run != nil {
				tc.run(run)
			}
			d := next(t, run, &Observed{Instances: []Instance{instanceOf(1, "u", tc.changes...)}}, now)
			got := ""
			if d.Failure != nil {
				got = d.Failure.Message
				must.Same(t, "the run ends", v1alpha1.ReasonBlockIOClassNotEffective, d.Failure.Reason)
			}
			must.Same(t, "the run ends with", tc.want, got)
		})
	}
}

func TestThrottled(t *testing.T) {
	limit := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	none := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	const foreign = "look for a LimitRange or a resized Pod, or accept the limit with trials.maxThrottledPercent"
	for name, tc := range map[string]struct {
		requested corev1.ResourceRequirements
		bound     *int32
		had       int64
		throttled int64
		want      string
	}{
		"never held back":             {limit("1"), nil, 1000, 0, ""},
		"at the limit asked for":      {limit("1"), nil, 1000, 9_000_000, ""},
		"at the default limit":        {corev1.ResourceRequirements{}, nil, 1000, 9_000_000, ""},
		"on several CPUs":             {limit("4"), nil, 4000, 90_000_000, ""},
		"rounded by the runtime":      {limit("333m"), nil, 330, 5_000_000, ""},
		"unknown":                     {none, nil, -1, -1, ""},
		"limit unknown":               {none, nil, -1, 5_000_000, ""},
		"a foreign limit, hardly":     {none, nil, 500, 100_000, ""},
		"a higher limit than asked":   {limit("1"), nil, 2000, 5_000_000, ""},
		"allowed by the bound":        {limit("1"), ptr.To[int32](20), 1000, 2_000_000, ""},
		"a foreign limit, accepted":   {none, ptr.To[int32](100), 500, 9_000_000, ""},
		"beyond a bound of nothing":   {limit("1"), ptr.To[int32](0), 1000, 1, "the server was throttled at its CPU limit (1) for 0.00 s of the measured 10.00 s, 0.0%; trials.maxThrottledPercent allows 0%: raise database.resources.limits.cpu, or allow more"},
		"beyond the bound":            {limit("1500m"), ptr.To[int32](20), 1500, 2_500_000, "the server was throttled at its CPU limit (1500m) for 2.50 s of the measured 10.00 s, 25.0%; trials.maxThrottledPercent allows 20%: raise database.resources.limits.cpu, or allow more"},
		"a limit nobody asked for":    {none, nil, 500, 2_500_000, "the server was throttled at its CPU limit (500m) for 2.50 s of the measured 10.00 s, 25.0%; without trials.maxThrottledPercent, a limit that the run did not set may throttle the server for at most 1%: the run requests no CPU limit; " + foreign},
		"a lower limit than asked":    {limit("2"), nil, 500, 2_500_000, "the server was throttled at its CPU limit (500m) for 2.50 s of the measured 10.00 s, 25.0%; without trials.maxThrottledPercent, a limit that the run did not set may throttle the server for at most 1%: the run requests limits.cpu 2; " + foreign},
		"a foreign limit and a bound": {limit("2"), ptr.To[int32](5), 500, 2_500_000, "the server was throttled at its CPU limit (500m) for 2.50 s of the measured 10.00 s, 25.0%; trials.maxThrottledPercent allows 5%: the run requests limits.cpu 2; " + foreign},
	} {
		run := testutil.MakeRun("run", "ns").Obj()
		run.Spec.Database.Resources, run.Spec.Trials.MaxThrottledPercent = tc.requested, tc.bound
		s := &result.Summary{
			Totals:   result.Totals{Micros: 10_000_000},
			Observed: &result.ObservedSummary{ThrottledMicros: tc.throttled, CPULimitMillis: tc.had},
		}
		must.Same(t, name, tc.want, throttled(&run.Spec, s))
	}
	must.Same(t, "without an observer", "", throttled(&testutil.MakeRun("run", "ns").Obj().Spec, &result.Summary{}))
}
