// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// An attempt reports the headline of the plan first.
func TestAttemptHasTheMetric(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.Metric = "commitP99Micros"
	seen := &Observed{Instances: []Instance{instanceOf(1, "db-pod")}}
	if start, ok := next(t, run, seen, now).Action.(StartAttempt); !ok || start.Attempt.Metric != run.Spec.Metric {
		t.Errorf("%+v", start)
	}
}

// Only a run that asks for it is refused, and only where no administrator has named its namespace.
func TestHostTuningRefused(t *testing.T) {
	plain, tuned := oneAxis(1, 1), tunedRun()
	for namespaces, refused := range map[string]bool{"": true, "other": true, "other,ns": false} {
		limits := &Limits{HostTuning: strings.Split(namespaces, ",")}
		if got := limits.Refused(tuned); (got != nil) != refused || limits.Refused(plain) != nil {
			t.Errorf("allowed in %q: %+v", namespaces, got)
		}
	}
	if got := new(Limits).Refused(tuned); got == nil || got.Reason != v1alpha1.ReasonHostTuningNotAllowed {
		t.Errorf("allowed to nobody: %+v", got)
	}
}

func tunedRun() *v1alpha1.BenchmarkRun {
	run := oneAxis(1, 2)
	run.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
	return run
}

// onDisk has a Pod say which disk is below its volume.
func onDisk(i *Instance) {
	i.Pod.Status.InitContainerStatuses = append(i.Pod.Status.InitContainerStatuses, corev1.ContainerStatus{
		Name: database.DiskContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "sda"}},
	})
}

// tunedNode is the node worker, tuned by a run for swappiness 1, with changes.
func tunedNode(run *v1alpha1.BenchmarkRun, changes ...func(*TunedNode)) TunedNode {
	n := TunedNode{Holder: HolderOf(run), Record: &hosttuning.Record{State: hosttuning.Tuned}}
	n.Node, n.Before.Swappiness, n.After.Swappiness = "worker", "60", "1"
	for _, change := range changes {
		change(&n)
	}
	return n
}

func setting(n *TunedNode)  { n.State, n.After.Swappiness = hosttuning.Setting, "" }
func broken(n *TunedNode)   { n.State, n.Reason, n.Failure = hosttuning.Failed, "Broken", "no Pod" }
func released(n *TunedNode) { n.State, n.Release = hosttuning.Restoring, true }
func restored(n *TunedNode) { n.State, n.Release, n.Restored = hosttuning.Ended, true, ptr.To(true) }

func unrestored(n *TunedNode) {
	n.Release, n.Restored, n.Message = true, ptr.To(false), "it is off"
}
func ofOther(n *TunedNode) { n.Holder = *heldByOther.Holder }

// What a run does about nodes, by what was seen of them.
func TestDecisionsAboutNodes(t *testing.T) {
	up := Observed{Instances: []Instance{instanceOf(1, "db-pod", onDisk)}}
	starting := Observed{Instances: []Instance{instanceOf(1, "db-pod", onDisk, func(i *Instance) { i.Pod.Status.ContainerStatuses = nil })}}
	done := Observed{Records: records(1, 2), Instances: up.Instances}
	suspend := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }
	const start = "StartAttempt: trial 1 of 2 (rowsPerCommit=1)"
	for name, tc := range map[string]struct {
		seen   Observed
		node   func(*TunedNode)
		change func(*v1alpha1.BenchmarkRun)
		after  time.Duration
		want   string
	}{
		"nobody has tuned it":           {seen: up, want: "TuneHost: node worker is being tuned"},
		"its server waits for that":     {seen: starting, node: setting, want: "Wait: node worker is being tuned"},
		"its Pod has not said the disk": {seen: Observed{Instances: []Instance{instanceOf(1, "db-pod")}}, want: start},
		"it is tuned":                   {seen: up, node: func(*TunedNode) {}, want: start},
		"another has tuned it":          {seen: up, node: ofOther, want: "Wait: node worker is tuned by run ns/other and has not been restored yet"},
		"another keeps it": {seen: up, node: ofOther, after: time.Hour, want: "fail HostTuningFailed: the node was not tuned within " +
			"trials.startDeadlineSeconds (300): node worker is tuned by run ns/other and has not been restored yet"},
		"it cannot be tuned":    {seen: up, node: broken, want: "fail Broken: no Pod"},
		"it is being restored":  {seen: up, node: released, want: "Wait: node worker is being restored before it is tuned again"},
		"it was restored":       {seen: up, node: restored, want: "Wait: node worker is being restored before it is tuned again"},
		"it was not restored":   {seen: up, node: unrestored, want: "Wait: node worker is being restored before it is tuned again"},
		"it was forgotten":      {seen: up, change: noted(ptr.To(true), ""), want: "TuneHost: node worker is being tuned"},
		"its Lease is gone":     {seen: up, change: noted(nil, ""), want: "fail HostTuningFailed: " + unrecorded("worker")},
		"it was gone":           {seen: up, change: noted(ptr.To(false), "it was gone"), want: "fail HostTuningFailed: it was gone"},
		"the database moved":    {seen: up, node: func(n *TunedNode) { n.Node = "elsewhere" }, want: "TuneHost: node worker is being tuned"},
		"all is measured":       {seen: done, node: func(*TunedNode) {}, want: "ReleaseHost: the node is being restored"},
		"measured, restoring":   {seen: done, node: released, want: "Wait: the node is being restored"},
		"measured, restored":    {seen: done, node: restored, want: "Publish: every trial is measured; the results are being written"},
		"measured, unrestored":  {seen: done, node: unrestored, want: "Publish: every trial is measured; the results are being written"},
		"suspended":             {change: suspend, node: func(*TunedNode) {}, want: "ReleaseHost: spec.suspend is true"},
		"suspended, restoring":  {change: suspend, node: released, want: "Wait: spec.suspend is true"},
		"suspended, restored":   {change: suspend, node: restored, want: "ReleaseLane: spec.suspend is true"},
		"suspended, unrestored": {change: suspend, node: unrestored, want: "ReleaseLane: spec.suspend is true"},
		"it has lost its lane": {
			seen: Observed{Lane: heldByOther}, node: func(*TunedNode) {}, want: "ReleaseHost: in the queue of lane default; others are ahead of it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := tunedRun()
			if tc.change != nil {
				tc.change(run)
			}
			if tc.node != nil {
				tc.seen.TunedNodes = []TunedNode{tunedNode(run, tc.node)}
			}
			d := next(t, run, &tc.seen, now.Add(tc.after))
			got := strings.TrimPrefix(fmt.Sprintf("%T: %s", d.Action, d.Message), "lifecycle.")
			if d.Failure != nil {
				got = "fail " + d.Failure.Reason + ": " + d.Failure.Message
			}
			must.Same(t, "decision", tc.want, got)
		})
	}
}

// noted has the status of a run say how the node worker ended.
func noted(restored *bool, message string) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		r.Status.HostTuning = []v1alpha1.HostTuningStatus{{Node: "worker", Restored: restored, Message: message}}
	}
}

// The status says what was changed, and what became of that, also when the run has finished.
func TestStatusOfNodes(t *testing.T) {
	status := func(change func(*TunedNode)) []v1alpha1.HostTuningStatus {
		return []v1alpha1.HostTuningStatus{tunedNode(oneAxis(1, 1), change).HostTuningStatus}
	}
	lost := status(func(n *TunedNode) { n.Restored, n.Message = ptr.To(false), unrecorded("worker") })
	for name, tc := range map[string]struct {
		old  []v1alpha1.HostTuningStatus
		node func(*TunedNode)
		want []v1alpha1.HostTuningStatus
	}{
		"nothing":           {},
		"another's":         {node: ofOther},
		"not yet read":      {node: func(n *TunedNode) { n.Before.Swappiness = "" }},
		"tuned":             {node: released, want: status(released)},
		"restored":          {old: status(released), node: restored, want: status(restored)},
		"restored at last":  {old: status(unrestored), node: restored, want: status(restored)},
		"forgotten":         {old: status(restored), want: status(restored)},
		"its Lease is gone": {old: status(released), want: lost},
	} {
		for _, finished := range []bool{false, true} {
			run := tunedRun()
			if finished {
				endedRun(run, v1alpha1.ConditionComplete)
			}
			run.Status.HostTuning = slices.Clone(tc.old)
			seen := &Observed{}
			if tc.node != nil {
				seen.TunedNodes = []TunedNode{tunedNode(run, tc.node)}
			}
			must.Same(t, fmt.Sprintf("%s, finished %t: status", name, finished), tc.want, statusOf(t, run, seen, now).HostTuning)
		}
	}
}

// refusedJob is what is seen of a run whose Job the cluster refuses.
func refusedJob(object, message string) *Observed {
	return &Observed{
		Instances: []Instance{instanceOf(1, "u")},
		Blockers:  Blockers{Refused: &Refusal{Object: object, Message: message}},
	}
}

// An object that is refused is waited for, from its first refusal until the start deadline, whichever operator counts: the
// status carries the time from one operator to the next.
func TestRefusedUntilTheStartDeadline(t *testing.T) {
	run := oneAxis(1, 2)
	const quota = "exceeded quota: jobs"
	for _, at := range []time.Duration{0, time.Second, 100 * time.Second, 299 * time.Second} {
		seen := refusedJob("Job run-t1-a1", quota)
		d := next(t, run, seen, now.Add(at))
		if d.Failure != nil || d.Action != (Wait{}) || d.Reason != v1alpha1.ReasonRefused || d.Message != "the cluster refuses Job run-t1-a1: "+quota {
			t.Fatalf("after %s: %+v, %v", at, d, d.Failure)
		}
		run.Status = statusOf(t, run, seen, now.Add(at))
		if r := run.Status.Refusal; r.Object != "Job run-t1-a1" || !r.StartTime.Time.Equal(now) {
			t.Errorf("after %s the status says %+v", at, r)
		}
	}
	d := next(t, run, refusedJob("Job run-t1-a1", quota), now.Add(300*time.Second))
	if d.Failure == nil || d.Failure.Reason != v1alpha1.ReasonRejected || !strings.Contains(d.Failure.Message, quota) ||
		!strings.Contains(d.Failure.Message, "trials.startDeadlineSeconds, 300") {
		t.Errorf("at the start deadline: %+v", d.Failure)
	}
}

// The next object has its own time.
func TestRefusalsOfTwoObjects(t *testing.T) {
	run := oneAxis(1, 2)
	run.Status.Refusal = v1alpha1.RefusalStatus{Object: "Job run-t1-a1", StartTime: ptr.To(ago(time.Hour))}
	seen := refusedJob("Job run-t2-a1", "no")
	if d := next(t, run, seen, now); d.Failure != nil || d.Reason != v1alpha1.ReasonRefused {
		t.Errorf("decided %+v, %v", d, d.Failure)
	}
	if r := statusOf(t, run, seen, now).Refusal; r.Object != "Job run-t2-a1" || !r.StartTime.Time.Equal(now) {
		t.Errorf("the status says %+v", r)
	}
}

// The first tries come soon, the later ones every 30 seconds, and the last at the start deadline.
func TestRefusedIsTriedAgain(t *testing.T) {
	for refused, want := range map[time.Duration]time.Duration{
		0: time.Second, 2 * time.Second: time.Second, 40 * time.Second: 10 * time.Second, 200 * time.Second: 30 * time.Second,
		295 * time.Second: 5 * time.Second,
	} {
		run := oneAxis(1, 2)
		run.Status.Refusal = v1alpha1.RefusalStatus{Object: "Job x", StartTime: ptr.To(ago(refused))}
		must.Same(t, fmt.Sprintf("refused for %s: again after", refused), want, next(t, run, refusedJob("Job x", "no"), now).After)
	}
}

// What was refused is forgotten when it is accepted, but not while the cluster does not answer, nor because the run says why it
// cannot go on.
func TestRefusalIsForgotten(t *testing.T) {
	before := v1alpha1.RefusalStatus{Object: "Job x", StartTime: ptr.To(ago(time.Minute))}
	for name, tc := range map[string]struct {
		seen Observed
		kept bool
	}{
		"accepted":           {Observed{Attempts: []Attempt{attemptOf(1, 1, loading)}}, false},
		"cannot be read":     {Observed{Blockers: Blockers{ObserveFailed: true}}, true},
		"another step fails": {Observed{Blockers: Blockers{RetryError: "etcd: timeout"}}, true},
	} {
		run := oneAxis(1, 2)
		run.Status.Refusal = before
		tc.seen.Lane = held(run)
		got := statusOf(t, run, &tc.seen, now).Refusal
		if kept := got.Object == before.Object && got.StartTime.Equal(before.StartTime); kept != tc.kept {
			t.Errorf("%s: the status says %+v, kept should be %t", name, got, tc.kept)
		}
	}
}

// A run that is suspended meanwhile is not refused, and one that is over its deadline ends with what the cluster says.
func TestRefusedAndSomethingElse(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.Suspend = ptr.To(true)
	must.Same(t, "suspended, decided", v1alpha1.ReasonSuspended, next(t, run, refusedJob("Job x", "no"), now).Reason)
	late := oneAxis(1, 2)
	late.Spec.DeadlineSeconds, late.Status.StartTime = ptr.To[int32](60), ptr.To(ago(time.Minute))
	d := next(t, late, refusedJob("Job x", "exceeded quota"), now)
	if d.Failure == nil || d.Failure.Reason != v1alpha1.ReasonDeadlineExceeded || !strings.Contains(d.Failure.Message, "exceeded quota") {
		t.Errorf("at the run's deadline: %+v", d.Failure)
	}
}

// allCauses are the constants of type result.Cause.
func allCauses(t *testing.T) []result.Cause {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "../result/cause.go", nil, 0))(t)
	var causes []result.Cause
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		text := must.Get(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value))(t)
		must.Same(t, "constant", "Cause"+text, spec.Names[0].Name)
		causes = append(causes, result.Cause(text))
		return true
	})
	return causes
}

// disturbances end a run only by happening too often. A new cause is one of these, or fails the attempt.
var disturbances = []result.Cause{
	result.CauseConnectionLost, result.CauseTooManyConnections, result.CauseCheckFailed, result.CauseVariablesChanged,
	result.CauseServerRestarted, result.CauseInterrupted, result.CauseStartedLate, result.CauseStartedTwice, result.CauseEvicted,
	result.CauseOutOfMemory, result.CausePodDeleted, result.CauseSilent, result.CauseDocumentLost, result.CauseDocumentInvalid,
	result.CauseImageChanged, result.CauseForeignResult, result.CauseDatabaseLost, result.CauseNodeNotReady, result.CauseNodeLost,
	result.CauseThrottled, result.CauseBusyInPauses, result.CauseDataCopied,
}

// Every cause either disturbs an attempt or fails it. (The plugin's TestAdvice has the documentation explain each.)
func TestEveryCauseIsDecidedAbout(t *testing.T) {
	causes := allCauses(t)
	if len(causes) < 26 {
		t.Errorf("only %d causes were found: %v", len(causes), causes)
	}
	for _, c := range causes {
		must.Same(t, string(c)+" disturbs", slices.Contains(disturbances, c), c.Outcome() == result.OutcomeInvalidated)
	}
}

// By default a run has time for the work that it asks for, and not for what any work may take.
func TestDefaultDeadlineFollowsTheWork(t *testing.T) {
	sysbench := func(w v1alpha1.SysbenchWorkload) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &w}
		}
	}
	limited := func(seconds int32) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) { r.Spec.Workload.Limits.Seconds = &seconds }
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		want   int64
	}{
		"rows, however long they take":    {func(*v1alpha1.BenchmarkRun) {}, 3600},
		"a second":                        {limited(1), 310},
		"an hour":                         {limited(3600), 3600},
		"a deadline that somebody set":    {func(r *v1alpha1.BenchmarkRun) { limited(1)(r); r.Spec.Trials.DeadlineSeconds = 7200 }, 7200},
		"a schema that may have rows":     {func(r *v1alpha1.BenchmarkRun) { limited(1)(r); r.Spec.Workload.SchemaFrom = &v1alpha1.ConfigMapFile{} }, 3600},
		"sysbench, as it is":              {sysbench(v1alpha1.SysbenchWorkload{Script: "oltp_read_only"}), 300 + 600 + 20},
		"sysbench, a second":              {sysbench(v1alpha1.SysbenchWorkload{Script: "oltp_read_only", Seconds: ptr.To[int32](1)}), 300 + 10 + 20},
		"sysbench, events":                {sysbench(v1alpha1.SysbenchWorkload{Script: "oltp_read_only", Events: ptr.To[int64](5)}), 3600},
		"sysbench, a script of one's own": {sysbench(v1alpha1.SysbenchWorkload{Seconds: ptr.To[int32](1)}), 3600},
		"sysbench, warehouses":            {sysbench(v1alpha1.SysbenchWorkload{Script: "tpcc", Seconds: ptr.To[int32](1)}), 3600},
		"sysbench, swept": {
			sysbench(v1alpha1.SysbenchWorkload{Script: "oltp_read_only", Seconds: ptr.To[int32](1), Tables: ptr.To[v1alpha1.SysbenchTables](2), Sweep: &v1alpha1.SysbenchSweep{
				TableSize: []v1alpha1.SysbenchTableSize{1000, 500_000},
			}}), 300 + 10 + 2000,
		},
		"a program, which says nothing": {
			func(r *v1alpha1.BenchmarkRun) {
				r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: &v1alpha1.CustomWorkload{}}
			}, 3600,
		},
	} {
		run := oneAxis(1, 6)
		tc.change(run)
		must.Same(t, name, tc.want, plan.WorkSeconds(run, planOf(t, run)))
	}
	run := oneAxis(1, 6)
	limited(1)(run)
	if got, want := plan.Deadline(run, planOf(t, run)), 7900*time.Second; got != want { // 10 attempts, 4 servers, 10 minutes
		t.Errorf("six trials of one second have %s, want %s", got, want)
	}
}
