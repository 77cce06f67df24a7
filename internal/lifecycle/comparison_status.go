// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

const (
	// maxComparisons and maxDifferences are how many the status lists; the rest is in the results.
	maxComparisons, maxDifferences = 64, 64
	// maxComparisonText bounds the texts of a comparison's status.
	maxComparisonText = 512
)

// StatusOfComparison is the whole status of a comparison. From the old one it takes what cannot be observed again: when the
// comparison began, the transition times of its conditions, and how it ended, because an end is never taken back.
func StatusOfComparison(
	comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, seen *ComparisonObserved, d Decision, now time.Time,
) v1alpha1.BenchmarkComparisonStatus {
	s := newComparisonSituation(comparison, p, seen, now.Truncate(time.Second)) // as the API server stores it
	status := *comparison.Status.DeepCopy()
	status.ObservedGeneration = ptr.To(comparison.Generation)
	c := conditions{&status.Conditions, comparison.Generation, s.now}
	if c.have(v1alpha1.ConditionFinished) {
		c.keep()
		status.ExpirationTime = comparisonExpiry(comparison, status.CompletionTime, seen.DefaultTTL)
		return status
	}
	if comparison.DeletionTimestamp != nil {
		c.deleting("comparison", d)
		return status
	}
	if !seen.ObserveFailed && len(p.Members) > 0 {
		s.measurements(&status)
	}
	s.times(&status, d)
	status.Images = s.images(d)
	status.Refusal = seen.refusalStatus(status.Refusal, s.now)
	s.decided(c, d)
	admitted, reason, message := s.admitted(d)
	c.put(v1alpha1.ConditionAdmitted, admitted, reason, message)
	if d.Reason == v1alpha1.ReasonSuspended {
		c.set(v1alpha1.ConditionSuspended, true, d.Reason, d.Message)
	} else {
		c.set(v1alpha1.ConditionSuspended, false, v1alpha1.ReasonNotSuspended, "spec.suspend is false")
	}
	c.summarize("comparison", d)
	if c.have(v1alpha1.ConditionFinished) {
		status.CompletionTime = ptr.To(metav1.NewTime(s.now))
		status.ExpirationTime = comparisonExpiry(comparison, status.CompletionTime, seen.DefaultTTL)
	}
	status.Elapsed = s.elapsed(&status)
	return status
}

// measurements sets what was measured, and what it says.
func (s *comparisonSituation) measurements(status *v1alpha1.BenchmarkComparisonStatus) {
	a := analysis.OfComparison(s.comparison, s.plan, &s.seen.ComparisonRuns, s.seen.Judged)
	status.Alternation, status.AlternationReason = s.alternation()
	status.CurrentRuns, status.Disturbed = s.currentRuns(), s.disturbedRound()
	status.Baseline = s.comparison.Spec.Variants[s.plan.Baseline].Name
	status.Rounds = v1alpha1.RoundCounts{Planned: count(int(s.comparison.Spec.MaxRounds)), Measured: count(a.Rounds)}
	status.Progress = fmt.Sprintf("%d/%d", a.Rounds, s.comparison.Spec.MaxRounds)
	// A run that was lost was there: its comparison must not forget that it has failed for it.
	status.Runs.Finished = count(max(s.next, int(ptr.Deref(status.Runs.Finished, 0))))
	status.Runs.Invalidated = count(max(0, a.Invalidated))
	status.Result = stats.BriefAnswer(a.Overall, a.Pairs)
	status.Answer = cut(stats.AnswerOf(a.Overall, a.Pairs).Text, maxComparisonText)
	status.Pairs, status.Overall = pairStatuses(a.Pairs), pairStatuses(a.Overall)
	status.Claims, status.Claimed = claimStatus(a.Claims)
	status.Database, status.LastInstance = analysis.SharedDatabase(a.Servers), s.lastInstance()
	status.Differences = texts(variantDifferences(a.Variants, status.Baseline), maxDifferences)
	status.Volumes = volumes(a.Variants)
	status.Warnings = texts(stats.ComparisonTexts(a.Warnings), maxPointWarnings)
	if s.seen.Results != nil {
		status.Results = *s.seen.Results
	}
	shorten(253, &status.Results.ConfigMap)
	shorten(128, &status.Results.Digest)
	shorten(64, &status.Results.FromRun)
}

func pairStatuses(pairs []stats.Paired) []v1alpha1.PairStatus {
	var list []v1alpha1.PairStatus
	for i := range pairs[:min(len(pairs), maxComparisons)] {
		p := &pairs[i]
		c := v1alpha1.PairStatus{
			Variant: p.Variant, Parameters: parameterValues(p.Parameters), Verdict: v1alpha1.Verdict(p.Verdict),
			Rounds: int32Of(p.Rounds), Metric: cut(p.Metric.Name, 64), Unit: cut(p.Metric.Unit, 32),
			BaselineMedian: stats.Format(stats.Summarize(p.BaselineValues).Median), Median: stats.Format(stats.Summarize(p.Values).Median),
			Detail: cut(p.String(), maxComparisonText),
		}
		if p.Bounded() {
			c.Ratio, c.Low, c.High = stats.Format(p.Ratio), stats.Format(p.Low), stats.Format(p.High)
		}
		for name, value := range c.Parameters {
			c.Parameters[name] = v1alpha1.ParameterValue(cut(string(value), 256))
		}
		list = append(list, c)
	}
	return list
}

// variantDifferences say of each variant in what it asks for something else than the baseline, and which server variables differ
// besides: a sentence or two for each.
func variantDifferences(variants []analysis.Variant, baseline string) []string {
	var list []string
	for i := range variants {
		v := &variants[i]
		if v.Baseline {
			continue
		}
		text := fmt.Sprintf("%s has the same specification as %s", v.Name, baseline)
		if len(v.Differences) > 0 {
			text = fmt.Sprintf("%s differs from %s in: %s", v.Name, baseline, plan.List(v.Differences))
		}
		if v.Others != nil {
			text += "; " + v.Others.String()
		}
		list = append(list, text)
	}
	return list
}

// volumes are what the data of each variant was on. A variant is left out if nothing is known of it.
func volumes(variants []analysis.Variant) []v1alpha1.VolumeStatus {
	var list []v1alpha1.VolumeStatus
	for i := range variants {
		v := variants[i].Volume
		if v == nil {
			continue
		}
		volume := v1alpha1.VolumeStatus{
			Variant: variants[i].Name, Filesystem: v.Filesystem, MountOptions: v.MountOptions, IOScheduler: v.IOScheduler,
			BlockIO: v.BlockIO, FdatasyncMicros: v.FdatasyncMicros, FdatasyncMeanMicros: v.FdatasyncMeanMicros,
		}
		shorten(64, &volume.Filesystem, &volume.IOScheduler)
		shorten(512, &volume.BlockIO)
		shorten(1024, &volume.MountOptions)
		list = append(list, volume)
	}
	return list
}

// texts are as many of a list as there is room for. If some are left out, the last one says how many.
func texts(list []string, most int) []string {
	var short []string
	for i, text := range list {
		if left := len(list) - i; len(short) == most-1 && left > 1 {
			return append(short, fmt.Sprintf("%d more, see the results", left))
		}
		short = append(short, shortText(text, maxComparisonText))
	}
	return short
}

// times sets when the comparison began, and when it ends at the latest. As with a run, it has not begun as long as it is
// suspended or queued.
func (s *comparisonSituation) times(status *v1alpha1.BenchmarkComparisonStatus, d Decision) {
	status.QueuedTime = queuedTime(s.comparison.CreationTimestamp, s.comparison.Status.QueuedTime, s.comparison.Status.Conditions, d,
		s.now)
	if d.Pauses() {
		return
	}
	if status.StartTime == nil {
		status.StartTime = ptr.To(metav1.NewTime(s.now))
	}
	if paused := int64(s.pausedFor() / time.Second); paused > 0 {
		status.SuspendedSeconds = &paused
	}
	status.Deadline = ptr.To(metav1.NewTime(deadline(s).Truncate(time.Second)))
}

// decided is the condition Decided.
func (s *comparisonSituation) decided(c conditions, d Decision) {
	switch {
	case d.Complete:
		c.set(v1alpha1.ConditionDecided, d.Reason == v1alpha1.ReasonDecided, d.Reason, d.Message)
	case d.Failure != nil:
		c.set(v1alpha1.ConditionDecided, false, d.Failure.Reason, d.Failure.Message)
	case !c.have(v1alpha1.ConditionFailed):
		c.set(v1alpha1.ConditionDecided, false, v1alpha1.ReasonInProgress, "the comparison is under way")
	}
}

// elapsed is the time from the start to the end, or to the end of the last run that has finished.
func (s *comparisonSituation) elapsed(status *v1alpha1.BenchmarkComparisonStatus) string {
	end := status.CompletionTime
	if end == nil && s.next > 0 {
		end = s.seen.Members[s.next-1].Run.Status.CompletionTime
	}
	if end == nil || status.StartTime == nil || end.Before(status.StartTime) {
		return ""
	}
	return end.Sub(status.StartTime.Time).Round(time.Second).String()
}
