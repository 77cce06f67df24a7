// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podutil has what the Pods of databases and of loaders have in common: their parts and images (build.go),
// and the reading of their status (status.go).
package podutil

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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

// Container of Benchrun's own: what it leaves as its termination message, or the end of its log, says how it ended.
func Container(name, image string, args ...string) corev1.Container {
	return corev1.Container{
		Name: name, Image: image, ImagePullPolicy: corev1.PullIfNotPresent, Args: args, SecurityContext: RestrictedContainer(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// ClaimVolume is a volume of a Pod from a claim with that name.
func ClaimVolume(name, claim string, readOnly bool) corev1.Volume {
	source := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim, ReadOnly: readOnly}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: source}}
}

// EmptyVolume is a volume of a Pod on the node's disk or in memory; without a size it has no bound.
func EmptyVolume(name string, medium corev1.StorageMedium, size *resource.Quantity) corev1.Volume {
	source := &corev1.EmptyDirVolumeSource{Medium: medium, SizeLimit: size}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: source}}
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
	if nodes = slices.DeleteFunc(slices.Clone(nodes), func(node string) bool { return node == "" }); len(nodes) == 0 {
		return affinity
	}
	bound := cmp.Or(affinity.DeepCopy(), &corev1.Affinity{})
	bound.NodeAffinity = cmp.Or(bound.NodeAffinity, &corev1.NodeAffinity{})
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
	if requests := maps.Clone(r.Limits); requests != nil {
		maps.Copy(requests, r.Requests)
		r.Requests = requests
	}
	return r
}

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
	for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
		if c := container.SecurityContext; c != nil {
			c.RunAsUser, c.RunAsGroup = nil, nil
		}
	}
}

// HeldByKueue says whether a Pod waits until Kueue admits it: by the names of its scheduling gates.
func HeldByKueue(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool {
		return strings.HasPrefix(g.Name, "kueue.x-k8s.io/")
	})
}

// WaitsForKueue says what has to happen before Kueue admits a Pod or Job. The database keeps its quota while the loader waits for
// more: two runs that share a queue can wait for each other. The message says what is needed, so that the user need not guess it.
func WaitsForKueue(what, queue string) string {
	return fmt.Sprintf("Kueue has not admitted %s yet: LocalQueue %q needs quota for database and loader at the same time",
		what, queue)
}

// EvictedByKueue is Kueue's reason for deleting a Pod that it had admitted, or empty: it puts a condition on the Pod before.
func EvictedByKueue(pod *corev1.Pod) string {
	return ptr.Deref(Condition(pod, "TerminationTarget"), corev1.PodCondition{}).Message
}

// Images are the container images of an installation, and where its Pods pull images from.
type Images struct {
	// Loader has the loader, one static program, which is also the probe of a database's node and volume.
	Loader string
	// Sysbench has the loader and sysbench; empty if the installation has none.
	Sysbench string
	// Databases are the servers' images for runs that name none, by the name of the engine. Without one: the engine's own.
	Databases map[string]string
	// Registry is what the names of images that name no registry are completed with: a host, a port and a path. Empty: they stay,
	// and the node's container runtime completes them.
	Registry string
	// PullSecrets are the names of Secrets with credentials for registries, in the namespace of each run.
	PullSecrets []string
}

// HasSysbench says whether there is a loader with sysbench. An image that was not named is in a registry that cannot exist.
func (i Images) HasSysbench() bool {
	return i.Sysbench != "" && !strings.HasPrefix(i.Sysbench, "unset.invalid/")
}

// registry is how the name of an image begins that names its registry.
var registry = regexp.MustCompile(`^(localhost|[^/]*[.:][^/]*)/`)

// Name is the full name of an image. A full name stays what it is.
func (i Images) Name(image string) string {
	prefix := strings.TrimSuffix(i.Registry, "/") + "/"
	if i.Registry == "" || image == "" || registry.MatchString(image) || strings.HasPrefix(image, prefix) {
		return image
	}
	return prefix + image
}

// Server is the full name of the server's image: the one that the run asks for, or the installation's for this
// engine, or the engine's own.
func (i Images) Server(requested, engine, engineImage string) string {
	return i.Name(cmp.Or(requested, i.Databases[engine], engineImage))
}

// ByDigest is the name of an image by the digest that a node ran, as the kubelet reports it, if nodes can pull it by that: the
// container runtime names the image's own repository. An image that was loaded onto the node has no such digest, and keeps its
// name.
func ByDigest(image, ran string) string {
	repository, digest, found := strings.Cut(strings.TrimPrefix(ran, "docker-pullable://"), "@")
	if !found || image == "" || digest == "" || repository != repositoryOf(image) {
		return image
	}
	return repository + "@" + digest
}

func repositoryOf(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if tag := strings.LastIndex(name, ":"); tag > strings.LastIndex(name, "/") {
		name = name[:tag]
	}
	switch {
	case registry.MatchString(name):
		return name
	case strings.Contains(name, "/"):
		return "docker.io/" + name
	}
	return "docker.io/library/" + name
}

// Secrets are the run's own pull secrets and then the installation's, each once.
func (i Images) Secrets(own []string) []corev1.LocalObjectReference {
	var list []corev1.LocalObjectReference
	for _, name := range slices.Concat(own, i.PullSecrets) {
		if secret := (corev1.LocalObjectReference{Name: name}); !slices.Contains(list, secret) {
			list = append(list, secret)
		}
	}
	return list
}

// Complete gives the containers of a Pod the full names of their images, and the Pod the Secrets to pull them with.
func (i Images) Complete(spec *corev1.PodSpec, own []string) {
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for n := range containers {
			containers[n].Image = i.Name(containers[n].Image)
		}
	}
	spec.ImagePullSecrets = i.Secrets(own)
}
