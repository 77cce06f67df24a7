// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// crew are the loaders of an attempt: mostly one.
type crew struct {
	// size is how many there must be.
	size int
	// pods there are, in the order of their indexes.
	pods []corev1.Pod
}

func newCrew(job *batchv1.Job, pods []corev1.Pod) crew {
	c := crew{size: int(ptr.Deref(job.Spec.Completions, 1)), pods: slices.Clone(pods)}
	slices.SortStableFunc(c.pods, func(a, b corev1.Pod) int { return cmp.Compare(PodIndex(&a), PodIndex(&b)) })
	return c
}

// PodIndex is which of an attempt's loaders a Pod is, from 0.
func PodIndex(pod *corev1.Pod) int {
	n, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return 0 // the Job's controller has not made it
	}
	return n
}

// lead is the loader that prepares, verifies and publishes; nil if it is not there.
func (c crew) lead() *corev1.Pod {
	if len(c.pods) == 0 || PodIndex(&c.pods[0]) != 0 {
		return nil
	}
	return &c.pods[0]
}

// pending finds a loader that does not run yet.
func (c crew) pending() *corev1.Pod {
	for i := range c.pods {
		if c.pods[i].Status.Phase == corev1.PodPending {
			return &c.pods[i]
		}
	}
	return nil
}

// uncreated says whether the Job's controller has not made all Pods yet. One that is gone already is none of these: the Job
// still counts it, or has counted its end.
func (c crew) uncreated(job *batchv1.Job) bool {
	s := &job.Status
	return s.Failed == 0 && int(s.Active)+int(s.Succeeded) <= len(c.pods) && len(c.pods) < c.size
}

func (c crew) running() int {
	n := 0
	for i := range c.pods {
		if c.pods[i].Status.Phase != corev1.PodPending {
			n++
		}
	}
	return n
}

// waiting says what the loader waits for that does not run yet.
func (c crew) waiting() string {
	pod := c.pending()
	text := podutil.Waiting(pod, "the loader")
	if c.size == 1 {
		return text
	}
	return fmt.Sprintf("%d of %d loaders run, Pod %d does not: %s", c.running(), c.size, PodIndex(pod), text)
}

// twice says whether some index has more than one Pod.
func (c crew) twice() bool {
	for i := range c.pods {
		if i >= c.size || PodIndex(&c.pods[i]) != i {
			return true
		}
	}
	return false
}

func (c crew) allEndedWell() bool {
	for i := range c.pods {
		if !endedWell(&c.pods[i]) {
			return false
		}
	}
	return len(c.pods) == c.size && !c.twice()
}

// missing is the first index that has no Pod, the crew's size if each has one.
func (c crew) missing() int {
	for i := range c.size {
		if !slices.ContainsFunc(c.pods, func(p corev1.Pod) bool { return PodIndex(&p) == i }) {
			return i
		}
	}
	return c.size
}

// who names a loader, and whose its Pod.
func (c crew) who(index int) string {
	if c.size == 1 {
		return "the loader"
	}
	return fmt.Sprintf("the loader of Pod %d", index)
}

func (c crew) whose(index int) string {
	if c.size == 1 {
		return "the loader's Pod"
	}
	return fmt.Sprintf("the loaders' Pod %d", index)
}

// stopping says whether a loader is still being ended, and its node will say so.
func (c crew) stopping(job *batchv1.Job) bool {
	return ended(job, batchv1.JobFailed) == nil && lost(c.pods) == nil &&
		slices.ContainsFunc(c.pods, func(pod corev1.Pod) bool { return podutil.Ended(&pod, Container) == nil })
}

// whereItWas are the words of the loader that leads, if it was told to stop.
func (c crew) whereItWas() string {
	lead := c.lead()
	if lead == nil {
		return ""
	}
	summary, err := result.DecodeSummary(terminationMessage(lead))
	if err != nil || summary.Failure == nil || summary.Failure.Reason != result.CauseInterrupted {
		return ""
	}
	return ": " + summary.Failure.Message
}

// culprit is the Pod that explains why an attempt failed: the first to end badly of its own accord. The others are told to
// stop then.
func (c crew) culprit() *corev1.Pod {
	if len(c.pods) == 0 {
		return nil
	}
	const ofItsOwnAccord, toldToStop, notEnded, well = 0, 1, 2, 3
	rank := func(pod *corev1.Pod) int {
		end := podutil.Ended(pod, Container)
		if end == nil {
			return notEnded
		}
		if end.ExitCode == 0 {
			return well
		}
		summary, err := result.DecodeSummary(end.Message)
		if err == nil && summary.Failure != nil && summary.Failure.Reason == result.CauseInterrupted {
			return toldToStop
		}
		return ofItsOwnAccord
	}
	first := slices.MinFunc(c.pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), EndOf(&a).Compare(EndOf(&b)))
	})
	return &first
}
