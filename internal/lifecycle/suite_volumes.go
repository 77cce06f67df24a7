// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Volumes are what the data of each variant was on, by the first run of each that was measured. A variant is left out if nothing
// is known of it.
func Volumes(suite *v1alpha1.BenchmarkSuite, p *SuitePlan, seen *SuiteObserved) []v1alpha1.VolumeStatus {
	var list []v1alpha1.VolumeStatus
	for i := range p.Variants {
		measured := environments(p, seen, i)
		if len(measured) == 0 || measured[0].Filesystem == "" {
			continue
		}
		e := measured[0]
		v := v1alpha1.VolumeStatus{
			Variant: suite.Spec.Variants[i].Name, Filesystem: e.Filesystem, MountOptions: e.MountOptions, IOScheduler: e.IOScheduler,
			BlockIO: e.BlockIO, FdatasyncMicros: max(0, e.FdatasyncMicros), FdatasyncMeanMicros: max(0, e.FdatasyncMeanMicros),
		}
		shorten(64, &v.Filesystem, &v.IOScheduler)
		shorten(512, &v.BlockIO)
		shorten(1024, &v.MountOptions)
		list = append(list, v)
	}
	return list
}

// VolumeText says what a volume is like, without its variant.
func VolumeText(v *v1alpha1.VolumeStatus) string {
	text := fmt.Sprintf("%s (%s), I/O scheduler %s", v.Filesystem, v.MountOptions, v.IOScheduler)
	if v.BlockIO != "" && v.BlockIO != result.NoLimit {
		text += ", block I/O limited: " + v.BlockIO
	}
	if v.FdatasyncMicros > 0 {
		text += ", fdatasync takes " + fdatasyncText(v.FdatasyncMicros, v.FdatasyncMeanMicros)
	}
	return text
}

// addSuiteReasons does for claims about variants what addReasons does for those of a run. It says the latency in all variants:
// what is claimed may hold in another one, where commits wait longer.
func addSuiteReasons(
	judged []claims.Judgement, list []claims.Claim, suite *v1alpha1.BenchmarkSuite, p *SuitePlan, seen *SuiteObserved,
) {
	quick := map[string]bool{} // variants whose commits wait for the disk, and do not wait for long
	var all []string
	for _, v := range Volumes(suite, p, seen) {
		if v.FdatasyncMicros == 0 {
			continue
		}
		all = append(all, fmt.Sprintf("%s in %s", fdatasyncText(v.FdatasyncMicros, v.FdatasyncMeanMicros), v.Variant))
		i := slices.IndexFunc(suite.Spec.Variants, func(of v1alpha1.Variant) bool { return of.Name == v.Variant })
		quick[v.Variant] = max(v.FdatasyncMicros, v.FdatasyncMeanMicros) < fastFdatasync && variantWaits(p, seen, i)
	}
	for i := range judged {
		named := list[i].Variants()
		about := func(v v1alpha1.Variant) bool {
			return quick[v.Name] && (len(named) == 0 || slices.Contains(named, v.Name))
		}
		if judged[i].Verdict == claims.DoesNotHold && slices.ContainsFunc(suite.Spec.Variants, about) {
			judged[i].Detail += "; a commit waits for the disk, and here fdatasync takes " + strings.Join(all, ", ")
		}
	}
}

// variantWaits says whether the commits of a variant wait for the disk.
func variantWaits(p *SuitePlan, seen *SuiteObserved, variant int) bool {
	if writesThrough(&p.Variants[variant].Run.Spec.Database) {
		return true
	}
	for i, m := range seen.Members {
		if m.Measured == nil || p.Members[i].Variant != variant {
			continue
		}
		for _, o := range m.Measured.Others {
			if waitsForDisk(o.Metric.Name, o.Values...) {
				return true
			}
		}
	}
	return false
}
