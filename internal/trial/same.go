// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Same says whether a Job that exists measures what a Job would that is to be made: the same programs of the same images with the
// same configuration and files, on as many Pods. The API server has set what was left open; queues add where it may run.
func Same(want, have *batchv1.Job) bool {
	a, b := &want.Spec.Template.Spec, &have.Spec.Template.Spec
	return equality.Semantic.DeepEqual(want.Spec.Completions, have.Spec.Completions) &&
		equality.Semantic.DeepEqual(want.Spec.Parallelism, have.Spec.Parallelism) &&
		sameContainers(a.InitContainers, b.InitContainers) && sameContainers(a.Containers, b.Containers) &&
		len(a.Volumes) == len(b.Volumes) && equality.Semantic.DeepDerivative(a.Volumes, b.Volumes)
}

// sameContainers compares what is set. A list that is not set must be empty.
func sameContainers(want, have []corev1.Container) bool {
	if len(want) != len(have) || !equality.Semantic.DeepDerivative(want, have) {
		return false
	}
	for i := range want {
		a, b := &want[i], &have[i]
		if len(a.Command) != len(b.Command) || len(a.Args) != len(b.Args) || len(a.Env) != len(b.Env) ||
			len(a.EnvFrom) != len(b.EnvFrom) || len(a.VolumeMounts) != len(b.VolumeMounts) {
			return false
		}
	}
	return true
}
