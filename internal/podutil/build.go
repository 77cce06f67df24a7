// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Keys of a run's Secret.
const (
	// CredentialPath is where a container finds the Secret's keys as files.
	CredentialPath = "/etc/benchrun/credentials"
	// UserKey holds the user name.
	UserKey = "username"
	// PasswordKey holds the password.
	PasswordKey = "password"
)

// nodeLossSeconds is how long a Pod stays bound to a node that does not answer.
const nodeLossSeconds = 30

// RestrictedContainer is the security context of every container that Benchrun makes: what the "restricted" Pod Security
// Standard asks for, and a read-only root.
func RestrictedContainer() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// Tolerations are those that were asked for, and 30 seconds (not the usual 300) for a node that does not answer.
func Tolerations(asked []corev1.Toleration) []corev1.Toleration {
	list := slices.Clone(asked)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		list = append(list, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
			TolerationSeconds: ptr.To[int64](nodeLossSeconds),
		})
	}
	return list
}

// BindToNode adds to an affinity, which may be nil, that the node must be the one named; an empty name adds nothing. The
// terms of a node selector are alternatives, so each of them gets the name.
func BindToNode(affinity *corev1.Affinity, node string) *corev1.Affinity {
	if node == "" {
		return affinity
	}
	bound := affinity.DeepCopy()
	if bound == nil {
		bound = &corev1.Affinity{}
	}
	if bound.NodeAffinity == nil {
		bound.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := bound.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) == 0 {
		required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
		bound.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		term.MatchFields = append(term.MatchFields, corev1.NodeSelectorRequirement{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
		})
	}
	return bound
}

// Guaranteed fills in requests that are left out with the limits.
func Guaranteed(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	r = *r.DeepCopy()
	for name, limit := range r.Limits {
		if _, found := r.Requests[name]; !found {
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = limit
		}
	}
	return r
}
