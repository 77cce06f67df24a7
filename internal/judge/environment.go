// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// volume of a variant by its first side that was measured; nil if nothing is known of it.
func (c *Compared) volume(variant int) *v1alpha1.VolumeStatus {
	measured := c.environments(variant)
	if len(measured) == 0 || measured[0].Filesystem == "" {
		return nil
	}
	e := measured[0]
	return &v1alpha1.VolumeStatus{
		Variant: c.Variants[variant].Name, Filesystem: e.Filesystem, MountOptions: e.MountOptions, IOScheduler: e.IOScheduler,
		BlockIO: e.BlockIO, FdatasyncMicros: max(0, e.FdatasyncMicros), FdatasyncMeanMicros: max(0, e.FdatasyncMeanMicros),
	}
}

// VolumeText says what a volume is like; it is empty if that is not known.
func VolumeText(v *v1alpha1.VolumeStatus) string {
	if v == nil {
		return ""
	}
	text := fmt.Sprintf("%s (%s), I/O scheduler %s", v.Filesystem, v.MountOptions, v.IOScheduler)
	if v.BlockIO != "" && v.BlockIO != result.NoLimit {
		text += ", block I/O limited: " + v.BlockIO
	}
	if v.FdatasyncMicros > 0 {
		text += ", fdatasync takes " + fdatasyncText(v.FdatasyncMicros, v.FdatasyncMeanMicros)
	}
	return text
}

// place is what a claim may need.
type place struct {
	// median and mean latency of fdatasync on the data volume, in microseconds; 0 if they are not known.
	median, mean int64
	// cpus that the server may use; 0 if that is not known.
	cpus float64
}

func cpuCount(n float64) string {
	if n == 1 {
		return "one CPU"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " CPUs"
}

func placeOfRun(run *v1alpha1.BenchmarkRun, points []stats.Point) place {
	at, nodeCPUs := place{}, 0
	for _, r := range recordsAt(points) {
		if f := r.Fingerprint; f != nil {
			nodeCPUs = max(nodeCPUs, f.CPUs)
			if f.FdatasyncMicros.Calls > 0 {
				at.median, at.mean = f.FdatasyncMicros.Median, f.FdatasyncMicros.Mean
			}
		}
	}
	at.cpus = serverCPUs(&run.Spec, nodeCPUs)
	return at
}

// serverCPUs that a server may use: its limit, or all of its node; 0 if neither is known.
func serverCPUs(spec *v1alpha1.BenchmarkRunSpec, ofNode int) float64 {
	limit := 0.0
	if !external(spec) {
		limit = float64(plan.CPULimitMillis(&spec.Database)) / 1000
	}
	if limit > 0 && (ofNode <= 0 || limit < float64(ofNode)) {
		return limit
	}
	return float64(max(ofNode, 0))
}

// external says whether the run uses a server that was there before.
func external(spec *v1alpha1.BenchmarkRunSpec) bool {
	return spec.Database.Provisioner == v1alpha1.ProvisionerExternal
}

// fdatasyncText is the median latency of fdatasync, with the mean where that is another: a limit makes one write of several wait.
func fdatasyncText(median, mean int64) string {
	text := stats.Format(float64(median)/1000) + " ms (median)"
	if mean > 2*median {
		text = stats.Format(float64(mean)/1000) + " ms (mean; median " + stats.Format(float64(median)/1000) + " ms)"
	}
	return text
}

// environmentOf a run is where these attempts of it were measured: by the latest accepted one or, if there is none, by the latest
// one, with what the node was like before those that count, in the median. Of an external server, only what the loader found out
// is known.
func environmentOf(spec *v1alpha1.BenchmarkRunSpec, records []*result.Record) (e v1alpha1.Environment) {
	const u = result.Unknown
	if external(spec) {
		e = v1alpha1.Environment{
			DatabaseImage: u, DatabaseNode: u, Kernel: u, CPUModel: u, Filesystem: u, MountOptions: u, IOScheduler: u, BlockIO: u,
			Swappiness: u, TransparentHugePages: u,
		}
	}
	if len(records) == 0 {
		return e
	}
	accepted, r := AcceptedIn(records), records[len(records)-1]
	if len(accepted) > 0 {
		r = accepted[len(accepted)-1]
	}
	if !external(spec) {
		e.DatabaseImage, e.DatabaseNode = r.Place.DatabaseImage, r.Place.DatabaseNode
	}
	e.LoaderImage, e.LoaderNode = r.Place.LoaderImage, strings.Join(r.Place.Loaders(), ", ")
	if r.Summary != nil {
		e.ServerVersion, e.SettingsDigest = r.Summary.ServerVersion, r.Summary.SettingsDigest
	}
	AddFingerprint(&e, r.Fingerprint)
	e.TrialProbe = stats.ProbeOfAll(accepted)
	return e
}

// AddFingerprint copies what the probe found; the status leaves out the numbers that it could not find (-1).
func AddFingerprint(e *v1alpha1.Environment, f *result.Fingerprint) {
	if f == nil {
		return
	}
	e.Kernel, e.CPUModel, e.MemoryBytes = f.Kernel, f.CPUModel, f.MemoryBytes
	e.CPUs = int32(min(max(f.CPUs, math.MinInt32), math.MaxInt32))
	e.Filesystem, e.MountOptions, e.IOScheduler, e.BlockIO = f.Filesystem, f.MountOptions, f.IOScheduler, f.BlockIO
	e.Swappiness, e.TransparentHugePages = f.Swappiness, f.TransparentHugePages
	e.FdatasyncMicros, e.FdatasyncMeanMicros = f.FdatasyncMicros.Median, f.FdatasyncMicros.Mean
}
