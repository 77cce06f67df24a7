// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

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

// noRegistry is where images are that were not named: a registry that cannot exist.
const noRegistry = "unset.invalid/"

// HasSysbench says whether there is a loader with sysbench.
func (i Images) HasSysbench() bool {
	return i.Sysbench != "" && !strings.HasPrefix(i.Sysbench, noRegistry)
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

// repositoryOf an image, as container runtimes complete its name.
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
