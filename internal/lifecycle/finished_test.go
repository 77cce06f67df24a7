// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

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
	published := &Published{ConfigMap: "run-results"}
	db := []Instance{instanceOf(1, "db-pod")}
	everything := Observed{Records: records(1), Results: published, Attempts: []Attempt{attemptOf(2, 1)}, Instances: db}
	onlyDB := Observed{Records: records(1), Results: published, Instances: db}
	checkDecisions(t, map[string]decision{
		"nothing left":                   {run: complete(), seen: Observed{Results: published}, want: done(Wait{})},
		"results deleted, not made anew": {run: complete(), seen: Observed{Records: records(1)}, want: done(Wait{})},
		"failed, results first": {
			run: failed(), seen: Observed{Records: records(1), Instances: db}, want: done(Publish{v1alpha1.ConditionFailed}),
		},
		"failed without an attempt": {run: failed(), seen: Observed{Instances: db}, want: done(RemoveDatabase{1})},
		"obstacles do not matter":   {run: failed(), seen: Observed{Obstacle: &Failure{}, Predecessor: []string{"x"}}, want: done(Wait{})},
		"Job first":                 {run: complete(), seen: everything, want: done(RemoveJob{Name: "run-t2-a1"})},
		"then the database":         {run: complete(), seen: onlyDB, want: done(RemoveDatabase{1})},
		"suspended, cleaned up":     {run: complete(suspend), seen: onlyDB, want: done(RemoveDatabase{1})},
		// What stands beside it may be a stranger's under the same name, because of which the run has failed.
		"made in part":                   {run: complete(), seen: Observed{Instances: []Instance{{Number: 1, Others: true}}}, want: done(RemoveDatabase{1})},
		"never, complete":                {run: complete(cleanup(v1alpha1.CleanupNever)), seen: everything, want: done(Wait{})},
		"never, failed":                  {run: failed(cleanup(v1alpha1.CleanupNever)), seen: everything, want: done(Wait{})},
		"on success, complete":           {run: complete(cleanup(v1alpha1.CleanupOnSuccess)), seen: everything, want: done(RemoveJob{Name: "run-t2-a1"})},
		"on success, failed":             {run: failed(cleanup(v1alpha1.CleanupOnSuccess)), seen: everything, want: done(Wait{})},
		"always, failed":                 {run: failed(cleanup(v1alpha1.CleanupAlways)), seen: everything, want: done(RemoveJob{Name: "run-t2-a1"})},
		"lifetime, clean-up first":       {run: complete(ttl(0)), seen: onlyDB, want: done(RemoveDatabase{1})},
		"lifetime, not over":             {run: complete(ttl(3601)), seen: Observed{Results: published}, want: after(done(Wait{}), time.Second)},
		"lifetime, just over":            {run: complete(ttl(3600)), seen: Observed{Results: published}, want: done(DeleteRun{})},
		"lifetime of none":               {run: failed(ttl(0)), want: done(DeleteRun{})},
		"lifetime, end is not known":     {run: failed(ttl(0), notYetTimed), want: done(Wait{})},
		"lifetime, database is kept":     {run: complete(ttl(0), cleanup(v1alpha1.CleanupNever)), seen: onlyDB, want: done(DeleteRun{})},
		"lifetime, results of a failure": {run: failed(ttl(0)), seen: Observed{Records: records(1)}, want: done(Publish{v1alpha1.ConditionFailed})},
		"the longest lifetime":           {run: complete(ttl(31536000)), want: after(done(Wait{}), 365*24*time.Hour-time.Hour)},
	})
}
