// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// environment is where the run takes place: by the latest accepted attempt's record, or as long as there is none, by the
// database's Pod.
func (s *situation) environment() v1alpha1.Environment {
	var r *result.Record
	for _, candidate := range s.seen.Records {
		if r == nil || candidate.Outcome == result.OutcomeAccepted || r.Outcome != result.OutcomeAccepted {
			r = candidate
		}
	}
	if r == nil {
		return s.earlyEnvironment()
	}
	e := v1alpha1.Environment{
		DatabaseImage: r.Place.DatabaseImage, DatabaseNode: r.Place.DatabaseNode,
		LoaderImage: r.Place.LoaderImage, LoaderNode: r.Place.LoaderNode,
	}
	if r.Summary != nil {
		e.ServerVersion, e.SettingsDigest = r.Summary.ServerVersion, r.Summary.SettingsDigest
	}
	fingerprint(&e, r.Fingerprint)
	return e
}

func (s *situation) earlyEnvironment() v1alpha1.Environment {
	var e v1alpha1.Environment
	for _, i := range s.seen.Instances {
		if i.Pod == nil {
			continue
		}
		e.DatabaseNode, e.DatabaseImage = i.Pod.Spec.NodeName, database.ServerImageID(i.Pod)
		fingerprint(&e, PodFingerprint(i.Pod))
	}
	return e
}

func fingerprint(e *v1alpha1.Environment, f *result.Fingerprint) {
	if f == nil {
		return
	}
	e.Kernel, e.CPUModel, e.CPUs = f.Kernel, f.CPUModel, int32(f.CPUs) //nolint:gosec // no node has 2^31 CPUs
	e.MemoryBytes = f.MemoryBytes
	e.Filesystem, e.MountOptions, e.IOScheduler = f.Filesystem, f.MountOptions, f.IOScheduler
	e.Swappiness, e.TransparentHugePages = f.Swappiness, f.TransparentHugePages
	e.FdatasyncMicros = f.FdatasyncMicros.Median
}

// PodFingerprint is what the probe of a database's Pod found, or nil if it is not known.
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
