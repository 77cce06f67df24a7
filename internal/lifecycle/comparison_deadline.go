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

// ComparisonDeadline is how long a comparison may take at most from its start, without the time for which it is suspended or
// queued: what it asks for or, by default, as long as all of its runs may take by their own deadlines.
func ComparisonDeadline(comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan) time.Duration {
	if requested := comparison.Spec.DeadlineSeconds; requested != nil {
		return time.Duration(*requested) * time.Second
	}
	total := spareTime
	for _, v := range p.Variants {
		// A deadline is at most a year and rounds are at most 20: this does not overflow.
		total = min(maxDeadline, total+time.Duration(comparison.Spec.MaxRounds)*Deadline(v.Run, v.Plan))
	}
	return total
}

// deadline of the comparison. By default it moves on with the comparison's progress, as that of a run does.
func (s *comparisonSituation) deadline() time.Time {
	status := &s.comparison.Status
	latest := ptr.Deref(status.StartTime, metav1.NewTime(s.now)).Add(ComparisonDeadline(s.comparison, s.plan) + s.pausedFor())
	if s.comparison.Spec.DeadlineSeconds == nil {
		latest = earlier(latest, movingDeadline(status.Deadline, s.seen.ObserveFailed, s.lastProgress(), s.quietTime()))
	}
	return within(latest, s.turnEnd())
}

// turnEnd is when the comparison's turn is over, or nil.
func (s *comparisonSituation) turnEnd() *time.Time {
	return s.seen.turnEnd(s.comparison.Status.StartTime, s.pausedFor(), s.now)
}

// lastProgress is when the comparison was admitted, or created a run, or when one has ended or will end at the latest.
func (s *comparisonSituation) lastProgress() time.Time {
	status := &s.comparison.Status
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

// quietTime is for how long a comparison may make no progress: as long as an attempt of any of its runs may take.
func (s *comparisonSituation) quietTime() time.Duration {
	longest := quietTime(&s.comparison.Spec.Template.Spec.Trials)
	for _, v := range s.plan.Variants {
		longest = max(longest, quietTime(&v.Run.Spec.Trials))
	}
	return longest
}

// pausedFor is how long the comparison has been suspended since its start, and then queued, as with a run.
func (s *comparisonSituation) pausedFor() time.Duration {
	status := &s.comparison.Status
	return pausedFor(status.StartTime, status.SuspendedSeconds, pause(status.Conditions), s.now)
}

// bound a step by the comparison's deadline, as that of a run is. A step that fails again and again says so, and so does one
// that the cluster refuses.
func (s *comparisonSituation) bound(d Decision) Decision {
	if d.Failure != nil || d.Complete {
		return d
	}
	if r := s.seen.Refused; r != nil {
		d = r.decide(s.comparison.Status.Refusal, s.comparison.Spec.Template.Spec.Trials.StartDeadlineSeconds, s.now)
	}
	if s.seen.RetryError != "" {
		d.Reason, d.Message = v1alpha1.ReasonRetrying, s.seen.RetryError
	}
	progress := s.seen.RetryError == "" && s.comparison.Spec.DeadlineSeconds == nil && d.Action != (Wait{})
	kept := d.Reason == v1alpha1.ReasonPublishing || d.Failure != nil
	if over := s.seen.turnOver("comparison", s.turnEnd(), s.now, d.Message); over != nil && !kept {
		return *over
	}
	if over := !s.now.Before(s.deadline()); over && !kept && !progress {
		return *fail(Failure{
			Reason:  v1alpha1.ReasonDeadlineExceeded,
			Message: overDeadline("comparison", s.comparison.Spec.DeadlineSeconds, s.quietTime()) + d.Message,
		})
	}
	return d
}
