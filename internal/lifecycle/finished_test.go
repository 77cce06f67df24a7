// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

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
		"lifetime, not over":         {run: complete(ttl(3601)), seen: Observed{Results: published}, want: after(done(Wait{}), time.Second)},
		"lifetime, just over":        {run: complete(ttl(3600)), seen: Observed{Results: published}, want: done(DeleteRun{})},
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
