// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// LeaveUsers removes from an object that makes Pods the users and groups that these ask for: the cluster gives them those of the
// namespace. They still ask not to be root. Of other objects nothing changes.
func LeaveUsers(object runtime.Object) {
	switch o := object.(type) {
	case *batchv1.Job:
		leaveUsers(&o.Spec.Template.Spec)
	case *appsv1.StatefulSet:
		leaveUsers(&o.Spec.Template.Spec)
	case *unstructured.Unstructured: // a MariaDB, whose Pods another operator makes
		for _, field := range []string{"runAsUser", "runAsGroup", "fsGroup"} {
			unstructured.RemoveNestedField(o.Object, "spec", "podSecurityContext", field)
		}
	}
}

func leaveUsers(spec *corev1.PodSpec) {
	if c := spec.SecurityContext; c != nil {
		c.RunAsUser, c.RunAsGroup, c.FSGroup, c.SupplementalGroups = nil, nil, nil, nil
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			if c := containers[i].SecurityContext; c != nil {
				c.RunAsUser, c.RunAsGroup = nil, nil
			}
		}
	}
}
