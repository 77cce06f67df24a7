// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

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

// longest is how long the comparison may take at most.
func (s *comparisonSituation) longest() time.Duration {
	return ComparisonDeadline(s.comparison, s.plan)
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
	if len(s.plan.Variants) == 0 { // its specification is not valid
		return quietTime(&v1alpha1.BenchmarkRun{Spec: s.comparison.Spec.Template.Spec}, nil)
	}
	longest := time.Duration(0)
	for _, v := range s.plan.Variants {
		longest = max(longest, quietTime(v.Run, v.Plan))
	}
	return longest
}
