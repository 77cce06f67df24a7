// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"io"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// troubleAfter is how long something may take to start before the cluster's warnings about it are asked for: the first ones
// are often about what comes by itself.
const troubleAfter = 3 * time.Second

// lookForTrouble asks for the cluster's warnings about what does not start. A quota that is used up, a Secret or a key that
// does not exist, a volume that cannot be made: nothing but an event tells. That they cannot be read is no reason to stop.
func (r *BenchmarkRunReconciler) lookForTrouble(ctx context.Context, namespace string, seen *lifecycle.Observed) {
	late := func(object client.Object) bool {
		return r.Clock.Since(object.GetCreationTimestamp().Time) > troubleAfter
	}
	for n := range seen.Instances {
		i := &seen.Instances[n]
		switch {
		case i.Pod != nil && i.Pod.Status.Phase == corev1.PodPending && late(i.Pod):
			i.Trouble = r.warning(ctx, namespace, i.Pod.UID)
		case i.Pod == nil && i.Set != nil && late(i.Set):
			i.Trouble = r.warning(ctx, namespace, i.Set.UID)
		}
		if container, speechless := i.Speechless(); speechless {
			i.LastWords = r.lastWords(ctx, i.Pod, container)
		}
	}
	for n := range seen.Attempts {
		a := &seen.Attempts[n]
		if !late(a.Job) || a.Verdict.Stage != trial.StagePending {
			continue
		}
		about := a.Job.UID
		if a.Verdict.Pod != nil {
			about = a.Verdict.Pod.UID
		}
		a.Trouble = r.warning(ctx, namespace, about)
	}
}

// maxLastWords of a log are read: a server that refuses its configuration says so early.
const maxLastWords = 64 << 10

// lastWords are the log of a container that has ended; empty if it cannot be read.
func (r *BenchmarkRunReconciler) lastWords(ctx context.Context, pod *corev1.Pod, container string) string {
	stream, err := r.Logs.OpenLog(ctx, pod.Namespace, pod.Name, container)
	if err != nil {
		log.FromContext(ctx).Error(err, "Reading the log of a container that has ended", "pod", pod.Name)
		return ""
	}
	defer stream.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(stream, maxLastWords))
	if err != nil {
		log.FromContext(ctx).Error(err, "Reading the log of a container that has ended", "pod", pod.Name)
	}
	return string(text)
}

// warning is the latest one about an object; empty if there is none.
func (r *BenchmarkRunReconciler) warning(ctx context.Context, namespace string, about types.UID) string {
	var list corev1.EventList
	err := r.Live.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{
		"involvedObject.uid": string(about), "type": corev1.EventTypeWarning,
	})
	if err != nil {
		log.FromContext(ctx).Error(err, "Reading events", "about", about)
		return ""
	}
	var latest *corev1.Event
	for i := range list.Items {
		e := &list.Items[i]
		if e.Reason == "FailedScheduling" {
			continue // the Pod's own condition says the same
		}
		if latest == nil || seenAt(e).After(seenAt(latest)) {
			latest = e
		}
	}
	if latest == nil {
		return ""
	}
	return stable(latest.Message)
}

// seenAt is when an event was last seen.
func seenAt(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	default:
		return e.EventTime.Time
	}
}

// podSuffix is what a Job puts behind its Pods' names, another one for each try.
var podSuffix = regexp.MustCompile(`("[a-z0-9-]+-a[0-9]+-[0-9]+)-[a-z0-9]{5}"`)

// stable takes out of a message what is different each time that it is said.
func stable(message string) string { return podSuffix.ReplaceAllString(message, `$1"`) }
