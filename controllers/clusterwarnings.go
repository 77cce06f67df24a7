// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"io"
	"maps"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// warningsAfter is how long an object may take to start before its warnings are read: the first ones are often about something
// that resolves itself.
const warningsAfter = 3 * time.Second

// readWarnings adds the cluster's warnings about what does not start. Only an event tells of an exhausted quota, a Secret or key
// that does not exist, or a volume that cannot be provisioned. If they cannot be read, the run goes on without them.
func (r *RunReconciler) readWarnings(ctx context.Context, namespace string, seen *lifecycle.Observed) {
	late := func(object client.Object) bool {
		return r.Clock.Since(object.GetCreationTimestamp().Time) > warningsAfter
	}
	for n := range seen.Instances {
		i := &seen.Instances[n]
		switch {
		case i.Pod != nil && i.Pod.Status.Phase == corev1.PodPending && late(i.Pod):
			i.Warning = cmp.Or(podutil.Shortage(i.Pod, "database.resources"), latestWarning(ctx, r.Live, namespace, i.Pod.UID))
			if podutil.HeldByKueue(i.Pod) {
				i.Warning = cmp.Or(i.Warning, r.kueueWarning(ctx, namespace, i.Pod.Labels[kueuePodGroup]))
			}
		case i.Pod == nil && i.Set != nil && late(i.Set):
			i.Warning = latestWarning(ctx, r.Live, namespace, i.Set.UID)
		}
		i.ClaimWarning = r.claimWarning(ctx, i, late)
		if container, needed := i.NeedsLog(); needed {
			i.ServerLog = r.beginningOfLog(ctx, i.Pod, container)
		}
	}
	for n := range seen.Attempts {
		a := &seen.Attempts[n]
		if a.Verdict.Stage != trial.StagePending || !late(a.Job) {
			continue
		}
		about, short := a.Job.UID, ""
		if pod := a.Verdict.Pod; pod != nil {
			about, short = pod.UID, podutil.Shortage(pod, "loader.resources")
		}
		a.Warning = cmp.Or(short, latestWarning(ctx, r.Live, namespace, about))
		if a.Verdict.Held {
			a.Warning = cmp.Or(a.Warning, r.kueueWarning(ctx, namespace, "job-"+a.Job.Name+"-"))
		}
	}
}

// claimWarning is about the first claim that is not bound although it is late, of an instance that is not ready; or empty.
func (r *RunReconciler) claimWarning(
	ctx context.Context, instance *lifecycle.Instance, late func(client.Object) bool,
) (text string) {
	if instance.State().Ready {
		return ""
	}
	for _, claim := range instance.Claims {
		if text == "" && claim.Status.Phase == corev1.ClaimPending && late(claim) {
			text = latestWarning(ctx, r.Live, claim.Namespace, claim.UID)
		}
	}
	return text
}

// kueuePodGroup is the label of a Pod with the name of the Workload by which Kueue admits it.
const kueuePodGroup = "kueue.x-k8s.io/pod-group-name"

// kueueWarning is why Kueue does not admit the Workload whose name begins so (that of a Job's ends with a hash of Kueue's own).
// It says so in an event, which the operator may read without access to Kueue's kinds. Of a queue that is stopped there is none.
func (r *RunReconciler) kueueWarning(ctx context.Context, namespace, workload string) string {
	return warning(ctx, r.Live, namespace, client.MatchingFields{"involvedObject.kind": "Workload"}, func(e *corev1.Event) bool {
		return workload != "" && strings.HasPrefix(e.InvolvedObject.Name, workload)
	})
}

// maxServerLog bytes of a log are read: a server that refuses its configuration says so early.
const maxServerLog = 64 << 10

// beginningOfLog is that of the log of a container that has ended, or empty if the log cannot be read.
func (r *RunReconciler) beginningOfLog(ctx context.Context, pod *corev1.Pod, container string) string {
	stream, err := r.Logs.OpenLog(ctx, pod.Namespace, pod.Name, corev1.PodLogOptions{Container: container})
	var text []byte
	if err == nil {
		defer stream.Close() //nolint:errcheck // it was only read
		text, err = io.ReadAll(io.LimitReader(stream, maxServerLog))
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "Reading the log of a container that has ended", "pod", pod.Name)
	}
	return string(text)
}

func latestWarning(ctx context.Context, live *Live, namespace string, about types.UID) string {
	fields := client.MatchingFields{"involvedObject.uid": string(about)}
	return warning(ctx, live, namespace, fields, func(e *corev1.Event) bool {
		return e.Reason != "FailedScheduling" // the Pod's own condition says the same
	})
}

// maxWarning bounds what is kept of a warning: a user who may create events may write any text.
const maxWarning = 4 << 10

// moreWarnings is said if there are more events than are read: a later one may say something else.
const moreWarnings = " (there are more warnings about it than are read)"

func warning(
	ctx context.Context, live *Live, namespace string, about client.MatchingFields, matches func(*corev1.Event) bool,
) string {
	fields := maps.Clone(about)
	fields["type"] = corev1.EventTypeWarning
	var (
		text string
		last time.Time
	)
	cut, err := live.Some(ctx, new(corev1.EventList), func(object runtime.Object) bool {
		if e, is := object.(*corev1.Event); is && matches(e) && (text == "" || lastSeen(e).After(last)) {
			text, last = strings.ToValidUTF8(strings.Clone(e.Message[:min(len(e.Message), maxWarning)]), ""), lastSeen(e)
		}
		return true
	}, client.InNamespace(namespace), fields)
	switch {
	case err != nil:
		log.FromContext(ctx).Error(err, "Reading events", "about", about)
		return ""
	case cut && text != "":
		text += moreWarnings
	}
	return podSuffix.ReplaceAllString(text, `$1"`) // it is another Pod in each message about one that cannot be created
}

func lastSeen(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	default:
		return e.EventTime.Time
	}
}

// podSuffix is the random end of the name of a Job's Pod.
var podSuffix = regexp.MustCompile(`("[a-z0-9-]+-a[0-9]+-[0-9]+)-[a-z0-9]{5}"`)

// LogOpener opens logs of containers: what stands in one by now or, with Follow, all that is written to it until the container
// ends.
type LogOpener interface {
	OpenLog(ctx context.Context, namespace, pod string, of corev1.PodLogOptions) (io.ReadCloser, error)
}

// PodLogs opens them through the API server.
type PodLogs struct{ Clientset kubernetes.Interface }

// OpenLog implements LogOpener.
func (l PodLogs) OpenLog(ctx context.Context, namespace, pod string, of corev1.PodLogOptions) (io.ReadCloser, error) {
	of.LimitBytes = ptr.To[int64](maxLogBytes)
	return l.Clientset.CoreV1().Pods(namespace).GetLogs(pod, &of).Stream(ctx)
}
