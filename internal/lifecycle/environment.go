// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// environment is where the run measures: according to the record of the latest accepted attempt, or of the latest one, or else
// according to the database's Pod.
func (s *situation) environment() v1alpha1.Environment {
	var r *result.Record
	for _, candidate := range s.seen.Records {
		if r == nil || candidate.Outcome == result.OutcomeAccepted || r.Outcome != result.OutcomeAccepted {
			r = candidate
		}
	}
	external := s.run.Spec.Database.Provisioner == v1alpha1.ProvisionerExternal
	switch {
	case r == nil && external:
		return unknownEnvironment()
	case r == nil:
		return s.earlyEnvironment()
	}
	e := v1alpha1.Environment{
		DatabaseImage: cut(r.Place.DatabaseImage, 512), DatabaseNode: r.Place.DatabaseNode,
		LoaderImage: cut(r.Place.LoaderImage, 512), LoaderNode: strings.Join(r.Place.Loaders(), ", "),
	}
	if external {
		loader := e
		e = unknownEnvironment()
		e.LoaderImage, e.LoaderNode = loader.LoaderImage, loader.LoaderNode
	}
	if r.Summary != nil {
		e.ServerVersion, e.SettingsDigest = cut(r.Summary.ServerVersion, 256), cut(r.Summary.SettingsDigest, 128)
	}
	fingerprint(&e, r.Fingerprint)
	return e
}

// unknownEnvironment is that of an external server.
func unknownEnvironment() v1alpha1.Environment {
	const u = result.Unknown
	return v1alpha1.Environment{
		DatabaseImage: u, DatabaseNode: u, Kernel: u, CPUModel: u, Filesystem: u, MountOptions: u, IOScheduler: u, Swappiness: u,
		TransparentHugePages: u,
	}
}

func (s *situation) earlyEnvironment() v1alpha1.Environment {
	var e v1alpha1.Environment
	for _, i := range s.seen.Instances {
		if i.Pod == nil {
			continue
		}
		e.DatabaseNode, e.DatabaseImage = i.Pod.Spec.NodeName, cut(i.Image(), 512)
		fingerprint(&e, PodFingerprint(i.Pod))
	}
	return e
}

// fingerprint copies what the status can hold, because the API server refuses a status with anything else: it cuts texts, and
// leaves out the numbers that the probe could not find (-1).
func fingerprint(e *v1alpha1.Environment, f *result.Fingerprint) {
	if f == nil {
		return
	}
	e.Kernel, e.CPUModel = cut(f.Kernel, 256), cut(f.CPUModel, 256)
	e.CPUs = int32(max(0, f.CPUs)) //nolint:gosec // no node has 2^31 CPUs
	e.MemoryBytes = max(0, f.MemoryBytes)
	e.Filesystem, e.MountOptions, e.IOScheduler = cut(f.Filesystem, 64), cut(f.MountOptions, 1024), cut(f.IOScheduler, 64)
	e.Swappiness, e.TransparentHugePages = cut(f.Swappiness, 32), cut(f.TransparentHugePages, 32)
	e.FdatasyncMicros = max(0, f.FdatasyncMicros.Median)
}

// PodFingerprint is what the probe in a database's Pod found, or nil.
func PodFingerprint(pod *corev1.Pod) *result.Fingerprint {
	message, ok := database.Fingerprint(pod)
	if !ok {
		return nil
	}
	f, err := result.DecodeFingerprint(message)
	if err != nil {
		return nil
	}
	return f
}
