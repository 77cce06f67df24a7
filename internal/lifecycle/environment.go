// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// environment is where the run measures: by the records of its attempts or, before the first, by the database's Pod.
func (s *situation) environment(a *analysis.Run) v1alpha1.Environment {
	external, at := s.run.Spec.Database.Provisioner == v1alpha1.ProvisionerExternal, a.Environment
	switch {
	case at == nil && external:
		return unknownEnvironment()
	case at == nil:
		return s.earlyEnvironment()
	}
	e := v1alpha1.Environment{DatabaseImage: at.Place.DatabaseImage, DatabaseNode: at.Place.DatabaseNode}
	if external {
		e = unknownEnvironment()
	}
	e.LoaderImage, e.LoaderNode = at.Place.LoaderImage, strings.Join(at.Place.Loaders(), nodeSeparator)
	e.ServerVersion, e.SettingsDigest = at.ServerVersion, at.SettingsDigest
	fingerprint(&e, at.Fingerprint)
	e.TrialProbe, e.Warnings = v1alpha1.TrialProbe(at.Probe), finding.Texts(a.Findings)
	return e
}

// unknownEnvironment is that of an external server.
func unknownEnvironment() v1alpha1.Environment {
	const u = result.Unknown
	return v1alpha1.Environment{
		DatabaseImage: u, DatabaseNode: u, Kernel: u, CPUModel: u, Filesystem: u, MountOptions: u, IOScheduler: u, BlockIO: u,
		Swappiness: u, TransparentHugePages: u,
	}
}

func (s *situation) earlyEnvironment() v1alpha1.Environment {
	var e v1alpha1.Environment
	for _, i := range s.seen.Instances {
		if i.Pod == nil {
			continue
		}
		e.DatabaseNode, e.DatabaseImage = i.Pod.Spec.NodeName, i.Image()
		fingerprint(&e, PodFingerprint(i.Pod))
	}
	return e
}

// maxPatterns is how many patterns of a volume benchmark the status has.
const maxPatterns = 8

// fingerprint copies what the probe found; fit leaves out the numbers that it could not find (-1).
func fingerprint(e *v1alpha1.Environment, f *result.Fingerprint) {
	if f == nil {
		return
	}
	e.Kernel, e.CPUModel = f.Kernel, f.CPUModel
	e.CPUs = int32Of(f.CPUs)
	e.MemoryBytes = f.MemoryBytes
	e.Filesystem, e.MountOptions, e.IOScheduler = f.Filesystem, f.MountOptions, f.IOScheduler
	e.Swappiness, e.TransparentHugePages = f.Swappiness, f.TransparentHugePages
	e.FdatasyncMicros, e.FdatasyncMeanMicros = f.FdatasyncMicros.Median, f.FdatasyncMicros.Mean
	e.BlockIO = f.BlockIO
	e.VolumeBenchmark = volumePatterns(f.VolumeBenchmark)
}

// volumePatterns are those of a volume benchmark, each once.
func volumePatterns(list []result.IOPattern) []v1alpha1.VolumePattern {
	var patterns []v1alpha1.VolumePattern
	for _, p := range list {
		name := cut(p.Name, 63)
		same := func(other v1alpha1.VolumePattern) bool { return other.Pattern == name }
		if name == "" || len(patterns) == maxPatterns || slices.ContainsFunc(patterns, same) {
			continue
		}
		patterns = append(patterns, v1alpha1.VolumePattern{
			Pattern: name, OperationsPerSecond: ptr.To(max(0, p.PerSecond)), BytesPerSecond: ptr.To(max(0, p.BytesPerSecond)),
			MedianMicros: ptr.To(max(0, p.Median)), P99Micros: ptr.To(max(0, p.P99)),
		})
	}
	return patterns
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
