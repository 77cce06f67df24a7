// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// SuiteDeadline is how long a suite may take from its start, without the time for which it is suspended or queued: what it
// asks for or, by default, as long as all of its runs may take by their own deadlines.
func SuiteDeadline(suite *v1alpha1.BenchmarkSuite, p *SuitePlan) time.Duration {
	if asked := suite.Spec.DeadlineSeconds; asked != nil {
		return time.Duration(*asked) * time.Second
	}
	total := spareTime
	for _, v := range p.Variants {
		// A deadline is at most a year and rounds are at most 20: this does not overflow.
		total = min(maxDeadline, total+time.Duration(suite.Spec.Rounds)*Deadline(v.Run, v.Plan))
	}
	return total
}

// deadline of the suite.
func (s *suiteSituation) deadline() time.Time {
	start := ptr.Deref(s.suite.Status.StartTime, metav1.NewTime(s.now))
	return start.Add(SuiteDeadline(s.suite, s.plan) + s.pausedFor())
}

// pausedFor is how long the suite has been suspended since its start, and then queued, as with a run.
func (s *suiteSituation) pausedFor() time.Duration {
	status := &s.suite.Status
	return pausedFor(status.StartTime, status.SuspendedSeconds, pause(status.Conditions), s.now)
}

// bound a step by the suite's deadline, as that of a run is. A step that fails again and again says so, and so does one
// that the cluster refuses.
func (s *suiteSituation) bound(d Decision) Decision {
	if d.Failure != nil || d.Complete {
		return d
	}
	if r := s.seen.Refused; r != nil {
		d = r.decide(s.suite.Status.Refusal, s.suite.Spec.Template.Spec.Trials.StartDeadlineSeconds, s.now)
	}
	if s.seen.Trouble != "" {
		d.Reason, d.Message = v1alpha1.ReasonRetrying, s.seen.Trouble
	}
	ends := d.Reason == v1alpha1.ReasonPublishing
	if over := !s.now.Before(s.deadline()); over && !ends && d.Failure == nil {
		return *fail(Failure{Reason: v1alpha1.ReasonDeadlineExceeded, Message: fmt.Sprintf(
			"the suite did not end within %s (spec.deadlineSeconds): %s", SuiteDeadline(s.suite, s.plan), d.Message)})
	}
	return d
}
