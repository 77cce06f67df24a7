// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
)

// SuiteDeadline is how long a suite may take at most from its start, without the time for which it is suspended or queued: what
// it asks for or, by default, as long as all of its runs may take by their own deadlines.
func SuiteDeadline(suite *v1alpha1.BenchmarkSuite, p *analysis.SuitePlan) time.Duration {
	if asked := suite.Spec.DeadlineSeconds; asked != nil {
		return time.Duration(*asked) * time.Second
	}
	total := spareTime
	for _, v := range p.Variants {
		// A deadline is at most a year and rounds are at most 20: this does not overflow.
		total = min(maxDeadline, total+time.Duration(suite.Spec.MaxRounds)*Deadline(v.Run, v.Plan))
	}
	return total
}

// deadline of the suite. By default it moves on with the suite's progress, as that of a run does.
func (s *suiteSituation) deadline() time.Time {
	status := &s.suite.Status
	latest := ptr.Deref(status.StartTime, metav1.NewTime(s.now)).Add(SuiteDeadline(s.suite, s.plan) + s.pausedFor())
	if s.suite.Spec.DeadlineSeconds == nil {
		latest = earlier(latest, movingDeadline(status.Deadline, s.seen.Blind, s.lastProgress(), s.quietTime()))
	}
	return within(latest, s.turnEnd())
}

// turnEnd is when the suite's turn is over, or nil.
func (s *suiteSituation) turnEnd() *time.Time {
	return s.seen.turnEnd(s.suite.Status.StartTime, s.pausedFor(), s.now)
}

// lastProgress is when the suite was admitted, or created a run, or when one has ended or will end at the latest.
func (s *suiteSituation) lastProgress() time.Time {
	status := &s.suite.Status
	if status.StartTime == nil || pause(status.Conditions) != nil {
		return s.now
	}
	last := later(status.StartTime.Time, admittedSince(status.Conditions, s.now))
	for i := range s.seen.Members {
		run := s.seen.Members[i].Run
		if run == nil {
			continue
		}
		last = later(last, run.CreationTimestamp.Time)
		if end := run.Status.CompletionTime; end != nil {
			last = later(last, end.Time)
		} else if run.Status.Deadline != nil {
			last = later(last, run.Status.Deadline.Time)
		}
	}
	return last
}

// quietTime is for how long a suite may make no progress: as long as an attempt of any of its runs may take.
func (s *suiteSituation) quietTime() time.Duration {
	longest := quietTime(&s.suite.Spec.Template.Spec.Trials)
	for _, v := range s.plan.Variants {
		longest = max(longest, quietTime(&v.Run.Spec.Trials))
	}
	return longest
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
	progress := s.seen.Trouble == "" && s.suite.Spec.DeadlineSeconds == nil && d.Action != (Wait{})
	kept := d.Reason == v1alpha1.ReasonPublishing || d.Failure != nil
	if over := s.seen.turnOver("suite", s.turnEnd(), s.now, d.Message); over != nil && !kept {
		return *over
	}
	if over := !s.now.Before(s.deadline()); over && !kept && !progress {
		return *fail(Failure{
			Reason:  v1alpha1.ReasonDeadlineExceeded,
			Message: overDeadline("suite", s.suite.Spec.DeadlineSeconds, s.quietTime()) + d.Message,
		})
	}
	return d
}
