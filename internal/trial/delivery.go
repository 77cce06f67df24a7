// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Delivery is the document that a loader has written to its log, whole, and the summary of it. A loader writes its document last:
// nothing is left for it but to exit, which a kubelet reports up to a second later.
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
