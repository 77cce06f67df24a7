// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// allConditions in the order of their names.
var allConditions = []string{
	v1alpha1.ConditionAdmitted, v1alpha1.ConditionComplete, v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionFailed,
	v1alpha1.ConditionFinished, v1alpha1.ConditionReady, v1alpha1.ConditionReconciling, v1alpha1.ConditionResultsAvailable,
	v1alpha1.ConditionStalled, v1alpha1.ConditionSuspended,
}

// statusOf what a run decides in a situation.
func statusOf(t *testing.T, run *v1alpha1.BenchmarkRun, seen *Observed, at time.Time) v1alpha1.BenchmarkRunStatus {
	t.Helper()
	p := planOf(t, run)
	return Status(run, p, seen, next(t, run, seen, at), at)
}

// statuses are conditions as "Status Reason".
func statuses(conditions []metav1.Condition) map[string]string {
	m := map[string]string{}
	for _, c := range conditions {
		m[c.Type] = string(c.Status) + " " + c.Reason
	}
	return m
}

// way is all conditions of a run under way, with the given reason and DatabaseReady.
func way(reason, databaseReady string) map[string]string {
	const no = "False InProgress"
	return map[string]string{
		v1alpha1.ConditionComplete: no, v1alpha1.ConditionFailed: no, v1alpha1.ConditionFinished: no, v1alpha1.ConditionStalled: no,
		v1alpha1.ConditionReady: "False " + reason, v1alpha1.ConditionReconciling: "True " + reason,
		v1alpha1.ConditionSuspended: "False NotSuspended", v1alpha1.ConditionDatabaseReady: databaseReady,
		v1alpha1.ConditionResultsAvailable: no, v1alpha1.ConditionAdmitted: "True Admitted",
	}
}

func TestConditions(t *testing.T) {
	suspended := way("Suspended", "False Suspended")
	suspended[v1alpha1.ConditionSuspended], suspended[v1alpha1.ConditionReconciling] = "True Suspended", "False Suspended"
	suspended[v1alpha1.ConditionAdmitted] = "False Suspended"
	queued, retrying := way("Queued", "False Queued"), way("Retrying", "False Retrying")
	queued[v1alpha1.ConditionAdmitted], retrying[v1alpha1.ConditionAdmitted] = "False Queued", "Unknown Retrying"
	complete := map[string]string{
		v1alpha1.ConditionAdmitted: "False Finished",
		v1alpha1.ConditionComplete: "True Complete", v1alpha1.ConditionFailed: "False Complete",
		v1alpha1.ConditionFinished: "True Complete", v1alpha1.ConditionStalled: "False Complete",
		v1alpha1.ConditionReady: "True Complete", v1alpha1.ConditionReconciling: "False Complete",
		v1alpha1.ConditionSuspended: "False NotSuspended", v1alpha1.ConditionDatabaseReady: "True DatabaseReachable",
		v1alpha1.ConditionResultsAvailable: "True ResultsPublished",
	}
	rejected := map[string]string{
		v1alpha1.ConditionAdmitted: "False Finished",
		v1alpha1.ConditionComplete: "False Rejected", v1alpha1.ConditionFailed: "True Rejected",
		v1alpha1.ConditionFinished: "True Rejected", v1alpha1.ConditionStalled: "True Rejected",
		v1alpha1.ConditionReady: "False Rejected", v1alpha1.ConditionReconciling: "False Rejected",
		v1alpha1.ConditionSuspended: "False NotSuspended", v1alpha1.ConditionDatabaseReady: "False Rejected",
		v1alpha1.ConditionResultsAvailable: "False NothingMeasured",
	}
	up := []Instance{instanceOf(1, "db-pod")}
	cases := map[string]struct {
		suspend bool
		seen    Observed
		want    map[string]string
	}{
		"first reconcile":         {want: way("ProvisioningDatabase", "False ProvisioningDatabase")},
		"predecessor":             {seen: Observed{Predecessor: Predecessor{Remains: []string{"x"}}}, want: way("WaitingForPredecessor", "False WaitingForPredecessor")},
		"starting":                {seen: Observed{Instances: []Instance{instanceOf(1, "u", starting)}}, want: way("ProvisioningDatabase", "False ProvisioningDatabase")},
		"being removed":           {seen: Observed{Instances: []Instance{instanceOf(1, "u", removed)}}, want: way("ProvisioningDatabase", "False ProvisioningDatabase")},
		"measuring":               {seen: Observed{Instances: up}, want: way("Measuring", "True DatabaseReachable")},
		"measuring, no database":  {seen: Observed{Attempts: []Attempt{attemptOf(1, 1, loading)}}, want: way("Measuring", "False Measuring")},
		"publishing":              {seen: Observed{Records: records(1, 2), Instances: up}, want: way("Publishing", "True DatabaseReachable")},
		"suspended":               {suspend: true, want: suspended},
		"queued":                  {seen: Observed{Lane: heldByOther}, want: queued},
		"cannot take its lane":    {seen: Observed{Lane: Lane{Lease: "x"}, Blockers: Blockers{RetryError: "etcd"}}, want: retrying},
		"cannot be read":          {seen: Observed{Lane: Lane{Lease: "x"}, Blockers: Blockers{ObserveFailed: true, RetryError: "etcd"}}, want: retrying},
		"complete":                {seen: Observed{Records: records(1, 2), Instances: up, Results: &v1alpha1.ResultsReference{}}, want: complete},
		"failed, nothing is left": {seen: Observed{Blockers: Blockers{Terminal: &Failure{"Rejected", "quota"}}}, want: rejected},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 2)
			run.Spec.Suspend, run.Generation = &tc.suspend, 7
			status := statusOf(t, run, &tc.seen, now)
			must.Same(t, "conditions", tc.want, statuses(status.Conditions))
			for _, c := range status.Conditions {
				if c.Message == "" || c.ObservedGeneration != 7 || !c.LastTransitionTime.Time.Equal(now) {
					t.Errorf("%+v", c)
				}
			}
			must.Same(t, "conditions", len(allConditions), len(status.Conditions))
		})
	}
}

// Whatever is observed after the end: the end, its reason and its message stay, and only the database's condition moves.
func TestEndIsNeverTakenBack(t *testing.T) {
	ends := map[string]Observed{
		"complete": {Records: records(1, 2), Results: &v1alpha1.ResultsReference{ConfigMap: "run-results"}, Instances: []Instance{instanceOf(1, "db-pod")}},
		"failed":   {Blockers: Blockers{Terminal: &Failure{"Rejected", "quota"}}, Instances: []Instance{instanceOf(1, "db-pod")}},
	}
	later := map[string]Observed{
		"nothing":    {},
		"everything": {Records: records(1, 2), Results: &v1alpha1.ResultsReference{ConfigMap: "run-results"}, Attempts: []Attempt{attemptOf(1, 1, loading)}},
		"terminal":   {Blockers: Blockers{Terminal: &Failure{"NameTaken", "another"}}, Predecessor: Predecessor{Remains: []string{"x"}}},
		"failure":    {Records: append(records(1, 2), disturbed(1, 2, "Failed", "SQL"))},
	}
	for end, atEnd := range ends {
		for name, seen := range later {
			for _, suspend := range []bool{false, true} {
				run := oneAxis(1, 2)
				run.Status = statusOf(t, run, &atEnd, now)
				run.Spec.Suspend, run.Generation = ptr.To(suspend), 2
				status := statusOf(t, run, &seen, now.Add(time.Hour))
				want, got := run.Status.DeepCopy(), status.DeepCopy()
				for i := range want.Conditions {
					want.Conditions[i].ObservedGeneration = 2
					if want.Conditions[i].Type == v1alpha1.ConditionDatabaseReady {
						want.Conditions[i] = metav1.Condition{
							Type: v1alpha1.ConditionDatabaseReady, Status: "False", Reason: "DatabaseRemoved", Message: "the run has finished",
							ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(now.Add(time.Hour)),
						}
					}
				}
				must.Same(t, fmt.Sprintf("%s, then %s, suspend %t: conditions", end, name, suspend), want.Conditions, got.Conditions)
				if !want.CompletionTime.Equal(got.CompletionTime) || want.Results != (v1alpha1.ResultsReference{}) && want.Results != got.Results {
					t.Errorf("%s, then %s: ended %s with %v", end, name, got.CompletionTime, got.Results)
				}
			}
		}
	}
}

// The message of a failure stands in one condition: it may be long, and people read all of them.
func TestFailureIsSaidOnce(t *testing.T) {
	run := oneAxis(1, 2)
	const message = "no disk"
	seen := &Observed{Blockers: Blockers{Terminal: &Failure{"Rejected", message}}}
	for range 2 { // also when it is finished
		run.Status = statusOf(t, run, seen, now)
		for _, c := range run.Status.Conditions {
			must.Same(t, c.Type+" says "+c.Message, c.Type == v1alpha1.ConditionFailed, strings.Contains(c.Message, message))
		}
	}
}

func TestMessagesAreCut(t *testing.T) {
	run := oneAxis(1, 2)
	seen := &Observed{Blockers: Blockers{Terminal: &Failure{"Rejected", strings.Repeat("ü", 40_000)}}}
	for _, c := range statusOf(t, run, seen, now).Conditions {
		if n := len([]rune(c.Message)); n > 4096 {
			t.Errorf("%s has a message of %d characters", c.Type, n)
		}
	}
}

// A message says nothing that changes while nothing happens.
func TestMessagesAreStable(t *testing.T) {
	situations := map[string]Observed{
		"nothing":     {},
		"starting":    {Instances: []Instance{instanceOf(1, "u", starting)}},
		"removed":     {Records: records(1), Instances: []Instance{instanceOf(1, "u", removed)}},
		"pending":     {Attempts: []Attempt{attemptOf(1, 1)}},
		"measuring":   {Attempts: []Attempt{attemptOf(1, 1, loading)}},
		"predecessor": {Predecessor: Predecessor{Remains: []string{"run-db1"}}},
	}
	for name, seen := range situations {
		run := oneAxis(1, 2)
		run.Status = statusOf(t, run, &seen, now)
		must.Same(t, name+": after a while", run.Status, statusOf(t, run, &seen, now.Add(100*time.Second)))
	}
}

func TestNextAfterTheEnd(t *testing.T) {
	// run ended an hour ago.
	run := func(how string, changes ...func(*v1alpha1.BenchmarkRun)) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) {
			endedRun(r, how)
			for _, change := range changes {
				change(r)
			}
		}
	}
	complete := func(changes ...func(*v1alpha1.BenchmarkRun)) func(*v1alpha1.BenchmarkRun) {
		return run(v1alpha1.ConditionComplete, changes...)
	}
	failed := func(changes ...func(*v1alpha1.BenchmarkRun)) func(*v1alpha1.BenchmarkRun) {
		return run(v1alpha1.ConditionFailed, changes...)
	}
	cleanup := func(p v1alpha1.CleanupPolicy) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) { r.Spec.Cleanup = p }
	}
	ttl := func(seconds int32) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) { r.Spec.TTLSecondsAfterFinished = &seconds }
	}
	suspend := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = ptr.To(true) }
	notYetTimed := func(r *v1alpha1.BenchmarkRun) { r.Status.CompletionTime = nil }
	done := func(a Action) Decision { return Decision{Action: a} }
	published := &v1alpha1.ResultsReference{ConfigMap: "run-results"}
	db := []Instance{instanceOf(1, "db-pod", func(i *Instance) { i.Budget = &policyv1.PodDisruptionBudget{} })}
	everything := Observed{Records: records(1), Results: published, Attempts: []Attempt{attemptOf(2, 1)}, Instances: db}
	onlyDB := Observed{Records: records(1), Results: published, Instances: db}
	freed := Observed{Results: published, Instances: []Instance{instanceOf(1, "db-pod")}}
	withCopies := func(o Observed) Observed { o.DataCopies = true; return o }
	checkDecisions(t, map[string]decision{
		"nothing left":                    {run: complete(), seen: Observed{Results: published}, want: done(Wait{})},
		"results deleted, not made anew":  {run: complete(), seen: Observed{Records: records(1)}, want: done(Wait{})},
		"results were never written":      {run: failed(), seen: Observed{Records: records(1), Instances: db}, want: done(RemoveDatabase{1})},
		"failed without an attempt":       {run: failed(), seen: Observed{Instances: db}, want: done(RemoveDatabase{1})},
		"terminal failures do not matter": {run: failed(), seen: Observed{Blockers: Blockers{Terminal: &Failure{}}, Predecessor: Predecessor{Remains: []string{"x"}}}, want: done(Wait{})},
		"Job first":                       {run: complete(), seen: everything, want: done(RemoveJob{Job: attemptOf(2, 1).Job})},
		"then the database":               {run: complete(), seen: onlyDB, want: done(RemoveDatabase{1})},
		"suspended, cleaned up":           {run: complete(suspend), seen: onlyDB, want: done(RemoveDatabase{1})},
		// What stands beside it may be a stranger's under the same name, because of which the run has failed.
		"made in part":               {run: complete(), seen: Observed{Instances: []Instance{{Number: 1, Others: true}}}, want: done(RemoveDatabase{1})},
		"then the copies of data":    {run: complete(), seen: Observed{Results: published, DataCopies: true}, want: done(RemoveDataCopies{})},
		"copies, database is kept":   {run: complete(cleanup(v1alpha1.CleanupNever)), seen: withCopies(freed), want: done(RemoveDataCopies{})},
		"never, complete":            {run: complete(cleanup(v1alpha1.CleanupNever)), seen: everything, want: done(ReleaseNodes{1})},
		"never, nodes are free":      {run: complete(cleanup(v1alpha1.CleanupNever)), seen: freed, want: done(Wait{})},
		"never, failed":              {run: failed(cleanup(v1alpha1.CleanupNever)), seen: everything, want: done(ReleaseNodes{1})},
		"on success, complete":       {run: complete(cleanup(v1alpha1.CleanupOnSuccess)), seen: everything, want: done(RemoveJob{Job: attemptOf(2, 1).Job})},
		"on success, failed":         {run: failed(cleanup(v1alpha1.CleanupOnSuccess)), seen: everything, want: done(ReleaseNodes{1})},
		"always, failed":             {run: failed(cleanup(v1alpha1.CleanupAlways)), seen: everything, want: done(RemoveJob{Job: attemptOf(2, 1).Job})},
		"lifetime, clean-up first":   {run: complete(ttl(0)), seen: onlyDB, want: done(RemoveDatabase{1})},
		"lifetime of none":           {run: failed(ttl(0)), want: done(DeleteRun{})},
		"lifetime, end is not known": {run: failed(ttl(0), notYetTimed), want: done(Wait{})},
		"lifetime, database is kept": {run: complete(ttl(0), cleanup(v1alpha1.CleanupNever)), seen: freed, want: done(DeleteRun{})},
		"the longest lifetime":       {run: complete(ttl(31536000)), want: after(done(Wait{}), 365*24*time.Hour-time.Hour)},
	})
}

// A run that has failed publishes what it has, for as long as that may still succeed, and only then is finished.
func TestNextBetweenFailureAndEnd(t *testing.T) {
	failedAgo := func(d time.Duration) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) {
			endedRun(r, v1alpha1.ConditionFailed)
			r.Status.Conditions = r.Status.Conditions[1:] // not yet finished
			r.Status.Conditions[0].LastTransitionTime = ago(d)
			r.Status.StartTime, r.Spec.DeadlineSeconds = ptr.To(ago(time.Hour)), ptr.To[int32](3600)
		}
	}
	publishing := func(left time.Duration) Decision {
		return Decision{
			Action: Publish{v1alpha1.ConditionFailed}, Reason: v1alpha1.ReasonPublishing, After: left,
			Message: "the run has failed; the results so far are being written",
		}
	}
	refused := Observed{Records: records(1), Blockers: Blockers{RetryError: "quota", Unwritten: true}}
	over := Decision{Action: Wait{}, Finished: true}
	longer := func(r *v1alpha1.BenchmarkRun) {
		failedAgo(time.Hour)(r)
		r.Spec.DeadlineSeconds = ptr.To[int32](3601)
	}
	checkDecisions(t, map[string]decision{
		"nothing measured":               {run: failedAgo(0), want: over},
		"published":                      {run: failedAgo(0), seen: Observed{Records: records(1), Results: &v1alpha1.ResultsReference{}}, want: over},
		"results first":                  {run: failedAgo(0), seen: Observed{Records: records(1)}, want: publishing(time.Minute)},
		"refused":                        {run: failedAgo(59 * time.Second), seen: refused, want: publishing(time.Second)},
		"refused for too long":           {run: failedAgo(time.Minute), seen: refused, want: over},
		"refused, time is left":          {run: longer, seen: refused, want: publishing(time.Second)},
		"not yet refused, at the end of": {run: failedAgo(time.Minute), seen: Observed{Records: records(1)}, want: publishing(0)},
	})
}

// counts are what is compared of a progress.
type counts struct{ Planned, Measured, Invalidated, Next, Attempt int }

func countsOf(g *situation) counts {
	c := counts{Planned: g.Planned, Measured: g.Measured, Invalidated: g.Invalidated, Attempt: g.attempt}
	if g.next != nil {
		c.Next = g.next.Number
	}
	return c
}

func TestProgress(t *testing.T) {
	evicted := func(number, attempt int) *result.Record {
		return disturbed(number, attempt, result.OutcomeInvalidated, result.CauseEvicted)
	}
	cases := map[string]struct {
		records []*result.Record
		want    counts
	}{
		"nothing":                     {nil, counts{4, 0, 0, 1, 1}},
		"one measured":                {records(1), counts{4, 1, 0, 2, 1}},
		"a gap is measured first":     {records(1, 3, 4), counts{4, 3, 0, 2, 1}},
		"all measured":                {records(4, 3, 2, 1), counts{4, 4, 0, 0, 0}},
		"tried again":                 {[]*result.Record{evicted(1, 1), evicted(1, 2)}, counts{4, 0, 2, 1, 3}},
		"attempts in any order":       {[]*result.Record{evicted(1, 2), evicted(1, 1)}, counts{4, 0, 2, 1, 3}},
		"number after a gap":          {[]*result.Record{evicted(1, 7)}, counts{4, 0, 1, 1, 8}},
		"disturbed, then measured":    {append([]*result.Record{evicted(1, 2)}, records(1)...), counts{4, 1, 1, 2, 1}},
		"failed is not disturbed":     {[]*result.Record{disturbed(1, 1, result.OutcomeFailed, "SQL")}, counts{4, 0, 0, 1, 2}},
		"a trial that is not planned": {records(9), counts{4, 0, 0, 1, 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(2, 2)
			must.Same(t, "progress", tc.want, countsOf(newSituation(run, planOf(t, run), &Observed{Records: tc.records}, now)))
		})
	}
}

// A run that ended an hour ago still stays for what is left, or for ever if that is nil.
func TestExpiryOfARun(t *testing.T) {
	for name, tc := range map[string]struct {
		seconds   *int32
		byDefault time.Duration
		left      *time.Duration
	}{
		"neither":                     {},
		"default, just not over":      {byDefault: time.Hour + time.Second, left: ptr.To(time.Second)},
		"default, just over":          {byDefault: time.Hour, left: ptr.To(time.Duration(0))},
		"default, over for long":      {byDefault: time.Minute, left: ptr.To(-59 * time.Minute)},
		"own, longer":                 {seconds: ptr.To[int32](7200), byDefault: time.Minute, left: ptr.To(time.Hour)},
		"own, shorter":                {seconds: ptr.To[int32](60), byDefault: 24 * time.Hour, left: ptr.To(-59 * time.Minute)},
		"own of 0 is not the default": {seconds: ptr.To[int32](0), byDefault: 24 * time.Hour, left: ptr.To(-time.Hour)},
		"own, no default":             {seconds: ptr.To[int32](3601), left: ptr.To(time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 1)
			endedRun(run, v1alpha1.ConditionComplete)
			run.Spec.TTLSecondsAfterFinished = tc.seconds
			seen := &Observed{Blockers: Blockers{DefaultTTL: tc.byDefault}}
			d, status := next(t, run, seen, now), statusOf(t, run, seen, now).ExpirationTime
			want := Decision{Action: Wait{}}
			switch {
			case tc.left == nil:
			case *tc.left > 0:
				want.After = *tc.left
			default:
				want.Action = DeleteRun{}
			}
			must.Same(t, "decision", want, d)
			if (status == nil) != (tc.left == nil) || tc.left != nil && !status.Time.Equal(now.Add(*tc.left)) {
				t.Errorf("the status says %v, want %v from now", status, tc.left)
			}
		})
	}
}

// What is being deleted is not deleted again, and not looked at again for it.
func TestExpiryOfWhatIsBeingDeleted(t *testing.T) {
	for _, byDefault := range []time.Duration{time.Minute, 24 * time.Hour} {
		run := oneAxis(1, 1)
		endedRun(run, v1alpha1.ConditionComplete)
		run.DeletionTimestamp = ptr.To(ago(0))
		if d := next(t, run, &Observed{Blockers: Blockers{DefaultTTL: byDefault}}, now); d.Action != (Wait{}) || d.After != 0 {
			t.Errorf("decided %+v after %s", d.Action, d.After)
		}
	}
}

// The status says when a run is deleted from the moment on in which it finishes, and nothing while it is under way.
func TestExpiryWhileARunEnds(t *testing.T) {
	run := oneAxis(1, 1)
	seen := &Observed{Records: records(1), Blockers: Blockers{DefaultTTL: time.Hour}, Instances: []Instance{instanceOf(1, "u")}}
	if got := statusOf(t, run, seen, now).ExpirationTime; got != nil {
		t.Errorf("under way, it is deleted at %s", got)
	}
	seen = &Observed{Records: records(1), Results: &v1alpha1.ResultsReference{}, Blockers: Blockers{DefaultTTL: time.Hour}}
	status := statusOf(t, run, seen, now)
	if status.CompletionTime == nil || status.ExpirationTime == nil || !status.ExpirationTime.Equal(ptr.To(ago(-time.Hour))) {
		t.Errorf("completed at %v, it is deleted at %v", status.CompletionTime, status.ExpirationTime)
	}
}

// A name of another owner's object is in the way of a run only if that needs it next.
func TestNamesThatARunNeeds(t *testing.T) {
	for name, needed := range map[string]bool{
		"run-results": true, "run-t2-a1": true, "run-db1": true, "run-db1-0": true, "data-run-db1-0": true, "storage-run-db1-0": true,
		"run-t1-a1": false, "run-t2-a2": false, "run-t2-a1-2": false, "run-t3-a1": false, "run-t999-a1": false, "run-db2": false,
		"run-db11": false, "data-run-db11-0": false, "run-db0": false,
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 3)
			seen := &Observed{
				Blockers: Blockers{Strangers: []string{name}}, Records: records(1), Instances: []Instance{instanceOf(1, "db-pod")},
			}
			d := next(t, run, seen, now)
			must.Same(t, fmt.Sprintf("decision is %+v", d), needed, d.Failure != nil && d.Failure.Reason == v1alpha1.ReasonNameTaken)
		})
	}
}
