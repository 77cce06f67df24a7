// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Status is the whole status of a run. From the old one it takes what cannot be observed again: when the run began, the
// transition times of its conditions, and how it ended, because an end is never taken back.
func Status(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, d Decision, now time.Time) v1alpha1.BenchmarkRunStatus {
	s := newSituation(run, p, seen, now)
	now = now.Truncate(time.Second) // as the API server stores it
	old := &run.Status
	status := v1alpha1.BenchmarkRunStatus{
		ObservedGeneration: run.Generation,
		StartTime:          old.StartTime,
		CompletionTime:     old.CompletionTime,
		Conditions:         slices.Clone(old.Conditions),
		Environment:        s.environment(),
		Points:             s.statusPoints(),
		Headline:           s.headline(),
		Results:            old.Results,
	}
	// A run that was created suspended has not begun.
	if status.StartTime == nil && d.Reason != v1alpha1.ReasonSuspended {
		status.StartTime = ptr.To(metav1.NewTime(now))
	}
	if seen.Results != nil {
		status.Results = v1alpha1.ResultsReference{ConfigMap: seen.Results.ConfigMap, Digest: seen.Results.Digest}
	}
	failed := 0
	if s.failed != nil {
		failed = 1
	}
	status.Trials = v1alpha1.TrialCounts{
		Planned: count(s.planned), Measured: count(s.measured), Invalidated: count(s.invalidated), Failed: count(failed),
	}
	status.Progress = fmt.Sprintf("%d/%d", s.measured, s.planned)
	s.setConditions(conditions{&status.Conditions, run.Generation, now}, d)
	if apimeta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionFinished) && status.CompletionTime == nil {
		status.CompletionTime = ptr.To(metav1.NewTime(now))
	}
	status.Elapsed = s.elapsed(&status)
	fit(&status)
	return status
}

// setConditions sets every condition of a run, the summarizing ones last.
func (s *situation) setConditions(c conditions, d Decision) {
	ready, reason, message := s.databaseReady(d)
	c.set(v1alpha1.ConditionDatabaseReady, ready, reason, message)
	if c.finished() {
		return
	}
	if d.Reason == v1alpha1.ReasonSuspended {
		c.set(v1alpha1.ConditionSuspended, true, d.Reason, d.Message)
	} else {
		c.set(v1alpha1.ConditionSuspended, false, v1alpha1.ReasonNotSuspended, "spec.suspend is false")
	}
	c.summarize("run", d)
}

// databaseReady is the condition DatabaseReady.
func (s *situation) databaseReady(d Decision) (ready bool, reason, message string) {
	for i := range s.seen.Instances {
		instance := &s.seen.Instances[i]
		if !instance.Going() && instance.State().Ready {
			return true, v1alpha1.ReasonDatabaseAnswers, "the database answers"
		}
	}
	switch {
	case d.Failure != nil:
		return false, d.Failure.Reason, d.Failure.Message
	case d.Complete, apimeta.IsStatusConditionTrue(s.run.Status.Conditions, v1alpha1.ConditionFinished):
		return false, v1alpha1.ReasonDatabaseRemoved, "the run has finished"
	default:
		return false, d.Reason, d.Message
	}
}

func count(n int) *int32 { return ptr.To(int32Of(n)) }

// elapsed is the time from the start to the end, or to the last record.
func (s *situation) elapsed(status *v1alpha1.BenchmarkRunStatus) string {
	end := time.Time{}
	if n := len(s.seen.Records); n > 0 {
		end = s.seen.Records[n-1].Recorded
	}
	if status.CompletionTime != nil {
		end = status.CompletionTime.Time
	}
	if status.StartTime == nil || end.Before(status.StartTime.Time) {
		return ""
	}
	return end.Sub(status.StartTime.Time).Round(time.Second).String()
}

func (s *situation) statusPoints() []v1alpha1.PointStatus {
	var list []v1alpha1.PointStatus
	room := maxWarningsBytes
	for _, p := range s.points {
		if p.Summary.N == 0 || len(list) == maxStatusPoints {
			continue
		}
		list = append(list, v1alpha1.PointStatus{
			Parameters: parameterValues(p.Parameters),
			N:          int32(p.Summary.N), //nolint:gosec // at most 5,000 trials
			Metric:     p.Metric.Name, Unit: p.Metric.Unit,
			Median: stats.Format(p.Summary.Median), Low: stats.Format(p.Summary.Low), High: stats.Format(p.Summary.High),
			Interval: v1alpha1.IntervalKind(p.Summary.Interval),
			Warnings: warningTexts(p.Warnings, &room),
		})
	}
	return list
}

// headline is the best point, its median and its interval.
func (s *situation) headline() string {
	best := stats.Best(s.points)
	if best < 0 {
		return ""
	}
	p := s.points[best]
	interval := cmp.Or(p.Summary.Range(), "one trial")
	text := fmt.Sprintf("%s %s (%s)", stats.Format(p.Summary.Median), p.Metric.Unit, interval)
	if len(p.Parameters) > 0 {
		text += " at " + stats.Label(p.Parameters)
	}
	return text
}

func parameterValues(parameters map[string]string) map[string]v1alpha1.ParameterValue {
	if len(parameters) == 0 {
		return nil
	}
	values := map[string]v1alpha1.ParameterValue{}
	for name, value := range parameters {
		values[name] = v1alpha1.ParameterValue(value)
	}
	return values
}
