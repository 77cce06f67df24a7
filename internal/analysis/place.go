// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// APIEnvironment is an environment as the API has it; nil is one of which nothing is known yet. Of an external server, only what
// the loader found out is known.
func APIEnvironment(at *Environment, external bool) v1alpha1.Environment {
	const u = result.Unknown
	e := v1alpha1.Environment{}
	if external {
		e = v1alpha1.Environment{
			DatabaseImage: u, DatabaseNode: u, Kernel: u, CPUModel: u, Filesystem: u, MountOptions: u, IOScheduler: u, BlockIO: u,
			Swappiness: u, TransparentHugePages: u,
		}
	}
	if at == nil {
		return e
	}
	if !external {
		e.DatabaseImage, e.DatabaseNode = at.Place.DatabaseImage, at.Place.DatabaseNode
	}
	e.LoaderImage, e.LoaderNode = at.Place.LoaderImage, strings.Join(at.Place.Loaders(), ", ")
	e.ServerVersion, e.SettingsDigest = at.ServerVersion, at.SettingsDigest
	AddFingerprint(&e, at.Fingerprint)
	e.TrialProbe = v1alpha1.TrialProbe(at.Probe)
	return e
}

// maxPatterns is how many patterns of a volume benchmark the status has.
const maxPatterns = 8

// AddFingerprint copies what the probe found; the status leaves out the numbers that it could not find (-1).
func AddFingerprint(e *v1alpha1.Environment, f *result.Fingerprint) {
	if f == nil {
		return
	}
	e.Kernel, e.CPUModel = f.Kernel, f.CPUModel
	e.CPUs = int32(min(max(f.CPUs, math.MinInt32), math.MaxInt32))
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
		name := result.Truncate(p.Name, 63)
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
