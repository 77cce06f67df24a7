// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

// Delivery is the document that a loader has written to its log, whole, and the summary of it. A loader writes its document last:
// nothing is left for it but to exit, which a kubelet reports up to a second later. Only a loader that makes the load itself
// delivers: where it starts programs, an attempt ends with its container, whose termination message is the loader's.
type Delivery struct {
	Summary  *result.Summary
	Document result.EncodedDocument
}

// Deliver is the delivery of a document: its summary is what the loader leaves as its termination message.
func Deliver(doc *result.Document, encoded result.EncodedDocument) (*Delivery, error) {
	message, err := result.EncodeSummary(doc.Summarize(encoded))
	if err != nil {
		return nil, err
	}
	summary, err := result.DecodeSummary(string(message))
	if err != nil {
		return nil, err
	}
	return &Delivery{Summary: summary, Document: encoded}, nil
}

// Delivers is the Pod whose log will have the document of an attempt, if that is all that the attempt waits for: its only loader,
// which runs. It is nil with several loaders, of which each must have confirmed that its part is in the document.
func Delivers(job *batchv1.Job, pods []corev1.Pod) *corev1.Pod {
	l := loadersOf(job, pods)
	pod := l.leader()
	if l.wanted > 1 || len(l.pods) > 1 || pod == nil || pod.DeletionTimestamp != nil || job.DeletionTimestamp != nil {
		return nil
	}
	ran := pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending
	if ran || !begun(pod) || podutil.Ended(pod, Container) != nil {
		return nil
	}
	return pod
}

// StartsPrograms says whether the loaders of a run start other programs, which may write whatever they like.
func StartsPrograms(run *v1alpha1.BenchmarkRun) bool {
	return registry.IsTool(&result.Config{Workload: result.Workload{Type: string(run.Spec.Workload.Type)}})
}

func given(job *batchv1.Job) (*result.Config, error) {
	for _, c := range job.Spec.Template.Spec.Containers {
		for _, e := range c.Env {
			if c.Name == Container && e.Name == result.EnvConfig {
				return result.ParseConfig([]byte(e.Value))
			}
		}
	}
	return nil, fmt.Errorf("Job %s gives its loader no configuration", job.Name)
}

// AnnotationInstances of a Job are the numbers of the instances that it measures in slices, unless it measures all variants.
const AnnotationInstances = "benchrun.dev/instances"

// InstancesOf are the instances that the Job of an attempt measures, of which it has the first.
func InstancesOf(run *v1alpha1.BenchmarkRun, job *batchv1.Job, first int) []int {
	if run.Status.Alternation != v1alpha1.AlternateSlices {
		return []int{first}
	}
	named := strings.Split(job.Annotations[AnnotationInstances], ",")
	var some, all []int
	for variant := range plan.Sides(run) {
		n := plan.InstanceIn(run, plan.SetOf(run, first), variant)
		all = append(all, n)
		if slices.Contains(named, strconv.Itoa(n)) {
			some = append(some, n)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// Differs names what a document does not have in common with the Job whose loader is to have written it: the run, the trial, the
// attempt, what was asked of it, or which variants. It is empty if they agree.
func Differs(doc *result.Document, job *batchv1.Job) string {
	config, err := given(job)
	if err != nil {
		return err.Error()
	}
	who := doc.Identity
	switch run := job.Spec.Template.Labels[v1alpha1.LabelRunUID]; {
	case who.RunUID != run:
		return fmt.Sprintf("it is of the run %q, not %q", who.RunUID, run)
	case who.Trial != config.Trial || who.Attempt != config.Attempt:
		return fmt.Sprintf("it is of trial %d, attempt %d, not %d and %d", who.Trial, who.Attempt, config.Trial, config.Attempt)
	}
	if asked, done := digestOf(config), digestOf(&doc.Config); asked != done {
		return fmt.Sprintf("its configuration has the digest %s, that of the attempt %s", done, asked)
	}
	asked := ptr.Deref(config.Sides, result.Sides{}).Each
	if !slices.EqualFunc(asked, doc.Sides, func(a result.Side, d result.SideDocument) bool { return a.Variant == d.Variant }) {
		return fmt.Sprintf("it has measured %d variants in turns, not the %d of the attempt", len(doc.Sides), len(asked))
	}
	return ""
}

// digestOf a configuration, however it was written.
func digestOf(c *result.Config) string {
	text, err := json.Marshal(c)
	if err != nil { // what was read as JSON can be written
		return err.Error()
	}
	return result.Digest(text)
}

// Stage is how far an attempt is.
type Stage string

const (
	// StagePending: not all loaders run yet.
	StagePending Stage = "Pending"
	// StageRunning: the loaders run.
	StageRunning Stage = "Running"
	// StageEnded: the attempt has ended, and its outcome is known.
	StageEnded Stage = "Ended"
)

// Verdict is what the state of its Job and Pods means for an attempt.
type Verdict struct {
	Stage Stage
	// Waiting says what a pending attempt waits for, in the cluster's words if it has any.
	Waiting string
	// Held: it waits until Kueue admits its Job.
	Held bool
	// NoRoom: no node has enough of a resource that its Pod requests.
	NoRoom bool
	// Running is how many loaders of a pending attempt run already.
	Running int
	// Outcome, Cause and Message are those of an ended attempt. An accepted one counts only with its document.
	Outcome result.Outcome
	Cause   result.Cause
	Message string
	// Pod is the loader's, if there is one: of several, the leader, or the one that is the reason for the verdict.
	Pod *corev1.Pod
	// Summary is what that loader reported, or nil.
	Summary *result.Summary
}

// Judge an attempt by its Job, all Pods of it, and what its loader has delivered, which is nil until then.
func Judge(job *batchv1.Job, pods []corev1.Pod, d *Delivery) Verdict {
	l := loadersOf(job, pods)
	if Delivers(job, pods) != nil {
		l.delivery = d
	}
	switch {
	case l.succeeded():
		// The Pods' phases and the Job's conditions follow some seconds later, or never if another container lives on. They may
		// differ only by what another container did: the loaders have already exited.
		return judgeSucceeded(l)
	case failedFor(job, batchv1.JobReasonDeadlineExceeded) != nil && l.terminating(job):
		// The loaders were told to stop, and will report how far they were.
		return Verdict{Stage: StageRunning, Pod: l.leader()}
	case l.failedBesideOthers(), jobCondition(job, batchv1.JobFailureTarget) != nil, jobCondition(job, batchv1.JobFailed) != nil:
		return judgeFailed(job, l)
	case jobCondition(job, batchv1.JobSuccessCriteriaMet) != nil || jobCondition(job, batchv1.JobComplete) != nil:
		return judgeSucceeded(l)
	case podutil.Find(l.pods, podutil.NodeLost) != nil:
		// The Job would wait for a Pod on a node that may never come back.
		return judgeFailed(job, l)
	case ptr.Deref(job.Spec.Suspend, false):
		return judgeSuspended(job, l)
	case len(l.pods) == 0:
		return withoutPods(job)
	case l.pending() != nil:
		return Verdict{
			Stage: StagePending, Waiting: l.waiting(), Running: l.started(), Pod: l.pending(), NoRoom: podutil.NoRoom(l.pending()),
		}
	case l.incomplete(job):
		waiting := fmt.Sprintf("%d of %d loaders are running; Pod %d is being created", l.started(), l.wanted, l.missing())
		return Verdict{Stage: StagePending, Waiting: waiting, Running: l.started()}
	case l.delivery != nil:
		return judgeSucceeded(l)
	default:
		return Verdict{Stage: StageRunning, Pod: l.leader()}
	}
}

// withoutPods is the verdict about an attempt that has no Pod, and whose Job has not ended.
func withoutPods(job *batchv1.Job) Verdict {
	if s := &job.Status; s.Failed > 0 || s.UncountedTerminatedPods != nil && len(s.UncountedTerminatedPods.Failed) > 0 {
		// The Job controller lets go of a failed Pod before it says that the Job has failed.
		return Verdict{Stage: StageRunning}
	}
	return Verdict{Stage: StagePending, Waiting: "the loader's Pod is being created"}
}

// jobCondition is a condition of a Job if it is true, or nil. Judge asks for FailureTarget and SuccessCriteriaMet as well as for
// Failed and Complete, because the latter wait for Pods on nodes that may never come back.
func jobCondition(job *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	return podutil.Find(job.Status.Conditions, func(c *batchv1.JobCondition) bool {
		return c.Type == t && c.Status == corev1.ConditionTrue
	})
}

// judgeSucceeded judges loaders that exited with code 0, or an only one that has delivered. The leader must leave the result,
// and the others the confirmation that their part is in it.
func judgeSucceeded(l loaders) Verdict {
	v := Verdict{Pod: l.leader()}
	switch {
	case l.leader() == nil || len(l.pods) < l.wanted:
		return v.Because(result.CausePodDeleted, l.podName(l.missing())+" is gone, and so is its result")
	case l.duplicated():
		return v.Because(result.CauseStartedTwice, fmt.Sprintf("%d Pods ran for one attempt", len(l.pods)))
	}
	for i := range l.pods {
		pod := &l.pods[i]
		if pod.DeletionTimestamp != nil {
			return v.Because(result.CausePodDeleted, l.podName(i)+" was being deleted")
		}
		summary, err := l.summary(pod)
		if i == 0 {
			v.Summary = summary
		}
		switch {
		case errors.Is(err, result.ErrSummaryVersion):
			return v.Because(result.CauseLoaderVersion, l.loaderName(i)+" is from another release: "+err.Error())
		case err != nil:
			return v.Because(result.CauseSilent, l.loaderName(i)+" exited with code 0 but left no result: "+err.Error())
		case summary.Failure != nil:
			return v.Because(result.CauseSilent, l.loaderName(i)+" exited with code 0 but reports a failure: "+summary.Failure.Message)
		case summary.Identity.PodUID != string(pod.UID) || summary.Identity.Pod != i:
			return v.Because(result.CauseForeignResult, "the result belongs to another Pod")
		case summary.Delivered != (i > 0):
			return v.Because(result.CauseSilent, l.loaderName(i)+" exited with code 0 but left no result")
		}
	}
	v.Stage, v.Outcome = StageEnded, result.OutcomeAccepted
	return v
}

// Because is the verdict that the attempt has ended for a cause, which decides about its outcome.
func (v Verdict) Because(cause result.Cause, message string) Verdict {
	v.Stage, v.Outcome, v.Cause, v.Message = StageEnded, cause.Outcome(), cause, message
	return v
}

// terminationMessage is what the loader left; it is empty until the loader has ended. A loader that ends by itself, with exit
// code 0 or 1, writes it last. One that is killed or crashes does not: a program that it started may have written what is there.
func terminationMessage(pod *corev1.Pod) string {
	if end := podutil.Ended(pod, Container); end != nil && (end.ExitCode == 0 || end.ExitCode == 1) {
		return end.Message
	}
	return ""
}

// EndOf is when the loader of a Pod ended; it is the zero time until then.
func EndOf(pod *corev1.Pod) time.Time {
	return ptr.Deref(podutil.Ended(pod, Container), corev1.ContainerStateTerminated{}).FinishedAt.Time
}
