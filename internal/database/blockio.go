// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// AnnotationBlockIO on a Pod tells containerd and CRI-O in which block I/O class its containers run.
const AnnotationBlockIO = "blockio.resources.beta.kubernetes.io/pod"

// blockIOAnnotation asks for the class of the whole Pod: the probe and the observer measure the disk that the server has. It is
// nil if no class is asked for.
func blockIOAnnotation(db *v1alpha1.DatabaseSpec) map[string]string {
	if db.Storage.BlockIOClass == "" {
		return nil
	}
	return map[string]string{AnnotationBlockIO: db.Storage.BlockIOClass}
}

// BlockIORefused says whether the node's container runtime refuses to create the containers of a Pod because of its block I/O
// class: it knows no such class, or none at all.
func BlockIORefused(pod *corev1.Pod) bool {
	if pod.Annotations[AnnotationBlockIO] == "" {
		return false
	}
	all := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	return slices.ContainsFunc(all, func(s corev1.ContainerStatus) bool {
		w := s.State.Waiting
		return w != nil && strings.Contains(strings.ToLower(w.Message), "blockio")
	})
}
