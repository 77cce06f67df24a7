// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// describe is a decision in one line.
func describe(d Decision) string {
	text := fmt.Sprintf("%T", d.Action)
	switch {
	case d.Failure != nil:
		return text + " fail " + d.Failure.Reason
	case d.Complete:
		return text + " complete"
	default:
		return text + " " + d.Reason
	}
}

// In a situation in which every rule has something to say, the first one is heard; without its reason, the next one.
func TestPrecedenceOfRules(t *testing.T) {
	run := oneAxis(1, 4)
	run.DeletionTimestamp = ptr.To(ago(time.Second))
	endedRun(run, v1alpha1.ConditionComplete)
	run.Spec.Suspend = ptr.To(true)
	seen := &Observed{
		Blockers:    Blockers{Terminal: &Failure{Reason: v1alpha1.ReasonNameTaken}},
		Unclaimed:   []Attempt{attemptOf(4, 1), attemptOf(9, 1)},
		Predecessor: Predecessor{Remains: []string{"run-db1"}},
		Records: append([]*result.Record{disturbed(4, 1, result.OutcomeFailed, result.CauseSQL)},
			append(records(1, 2, 3), testutil.Record(4, 3, nil, 1000))...),
		Attempts:  []Attempt{attemptOf(1, 1), attemptOf(4, 2, vanished), attemptOf(4, 3, loading)},
		Instances: []Instance{instanceOf(1, "db-pod", restarted)},
	}
	seen.Records[4].Attempt = 2
	seen.Attempts[1].Number, seen.Attempts[2].Number = 3, 4
	cases := []struct {
		want string
		undo func()
	}{
		{"lifecycle.RemoveJob ", func() {
			run.Status = v1alpha1.BenchmarkRunStatus{}
			endedRun(run, v1alpha1.ConditionFailed)
			run.Status.Conditions = run.Status.Conditions[1:] // not yet finished
		}},
		{"lifecycle.RemoveJob Terminating", func() { run.DeletionTimestamp = nil }},
		{"lifecycle.Publish Publishing", func() {
			run.Status, seen.Results = v1alpha1.BenchmarkRunStatus{}, &v1alpha1.ResultsReference{ConfigMap: "run-results", FromRun: "u"}
		}},
		{"lifecycle.Wait complete", func() { seen.Results = nil }},
		{"lifecycle.Wait fail NameTaken", func() { seen.Terminal = nil }},
		{"lifecycle.RemoveJob Suspended", func() { run.Spec.Suspend, seen.Lane = nil, heldByOther }},
		{"lifecycle.RemoveJob Queued", func() { seen.Lane = held(run) }},
		{"lifecycle.Wait WaitingForPredecessor", func() { seen.Predecessor = Predecessor{} }},
		{"lifecycle.RemoveJob Measuring", func() { seen.Attempts = seen.Attempts[1:] }},
		{"lifecycle.RecordAttempt Measuring", func() { seen.Attempts = seen.Attempts[1:] }},
		{"lifecycle.Wait fail LoaderFailed", func() { seen.Records = seen.Records[1:] }},
		{"lifecycle.Wait Measuring", func() { seen.Attempts = nil }},
		{"lifecycle.Publish Publishing", func() { seen.Records = seen.Records[:3] }},
		{"lifecycle.ClaimAttempt Measuring", func() { seen.Unclaimed = nil }},
		{"lifecycle.RemoveDatabase ProvisioningDatabase", func() {
			run.Spec.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](1)}
			seen.Instances = []Instance{instanceOf(2, "new", onDisk)}
		}},
		{"lifecycle.TuneHost TuningHost", func() { seen.TunedNodes, seen.Instances = []TunedNode{tunedNode(run)}, nil }},
		{"lifecycle.ProvideDatabase ProvisioningDatabase", func() {
			run.Spec.Database.HostTuning, seen.Records = nil, nil
			seen.Instances = []Instance{instanceOf(1, "new", onDisk), instanceOf(2, "old", removed)}
		}},
		{"lifecycle.Wait ProvisioningDatabase", func() { seen.Instances = seen.Instances[:1] }},
		{"lifecycle.StartAttempt Measuring", func() {}},
	}
	must.Same(t, "rules that are tested", len(ends)+len(steps)-rulesOfVariants, len(cases))
	for i, step := range cases {
		must.Same(t, fmt.Sprintf("step %d", i+1), step.want, describe(next(t, run, seen, now)))
		step.undo()
	}
}

type decision struct {
	run  func(*v1alpha1.BenchmarkRun)
	seen Observed
	want Decision
}

// checkDecisions of a run of two trials at one point, rowsPerCommit=1.
func checkDecisions(t *testing.T, cases map[string]decision) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Helper()
			run := oneAxis(1, 2)
			if tc.run != nil {
				tc.run(run)
			}
			// With nothing to publish, a failure is the end.
			tc.want.Finished = tc.want.Finished || tc.want.Failure != nil && len(tc.seen.Records) == 0
			must.Same(t, "decision", tc.want, next(t, run, &tc.seen, now))
		})
	}
}

var (
	orphan     = &corev1.ConfigMap{}
	parameters = map[string]string{"rowsPerCommit": "1"}
	trialOne   = "trial 1 of 2 (rowsPerCommit=1)"
	trialTwo   = "trial 2 of 2 (rowsPerCommit=1)"
)

func measuring(a Action, message string) Decision {
	return Decision{Action: a, Reason: v1alpha1.ReasonMeasuring, Message: message}
}

func after(d Decision, left time.Duration) Decision {
	d.After = left
	return d
}

func failsWith(reason, message string) Decision {
	return Decision{Action: Wait{}, Failure: &Failure{Reason: reason, Message: message}}
}

func TestNextBeforeMeasuring(t *testing.T) {
	suspend := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }
	suspended := func(a Action) Decision {
		return Decision{Action: a, Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true"}
	}
	leave := suspended(ReleaseLane{Holder{Kind: RunKind, Namespace: "ns", Name: "run", UID: testutil.MakeRun("run", "ns").Obj().UID}})
	leftover := Instance{Number: 1, Others: true}
	checkDecisions(t, map[string]decision{
		"terminal": {seen: Observed{Blockers: Blockers{Terminal: &Failure{"Rejected", "quota"}}}, want: failsWith("Rejected", "quota")},
		"predecessor": {seen: Observed{Predecessor: Predecessor{Remains: []string{"run-db1", "run-t1-a1"}}}, want: Decision{
			Action: Wait{}, Reason: v1alpha1.ReasonWaitingForPredecessor, After: time.Second,
			Message: "objects of an earlier run of this name are still being deleted: run-db1, run-t1-a1",
		}},
		"predecessor, orphan": {
			seen: Observed{Predecessor: Predecessor{Remains: []string{"run-db1"}, Orphan: orphan}},
			want: Decision{
				Action: RemoveOrphan{Object: orphan}, Reason: v1alpha1.ReasonWaitingForPredecessor, After: time.Second,
				Message: "objects of an earlier run of this name are still being deleted: run-db1",
			},
		},
		"suspended":                     {run: suspend, want: leave},
		"suspended, left":               {run: suspend, seen: Observed{Lane: heldByOther}, want: suspended(Wait{})},
		"suspended, Job":                {run: suspend, seen: Observed{Attempts: []Attempt{attemptOf(1, 1)}, Instances: []Instance{instanceOf(1, "u")}}, want: suspended(RemoveJob{Job: attemptOf(1, 1).Job})},
		"suspended, Job is going":       {run: suspend, seen: Observed{Attempts: []Attempt{attemptOf(1, 1, jobGoing)}, Instances: []Instance{instanceOf(1, "u")}}, want: suspended(RemoveDatabase{1})},
		"suspended, database is going":  {run: suspend, seen: Observed{Instances: []Instance{instanceOf(1, "u", removed)}}, want: after(suspended(Wait{}), time.Second)},
		"suspended, made in part":       {run: suspend, seen: Observed{Instances: []Instance{leftover}}, want: suspended(RemoveDatabase{1})},
		"suspended, only a Pod is left": {run: suspend, seen: Observed{Instances: []Instance{instanceOf(1, "u", setGone, onlyPod)}}, want: after(suspended(Wait{}), time.Second)},
		"suspended, a claim is left":    {run: suspend, seen: Observed{Instances: []Instance{{Number: 1, Claims: []*corev1.PersistentVolumeClaim{{}}}}}, want: leave},
		"not suspended any more": {
			run:  func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(false) },
			want: Decision{Action: ProvideDatabase{Instance: 1}, Reason: v1alpha1.ReasonProvisioningDatabase, Message: "the database is being created"},
		},
	})
}

func TestNextWithAttempts(t *testing.T) {
	late := attemptOf(1, 1, createdAgo(300*time.Second))
	gone := attemptOf(1, 1, vanished)
	deleted := trial.Verdict{
		Stage: trial.StageEnded, Outcome: result.OutcomeInvalidated, Cause: result.CausePodDeleted, Message: "the loader's Pod was deleted",
	}
	cases := map[string]decision{
		"recorded":          {seen: Observed{Records: records(1), Attempts: []Attempt{attemptOf(1, 1)}}, want: measuring(RemoveJob{Job: attemptOf(1, 1).Job}, trialTwo)},
		"the last recorded": {seen: Observed{Records: records(1, 2), Attempts: []Attempt{attemptOf(2, 1)}}, want: measuring(RemoveJob{Job: attemptOf(2, 1).Job}, "the last trial is being recorded")},
		"recorded, Job is going": {
			seen: Observed{Records: records(1), Attempts: []Attempt{attemptOf(1, 1, jobGoing)}}, want: after(measuring(Wait{}, trialTwo), pollInterval),
		},
		"pending, the cluster warns": {
			seen: Observed{Attempts: []Attempt{attemptOf(1, 1, func(a *Attempt) { a.Warning = "exceeded quota" })}},
			want: after(measuring(Wait{}, trialOne+": the loader's Pod is being created: exceeded quota"), pollInterval),
		},
		"pending": {seen: Observed{Attempts: []Attempt{attemptOf(1, 1)}}, want: after(measuring(Wait{}, trialOne), pollInterval)},
		"running": {seen: Observed{Attempts: []Attempt{attemptOf(1, 1, loading, createdAgo(time.Hour))}}, want: measuring(Wait{}, trialOne)},
		"not started in time": {seen: Observed{Attempts: []Attempt{late}}, want: measuring(RecordAttempt{
			Attempt: judged(late, trial.Verdict{
				Stage: trial.StageEnded, Outcome: result.OutcomeFailed, Cause: result.CauseNotStarted,
				Message: "no loader ran within trials.startDeadlineSeconds (300): the loader's Pod is being created",
			}), Parameters: parameters,
		}, trialOne)},
		"ended": {seen: Observed{Attempts: []Attempt{gone}}, want: measuring(RecordAttempt{
			Attempt: judged(gone, deleted), Parameters: parameters,
		}, trialOne)},
		"ended, and its Job is going": {seen: Observed{Attempts: []Attempt{attemptOf(1, 1, vanished, jobGoing)}}, want: measuring(Wait{}, trialOne)},
		"ended, of a trial that is not planned": {seen: Observed{Attempts: []Attempt{attemptOf(9, 1, vanished)}}, want: measuring(RecordAttempt{
			Attempt: judged(attemptOf(9, 1, vanished), deleted),
		}, trialOne)},
	}
	for name, c := range cases {
		c.seen.Instances = []Instance{instanceOf(1, "db-pod")}
		cases[name] = c
	}
	checkDecisions(t, cases)
}

// An attempt whose database is lost is disturbed, whatever its loader says of it or waits for, unless its result is whole.
func TestNextWithoutItsDatabase(t *testing.T) {
	lost := func(a Attempt, message string) Decision {
		v := trial.Judge(a.Job, a.Pods, nil)
		v.Stage, v.Outcome, v.Cause, v.Message = trial.StageEnded, result.OutcomeInvalidated, result.CauseDatabaseLost, message
		return measuring(RecordAttempt{Attempt: judged(a, v), Parameters: parameters}, trialOne)
	}
	hanging := attemptOf(1, 1, loading, createdAgo(time.Hour))
	refused := attemptOf(1, 1, vanished)
	checkDecisions(t, map[string]decision{
		"nothing of it is left": {seen: Observed{Attempts: []Attempt{hanging}}, want: lost(hanging, "the database is gone")},
		"Pod gone": {
			seen: Observed{Attempts: []Attempt{hanging}, Instances: []Instance{instanceOf(1, "u", withoutPod)}},
			want: lost(hanging, "the database's Pod is gone"),
		},
		"being removed": {
			seen: Observed{Attempts: []Attempt{refused}, Instances: []Instance{instanceOf(1, "u", removed)}},
			want: lost(refused, "the database's StatefulSet was deleted"),
		},
		"another instance is up": {
			seen: Observed{Attempts: []Attempt{hanging}, Instances: []Instance{instanceOf(2, "u")}},
			want: lost(hanging, "the database is gone"),
		},
	})
}

// A whole result does not count if the database's node was away while it was measured.
func TestNextAfterTheDatabasesNodeWasAway(t *testing.T) {
	readySince := func(d time.Duration) Instance {
		return instanceOf(1, "u", func(i *Instance) {
			i.Pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(d)}}
		})
	}
	for name, tc := range map[string]struct {
		instance Instance
		want     string
	}{
		"never away": {readySince(time.Minute), "Accepted "},
		"away":       {readySince(5 * time.Second), "Invalidated NodeNotReady"},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 2)
			a := attemptOf(1, 1, loading)
			message := must.Get(result.EncodeSummary(testutil.Document("pod", 1, 1, 1000).Summarize(result.EncodedDocument{SHA256: "feed"})))(t)
			testutil.EndedLoaderPod(&a.Pods[0], 0, string(message), now)
			d := next(t, run, &Observed{Attempts: []Attempt{a}, Instances: []Instance{tc.instance}}, now)
			record, ok := d.Action.(RecordAttempt)
			if got := string(record.Attempt.Verdict.Outcome) + " " + string(record.Attempt.Verdict.Cause); !ok || got != tc.want {
				t.Errorf("%T %s: %s", d.Action, got, record.Attempt.Verdict.Message)
			}
		})
	}
}

func TestNextAfterFailures(t *testing.T) {
	maxInvalid := func(n *int32) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.MaxInvalid = n }
	}
	evicted := func(n int) (list []*result.Record) {
		for i := range n {
			list = append(list, disturbed(1, i+1, result.OutcomeInvalidated, result.CauseEvicted))
		}
		return list
	}
	failedBy := func(cause result.Cause) Observed {
		return Observed{Records: []*result.Record{disturbed(2, 1, result.OutcomeFailed, cause)}}
	}
	const message = "trial 2 (rowsPerCommit=1): what happened"
	again := func(attempt, instance int) Decision {
		return measuring(StartAttempt{trial.Attempt{
			Trial: plan.Trial{Number: 1, Round: 1}, Point: plan.Point{Parameters: parameters}, Number: attempt, Instance: instance, Nodes: []string{"worker2"},
			Address: testutil.DatabaseAddress,
		}}, trialOne)
	}
	up := []Instance{instanceOf(1, "db-pod")}
	checkDecisions(t, map[string]decision{
		"setting":     {seen: failedBy(result.CauseSettingNotEffective), want: failsWith(v1alpha1.ReasonSettingNotEffective, message)},
		"not started": {seen: failedBy(result.CauseNotStarted), want: failsWith(v1alpha1.ReasonLoaderNotStarted, message)},
		"deadline":    {seen: failedBy(result.CauseDeadlineExceeded), want: failsWith(v1alpha1.ReasonDeadlineExceeded, message)},
		"SQL":         {seen: failedBy(result.CauseSQL), want: failsWith(v1alpha1.ReasonLoaderFailed, message)},
		"the first failure is told": {
			seen: Observed{Records: append(failedBy(result.CauseDeadlineExceeded).Records, failedBy(result.CauseNotStarted).Records...)},
			want: failsWith(v1alpha1.ReasonDeadlineExceeded, message),
		},
		"disturbed, and tried again":   {seen: Observed{Records: evicted(1), Instances: up}, want: again(2, 1)},
		"disturbed as often as may be": {seen: Observed{Records: evicted(3), Instances: up}, want: again(4, 1)},
		"disturbed too often": {seen: Observed{Records: evicted(4), Instances: up}, want: failsWith(v1alpha1.ReasonTooManyInvalid,
			"invalidated attempts: 4 (trials.maxInvalid allows 3); the last one was of trial 1 (rowsPerCommit=1): Evicted: what happened")},
		"disturbed too often by default": {run: maxInvalid(nil), seen: Observed{Records: evicted(4)}, want: failsWith(v1alpha1.ReasonTooManyInvalid,
			"invalidated attempts: 4 (trials.maxInvalid allows 3); the last one was of trial 1 (rowsPerCommit=1): Evicted: what happened")},
		"none may be disturbed": {run: maxInvalid(ptr.To[int32](0)), seen: Observed{Records: evicted(1)}, want: failsWith(v1alpha1.ReasonTooManyInvalid,
			"invalidated attempts: 1 (trials.maxInvalid allows 0); the last one was of trial 1 (rowsPerCommit=1): Evicted: what happened")},
		"disturbed too often, though all is measured": {
			run: maxInvalid(ptr.To[int32](0)), seen: Observed{Records: append(evicted(1), records(1, 2)...)},
			want: failsWith(v1alpha1.ReasonTooManyInvalid,
				"invalidated attempts: 1 (trials.maxInvalid allows 0); the last one was of trial 1 (rowsPerCommit=1): Evicted: what happened"),
		},
		"all measured": {seen: Observed{Records: records(1, 2)}, want: Decision{
			Action: Publish{v1alpha1.ConditionComplete}, Reason: v1alpha1.ReasonPublishing,
			Message: "every trial is measured; the results are being written",
		}},
		"all published": {seen: Observed{Records: records(1, 2), Results: &v1alpha1.ResultsReference{}}, want: Decision{
			Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonComplete, Message: "measured: 2 trials at 1 point",
		}},
	})
}

const bounded = "the maximum of this installation (--max-turn)"

// A run whose turn is over ends, although it makes progress, or asked for as much; what it has measured is recorded first.
func TestTurnOfARun(t *testing.T) {
	for name, tc := range map[string]struct {
		seen      Observed
		requested *int32
		ends      bool
	}{
		"between two attempts":       {seen: Observed{Records: records(1), Instances: []Instance{instanceOf(1, "u")}}, ends: true},
		"in an attempt":              {seen: Observed{Attempts: []Attempt{attemptOf(1, 1, loading)}, Instances: []Instance{instanceOf(1, "u")}}, ends: true},
		"asked for as much":          {seen: Observed{Records: records(1), Instances: []Instance{instanceOf(1, "u")}}, requested: ptr.To[int32](3600), ends: true},
		"an attempt to be recorded":  {seen: Observed{Attempts: []Attempt{attemptOf(1, 1, vanished)}}},
		"results that are published": {seen: Observed{Records: records(1, 2)}},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 2)
			run.Spec.DeadlineSeconds, run.Status.StartTime = tc.requested, ptr.To(ago(time.Hour))
			tc.seen.MaxTurn = time.Hour
			if d := next(t, run, &tc.seen, now.Add(-time.Second)); d.Failure != nil {
				t.Errorf("ended before its turn was over: %v", d.Failure)
			}
			d := next(t, run, &tc.seen, now)
			if ended := d.Failure != nil && strings.Contains(d.Failure.Message, bounded); ended != tc.ends {
				t.Errorf("decided %+v with %+v", d.Action, d.Failure)
			}
			if got := statusOf(t, run, &tc.seen, now.Add(-time.Minute)).Deadline; got == nil || got.After(now) {
				t.Errorf("its deadline is %s, want at most %s", got, now)
			}
		})
	}
}

// The time for which a run was suspended is not of its turn.
func TestTurnWithoutPauses(t *testing.T) {
	run := oneAxis(1, 2)
	run.Status.StartTime, run.Status.SuspendedSeconds = ptr.To(ago(time.Hour)), ptr.To[int64](60)
	seen := &Observed{Records: records(1), Blockers: Blockers{MaxTurn: time.Hour}, Instances: []Instance{instanceOf(1, "u")}}
	if d := next(t, run, seen, now.Add(59*time.Second)); d.Failure != nil {
		t.Errorf("ended early: %v", d.Failure)
	}
	if d := next(t, run, seen, now.Add(time.Minute)); d.Failure == nil {
		t.Error("its turn has no end")
	}
}

// One that asks for more than a turn does not begin. One that has begun, under a longer bound, goes on to the end of its turn.
func TestTurnRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		requested *int32
		change    func(*v1alpha1.BenchmarkRun)
		most      time.Duration
		refused   bool
	}{
		"more":      {requested: ptr.To[int32](61), most: time.Minute, refused: true},
		"as much":   {requested: ptr.To[int32](60), most: time.Minute},
		"nothing":   {most: time.Minute},
		"no bound":  {requested: ptr.To[int32](61)},
		"has begun": {requested: ptr.To[int32](61), most: time.Minute, change: func(r *v1alpha1.BenchmarkRun) { r.Status.StartTime = ptr.To(ago(0)) }},
	} {
		run := oneAxis(1, 2)
		run.Spec.DeadlineSeconds = tc.requested
		if tc.change != nil {
			tc.change(run)
		}
		f := (&Limits{MaxTurn: tc.most}).Refused(run)
		must.Same(t, fmt.Sprintf("%s: refused, %+v", name, f), tc.refused, f != nil)
		if f != nil && !strings.Contains(f.Message, "must be at most 60") {
			t.Errorf("%s: it says %q", name, f.Message)
		}
	}
}

// An instance is warmed up until a trial on it counts: an attempt that was disturbed may have ended in its warm-up.
func TestWarmUpOfAnInstance(t *testing.T) {
	first := func(outcome result.Outcome) []*result.Record {
		r := records(1)
		r[0].Place.DatabasePodUID, r[0].Instance = "db-pod", 1
		if outcome != result.OutcomeAccepted {
			r = []*result.Record{disturbed(1, 1, outcome, result.CauseEvicted)}
			r[0].Place.DatabasePodUID, r[0].Instance = "db-pod", 1
		}
		return r
	}
	for name, tc := range map[string]struct {
		records  []*result.Record
		instance int
		change   func(*v1alpha1.TrialsSpec)
		want     bool
	}{
		"first":                 {instance: 1, want: true},
		"second":                {records: first(result.OutcomeAccepted), instance: 1},
		"the first one was not": {records: first(result.OutcomeInvalidated), instance: 1, want: true},
		"another instance":      {records: first(result.OutcomeAccepted), instance: 2, want: true},
		"not asked for":         {instance: 1, change: func(t *v1alpha1.TrialsSpec) { t.PrimeSeconds = ptr.To[int32](0) }},
		"fresh":                 {instance: 1, change: func(t *v1alpha1.TrialsSpec) { t.Server = v1alpha1.ServerPerTrial }},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 3)
			run.Spec.Trials.PrimeSeconds = ptr.To[int32](30)
			if tc.change != nil {
				tc.change(&run.Spec.Trials)
			}
			if tc.instance == 2 {
				run.Status.RemovedInstances = ptr.To[int32](1)
			}
			d := next(t, run, &Observed{Records: tc.records, Instances: []Instance{instanceOf(tc.instance, "db-pod")}}, now)
			start, ok := d.Action.(StartAttempt)
			if !ok || start.Attempt.Instance != tc.instance || start.Attempt.Prime != tc.want {
				t.Errorf("decided %+v", d)
			}
		})
	}
}

// Every disturbance may cost the server, and the next one is primed.
func TestDefaultDeadlineHasRoomForWarmUps(t *testing.T) {
	run := oneAxis(3, 2)
	without := plan.Deadline(run, planOf(t, run))
	run.Spec.Trials.PrimeSeconds = ptr.To[int32](30)
	must.Same(t, "deadline", without+4*time.Minute, plan.Deadline(run, planOf(t, run)))
}

// A trial in stages is one attempt, whose record has no stage among its parameters, and a point of the status for each stage.
func TestStatusOfStages(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Repetitions(2).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{Stages: []v1alpha1.IIBenchStage{
			{Name: "l.i0", Insert: &v1alpha1.IIBenchInsertStage{Rows: 10}}, {Name: "l.x", CreateIndexes: 3},
		}}}
	}).Obj()
	record := testutil.Record(1, 1, nil, 0)
	record.Summary.Metrics = nil
	for _, name := range []string{"l.i0", "l.x"} {
		record.Summary.Stages = append(record.Summary.Stages, result.StageSummary{Name: name, Metrics: []result.Metric{
			{Name: "operationsPerSecond", Value: float64(1000 * len(name)), Unit: "operations/s", Better: "higher"},
		}})
	}
	status := statusOf(t, run, &Observed{Records: []*result.Record{record}}, now)
	if status.Progress != "1/2" || status.Answer.Detail != "4000 operations/s (one trial) at stage=l.i0; 1 other stage" ||
		status.Answer.Text != "4000 operations/s at stage=l.i0" || len(status.Points) != 2 {
		t.Fatalf("%s, %+v, %+v", status.Progress, status.Answer, status.Points)
	}
	if p := status.Points[1]; p.Parameters["stage"] != "l.x" || p.Median != "3000" || p.N != 1 {
		t.Errorf("%+v", p)
	}
	s := &situation{run: run, plan: planOf(t, run)}
	if got := s.parameters(2); got != nil {
		t.Errorf("trial 2 sets %v", got)
	}
}

// rulesOfVariants decide nothing about runs without variants: see TestVariantsByChance.
const rulesOfVariants = 2
