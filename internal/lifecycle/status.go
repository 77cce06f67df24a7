// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Status is the whole status of a run. From the old one it takes what cannot be observed again: when the run began, the
// transition times of its conditions, and how it ended, because an end is never taken back.
func Status(run *v1alpha1.BenchmarkRun, p *plan.Plan, seen *Observed, d Decision, now time.Time) v1alpha1.BenchmarkRunStatus {
	status := newSituation(run, p, seen, now).status(d)
	fit(&status)
	return status
}

func (s *situation) status(d Decision) v1alpha1.BenchmarkRunStatus {
	run, now := s.run, s.now.Truncate(time.Second) // as the API server stores it
	status := *run.Status.DeepCopy()
	c := conditions{&status.Conditions, run.Generation, now}
	status.ObservedGeneration = ptr.To(run.Generation)
	if !s.seen.ObserveFailed {
		status.MadeObjects = s.seen.Made
	}
	if remove, ok := d.Action.(RemoveDatabase); ok {
		status.RemovedInstances = ptr.To(max(ptr.Deref(status.RemovedInstances, 0), *count(remove.Instance)))
	}
	s.hostTuning(&status)
	ready, reason, message := s.databaseReady(d)
	c.set(v1alpha1.ConditionDatabaseReady, ready, reason, message)
	if c.have(v1alpha1.ConditionFinished) {
		c.keep()
		s.resultsOfFinished(c)
		status.ExpirationTime = s.expiry(status.CompletionTime)
		return status
	}
	if run.DeletionTimestamp != nil {
		c.deleting(d)
		return status
	}
	if !s.seen.ObserveFailed && !s.seen.Unreadable {
		s.measurements(&status)
	}
	s.times(&status, d, now)
	status.Images = s.images(d)
	status.Refusal = s.seen.refusalStatus(status.Refusal, now)
	s.setConditions(c, d)
	if c.have(v1alpha1.ConditionFinished) {
		status.CompletionTime = ptr.To(metav1.NewTime(now))
		status.ExpirationTime = s.expiry(status.CompletionTime)
	}
	status.Elapsed = s.elapsed(&status)
	return status
}

func (s *situation) measurements(status *v1alpha1.BenchmarkRunStatus) {
	a := judge.OfRun(s.run, s.plan, s.seen.Records)
	status.Environment, status.Points, status.Findings = s.environment(a), statusPoints(a.Points), s.findings(a)
	answer := judge.Answering(a.Points, a.Capacities)
	status.Answer = v1alpha1.AnswerStatus{Text: stats.Brief(answer), Detail: stats.Headline(answer)}
	status.Claims, status.Claimed = nil, ""
	if s.Measured > 0 {
		status.Claims, status.Claimed = claimStatus(a.Claims)
	}
	status.Records = s.seen.Newest
	if s.seen.Results != nil {
		status.Results = *s.seen.Results
	}
	failed := 0
	if s.failed != nil {
		failed = 1
	}
	status.Trials = v1alpha1.TrialCounts{
		Planned: count(s.Planned), Measured: count(s.Measured), Invalidated: count(s.Invalidated), Failed: count(failed),
	}
	status.Progress = fmt.Sprintf("%d/%d", s.Measured, s.Planned)
	if s.compared != nil {
		s.variants(status)
	}
}

// times sets when the run began, and when it ends at the latest. A run has not begun as long as it is suspended or queued; one
// that an error keeps from its lane has, because it must end too.
func (s *situation) times(status *v1alpha1.BenchmarkRunStatus, d Decision, now time.Time) {
	status.QueuedTime = queuedTime(s.run, d, now)
	if d.Pauses() {
		return
	}
	if status.StartTime == nil {
		status.StartTime = ptr.To(metav1.NewTime(now))
	}
	if paused := int64(s.pausedFor() / time.Second); paused > 0 {
		status.SuspendedSeconds = &paused
	}
	status.Deadline = ptr.To(metav1.NewTime(deadline(s).Truncate(time.Second)))
}

func (s *situation) setConditions(c conditions, d Decision) {
	available, reason, message := s.resultsAvailable(d)
	c.set(v1alpha1.ConditionResultsAvailable, available, reason, message)
	admitted, reason, message := s.admitted(d)
	c.put(v1alpha1.ConditionAdmitted, admitted, reason, message)
	if d.Reason == v1alpha1.ReasonSuspended {
		c.set(v1alpha1.ConditionSuspended, true, d.Reason, d.Message)
	} else {
		c.set(v1alpha1.ConditionSuspended, false, v1alpha1.ReasonNotSuspended, "spec.suspend is false")
	}
	c.summarize(d)
}

func (s *situation) resultsAvailable(d Decision) (available bool, reason, message string) {
	switch {
	case s.seen.Results != nil:
		return true, v1alpha1.ReasonResultsPublished, "the results are in ConfigMap " + s.seen.Results.ConfigMap
	case s.seen.RetryError != "" && s.seen.Unwritten:
		return false, v1alpha1.ReasonResultsNotWritten, s.seen.RetryError
	case d.Finished || d.Failure != nil && s.nothingToPublish():
		return false, v1alpha1.ReasonNothingMeasured, "the run ended before an attempt was recorded"
	}
	return false, v1alpha1.ReasonInProgress, "the run is under way"
}

// resultsOfFinished says which ConfigMaps of a finished run are gone. Its numbers stay in the status.
func (s *situation) resultsOfFinished(c conditions) {
	switch {
	case s.seen.Missing != "":
		c.set(v1alpha1.ConditionResultsAvailable, false, v1alpha1.ReasonResultsDeleted, s.seen.Missing)
	case s.run.Status.Results.ConfigMap != "":
		c.set(v1alpha1.ConditionResultsAvailable, true, v1alpha1.ReasonResultsPublished,
			"the results are in ConfigMap "+s.run.Status.Results.ConfigMap)
	}
}

func (s *situation) databaseReady(d Decision) (ready bool, reason, message string) {
	for _, i := range s.seen.Instances {
		if !i.Going() && i.State().Ready {
			return true, v1alpha1.ReasonDatabaseReachable, "the database answers"
		}
	}
	switch {
	case d.Failure != nil:
		return false, d.Failure.Reason, d.Failure.Message
	case d.Complete, d.Finished, s.is(v1alpha1.ConditionFinished):
		return false, v1alpha1.ReasonDatabaseRemoved, "the run has finished"
	}
	return false, d.Reason, d.Message
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

func statusPoints(points []stats.Point) []v1alpha1.PointStatus {
	var list []v1alpha1.PointStatus
	for _, p := range points {
		if p.Summary.N == 0 || len(list) == maxStatusPoints {
			continue
		}
		list = append(list, v1alpha1.PointStatus{
			Variant: p.Variant, Parameters: parameterValues(p.Parameters),
			N:      int32(p.Summary.N), //nolint:gosec // at most 5,000 trials
			Metric: cut(p.Metric.Name, 64), Unit: cut(p.Metric.Unit, 32),
			Median: stats.Format(p.Summary.Median), Low: stats.Format(p.Summary.Low), High: stats.Format(p.Summary.High),
			Interval: v1alpha1.IntervalKind(p.Summary.Interval),
		})
	}
	return list
}

func parameterValues(parameters map[string]string) map[string]v1alpha1.ParameterValue {
	if len(parameters) == 0 {
		return nil
	}
	values := map[string]v1alpha1.ParameterValue{}
	for name, value := range parameters {
		values[name] = v1alpha1.ParameterValue(cut(value, 256))
	}
	return values
}

// environment is where the run measures: by the records of its attempts or, before the first, by the database's Pod.
func (s *situation) environment(a *judge.Run) (e v1alpha1.Environment) {
	if a.Environment != nil {
		return *a.Environment
	}
	for _, i := range s.seen.Instances {
		if i.Pod != nil {
			e.DatabaseNode, e.DatabaseImage = i.Pod.Spec.NodeName, i.Image()
			judge.AddFingerprint(&e, PodFingerprint(i.Pod))
		}
	}
	return e
}

// findings about the run or, with variants, about the comparison of these, and then about points.
func (s *situation) findings(a *judge.Run) []v1alpha1.FindingStatus {
	var list []v1alpha1.FindingStatus
	add := func(at string, f finding.Finding) {
		list = append(list, v1alpha1.FindingStatus{
			Code: cut(string(f.Code), 64), Severity: cut(string(f.Severity), 16), At: at, Text: shortText(f.String(), maxFinding),
		})
	}
	for _, f := range a.Findings {
		add("", f)
	}
	if s.compared != nil {
		for _, f := range s.compared.Warnings {
			add("", f)
		}
	} else {
		for _, f := range stats.PlacedAt(a.Points) {
			add(shortText(stats.Place(f.Points, f.Measured), maxFinding), f.Finding)
		}
	}
	return fitting(list, maxFindings, func(text string) v1alpha1.FindingStatus { return v1alpha1.FindingStatus{Text: text} })
}

// PodFingerprint is what the probe in a database's Pod found, or nil.
func PodFingerprint(pod *corev1.Pod) *result.Fingerprint {
	message, _ := database.Fingerprint(pod)
	f, _ := result.DecodeFingerprint(message) // what is not there, or cannot be read, is not known
	return f
}

// classNotEffective says why the block I/O class that a run asks for does not limit an instance. It is empty if it does, if none
// is asked for, and until that is known.
func classNotEffective(run *v1alpha1.BenchmarkRun, i *Instance) string {
	class := run.Spec.Database.Storage.BlockIOClass
	if class == "" || i.Pod == nil {
		return ""
	}
	const remedy = "; the administrator of the nodes defines the classes in the configuration of the container runtime"
	if database.BlockIORefused(i.Pod) {
		return fmt.Sprintf("the container runtime of node %s has no block I/O class %s%s", i.Pod.Spec.NodeName, class, remedy)
	}
	f := PodFingerprint(i.Pod)
	switch {
	case f == nil:
	case f.BlockIO == result.NoLimit:
		return fmt.Sprintf("block I/O class %s does not limit the disk of the data volume (%s) on node %s%s", class, f.Device,
			i.Pod.Spec.NodeName, remedy)
	case f.BlockIO == result.Unknown || f.BlockIO == "":
		return fmt.Sprintf("cannot read whether block I/O class %s is in force on node %s", class, i.Pod.Spec.NodeName)
	}
	return ""
}

const (
	// foreignPercent is what a CPU limit that is not the run's may hold the server back by default: what a reader of the
	// numbers would not notice. A user who asks for a limit measures a server with that limit, held back or not.
	foreignPercent = 1
	// limitTolerance is how much lower than what was asked a limit may be that is the same: container runtimes round.
	limitTolerance = 10
)

// throttled says by how much a CPU limit held the server back during an attempt, if that is more than is allowed; it is
// empty otherwise, and if it is not known.
func throttled(spec *v1alpha1.BenchmarkRunSpec, s *result.Summary) string {
	if s == nil || s.Throttled() < 0 {
		return ""
	}
	requested, had := plan.CPULimitMillis(&spec.Database), s.Observed.CPULimitMillis
	foreign := had > 0 && (requested == 0 || had < requested-limitTolerance)
	allowed, by := int32(100), "trials.maxThrottledPercent allows"
	switch bound := spec.Trials.MaxThrottledPercent; {
	case bound != nil:
		allowed = *bound
	case foreign:
		allowed = foreignPercent
		by = "without trials.maxThrottledPercent, a limit that the run did not set may throttle the server for at most"
	}
	if 100*s.Throttled() <= float64(allowed) {
		return ""
	}
	limit, asked, remedy := "", "no CPU limit", "raise database.resources.limits.cpu, or allow more"
	if had > 0 {
		limit = " (" + cpus(had) + ")"
	}
	if requested != 0 {
		asked = "limits.cpu " + cpus(requested)
	}
	if foreign {
		remedy = "the run requests " + asked + "; look for a LimitRange or a resized Pod, or accept the limit with " +
			"trials.maxThrottledPercent"
	}
	return fmt.Sprintf("the server was throttled at its CPU limit%s for %s of the measured %s, %.1f%%; %s %d%%: %s", limit,
		seconds(s.Observed.ThrottledMicros), seconds(s.Totals.Micros), 100*s.Throttled(), by, allowed, remedy)
}

func cpus(millis int64) string { return resource.NewMilliQuantity(millis, resource.DecimalSI).String() }

func seconds(micros int64) string {
	return fmt.Sprintf("%.2f s", (time.Duration(micros) * time.Microsecond).Seconds())
}
