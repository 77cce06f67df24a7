// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
		if d := next(t, run, refusedJob("Job x", "no"), now); d.After != want {
			t.Errorf("refused for %s, tried again after %s, want %s", refused, d.After, want)
		}
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
	if d := next(t, run, refusedJob("Job x", "no"), now); d.Reason != v1alpha1.ReasonSuspended {
		t.Errorf("suspended, decided %+v", d)
	}
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
		if name := spec.Names[0].Name; name != "Cause"+text {
			t.Errorf("%s is %q", name, text)
		}
		causes = append(causes, result.Cause(text))
		return true
	})
	return causes
}

// A cause either fails the run, with a reason of its own, or is a disturbance that ends a run only by happening too often. The
// documentation has every reason and every disturbance.
func TestEveryCauseIsDecidedAbout(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/troubleshooting.md"))(t)
	causes := allCauses(t)
	if len(causes) < 26 {
		t.Errorf("only %d causes were found: %v", len(causes), causes)
	}
	for _, c := range causes {
		reason, outcome := reasonOf(c), c.Outcome()
		if (outcome == result.OutcomeFailed) != (reason != v1alpha1.ReasonTooManyInvalid) {
			t.Errorf("%s: the attempt is %s, the run's reason is %s", c, outcome, reason)
		}
		documented := reason
		if outcome == result.OutcomeInvalidated {
			documented = string(c)
		}
		if !strings.Contains(string(page), "`"+documented+"`") {
			t.Errorf("%s: docs/troubleshooting.md does not have %s", c, documented)
		}
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
		"a pilot":                         {func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.MinSeconds = ptr.To[int32](20) }, 500},
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
		if got := workSeconds(run, planOf(t, run)); got != tc.want {
			t.Errorf("%s: %d s, want %d", name, got, tc.want)
		}
	}
	run := oneAxis(1, 6)
	limited(1)(run)
	if got, want := Deadline(run, planOf(t, run)), 7900*time.Second; got != want { // 10 attempts, 4 servers, 10 minutes
		t.Errorf("six trials of one second have %s, want %s", got, want)
	}
}
