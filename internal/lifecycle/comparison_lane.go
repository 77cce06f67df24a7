// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// laneName is the lane that the runs of the comparison are in.
func (s *comparisonSituation) laneName() string { return s.comparison.Spec.Template.Spec.Lane }

// holds says whether the comparison holds its lane.
func (s *comparisonSituation) holds() bool { return s.seen.Lane.is(s.holder) }

// comparisonQueued waits until it is the comparison's turn. If it has lost its lane, its run removes its Jobs and the database by
// itself; a round whose trials alternate begins again.
func comparisonQueued(s *comparisonSituation) *Decision {
	if s.holds() {
		return nil
	}
	d := s.seen.Lane.turn(s.laneName(), s.holder)
	if d.Action == (TakeLane{}) {
		return &d
	}
	d.Unexpected = s.is(v1alpha1.ConditionAdmitted)
	a := s.vacate()
	if s.alternates() {
		a = s.interrupt()
	}
	if a != nil {
		d.Action, d.Unexpected = a, true
	} else if !d.Unexpected {
		status := &s.comparison.Status
		since := queuedSince(ready(s.comparison.CreationTimestamp, status.QueuedTime, status.Conditions), status.Conditions)
		return d.queueDeadline("comparison", s.comparison.Spec.QueueDeadlineSeconds, s.now.Sub(since))
	}
	return &d
}

// disturbs says whether something of the comparison may put load on a node, or begin to.
func (s *comparisonSituation) disturbs() bool { return s.seen.Lingering || !s.quiet() || s.serves() }

// quiet says whether each current run, unless it has finished, says itself that it is suspended, or being deleted. Until then, a
// step that it has begun may still create a Job.
func (s *comparisonSituation) quiet() bool {
	return !slices.ContainsFunc(s.seen.Members, func(m analysis.Member) bool {
		if m.Run == nil || m.Finished() || saysDeleted(m.Run.Status.Conditions) || !s.isCurrent(m.Run) {
			return false
		}
		suspended := ptr.Deref(m.Run.Spec.Suspend, false) && m.Is(v1alpha1.ConditionSuspended)
		return !suspended || ptr.Deref(m.Run.Status.ObservedGeneration, 0) != m.Run.Generation
	})
}

// admitted is the condition Admitted.
func (s *comparisonSituation) admitted(d Decision) (status metav1.ConditionStatus, reason, message string) {
	switch {
	case d.Finished, d.Complete, d.Failure != nil, s.is(v1alpha1.ConditionFailed):
		return metav1.ConditionFalse, v1alpha1.ReasonFinished, "the comparison has ended and is releasing its lane"
	case d.Pauses():
		return metav1.ConditionFalse, d.Reason, d.Message
	case s.holds(), s.seen.ObserveFailed && s.is(v1alpha1.ConditionAdmitted):
		return metav1.ConditionTrue, v1alpha1.ReasonAdmitted, "the comparison holds lane " + s.laneName()
	}
	return metav1.ConditionUnknown, d.Reason, d.Message
}

// Remains are what there is of runs that puts load on nodes, or may.
type Remains struct {
	Pods []corev1.Pod
	Jobs []batchv1.Job
	// Servers has the UID of a run, or of a comparison whose runs share it, for each StatefulSet and each MariaDB resource that is
	// not being deleted: those make no Pod any more.
	Servers []types.UID
	// Tuned are nodes that have been tuned.
	Tuned []TunedNode
}

// OwnerOf what remains is a run or, of a database that runs share, a comparison.
func OwnerOf(o metav1.Object) types.UID {
	labels := o.GetLabels()
	return types.UID(cmp.Or(labels[v1alpha1.LabelRunUID], labels[v1alpha1.LabelComparisonUID]))
}

// Disturb says whether something of it works, or may begin to. The databases of owners that keep them are idle, and so are their
// Jobs when they have ended.
func (r *Remains) Disturb(kept sets.Set[types.UID], now time.Time) bool {
	return slices.ContainsFunc(r.Tuned, TunedNode.unsettled) ||
		slices.ContainsFunc(r.Servers, func(run types.UID) bool { return !kept.Has(run) }) ||
		slices.ContainsFunc(r.Pods, func(pod corev1.Pod) bool {
			idle := kept.Has(OwnerOf(&pod)) && pod.Labels[v1alpha1.LabelComponent] == v1alpha1.ComponentDatabase
			return !idle && podutil.MayLoad(&pod, now)
		}) ||
		slices.ContainsFunc(r.Jobs, func(job batchv1.Job) bool {
			return podutil.MayLoad(&job, now)
		})
}

// Leftover is what runs that have ended, or are gone, have left on nodes.
type Leftover int

const (
	// NothingLeft puts no load on a node.
	NothingLeft Leftover = iota
	// Stopping are Pods that are being deleted, and nothing that makes further ones: they end by themselves, within their grace.
	Stopping
	// Working: something works that was not deleted, or may begin to.
	Working
)

// Left is what others than the runs that are under way have left. The databases of owners that keep them are idle.
func (r *Remains) Left(underWay, kept sets.Set[types.UID], now time.Time) Leftover {
	others := Remains{
		Tuned:   r.Tuned,
		Servers: slices.DeleteFunc(slices.Clone(r.Servers), underWay.Has),
		Pods:    slices.DeleteFunc(slices.Clone(r.Pods), func(p corev1.Pod) bool { return underWay.Has(OwnerOf(&p)) }),
		Jobs:    slices.DeleteFunc(slices.Clone(r.Jobs), func(j batchv1.Job) bool { return underWay.Has(OwnerOf(&j)) }),
	}
	if !others.Disturb(kept, now) {
		return NothingLeft
	}
	others.Pods = slices.DeleteFunc(others.Pods, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	if others.Disturb(kept, now) {
		return Working
	}
	return Stopping
}

// Keeps says whether a run that has finished keeps its database, by spec.cleanup.
func Keeps(run *v1alpha1.BenchmarkRun) bool {
	is := func(condition string) bool { return apimeta.IsStatusConditionTrue(run.Status.Conditions, condition) }
	return is(v1alpha1.ConditionFinished) && keeps(run.Spec.Cleanup, is(v1alpha1.ConditionComplete))
}

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
