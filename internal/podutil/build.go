// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Credentials of a run in its Secret.
const (
	// CredentialPath is the folder of a container that has the Secret's keys as files.
	CredentialPath = "/etc/benchrun/credentials"
	// UserKey holds the user name.
	UserKey = "username"
	// PasswordKey holds the password.
	PasswordKey = "password"
)

// nodeLossSeconds is how long a Pod stays bound to a node that does not answer. Kubernetes' own default is 300.
const nodeLossSeconds = 30

// RestrictedContainer is the security context of every container that Benchrun creates: that of the "restricted" Pod Security
// Standard, with a read-only root filesystem.
func RestrictedContainer() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		ReadOnlyRootFilesystem:   ptr.To(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// Tolerations adds to the requested ones those for a node that does not answer, for nodeLossSeconds.
func Tolerations(requested []corev1.Toleration) []corev1.Toleration {
	list := slices.Clone(requested)
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		list = append(list, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
			TolerationSeconds: ptr.To[int64](nodeLossSeconds),
		})
	}
	return list
}

// BindToNodes adds to an affinity, which may be nil, that the node must be one of those named. Empty names are ignored. A term of
// a node selector can name one node only and terms are alternatives, so that each term is repeated for each node.
func BindToNodes(affinity *corev1.Affinity, nodes ...string) *corev1.Affinity {
	if nodes = slices.DeleteFunc(nodes, func(node string) bool { return node == "" }); len(nodes) == 0 {
		return affinity
	}
	bound := affinity.DeepCopy()
	if bound == nil {
		bound = &corev1.Affinity{}
	}
	if bound.NodeAffinity == nil {
		bound.NodeAffinity = &corev1.NodeAffinity{}
	}
	terms := []corev1.NodeSelectorTerm{{}}
	required := bound.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required != nil && len(required.NodeSelectorTerms) > 0 {
		terms = required.NodeSelectorTerms
	}
	var all []corev1.NodeSelectorTerm
	for i := range terms {
		for _, node := range nodes {
			term := *terms[i].DeepCopy()
			term.MatchFields = append(term.MatchFields, corev1.NodeSelectorRequirement{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
			})
			all = append(all, term)
		}
	}
	bound.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: all}
	return bound
}

// Guaranteed sets each request that is missing to its limit.
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
