// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Environment is where a run was measured: by the record of its latest accepted attempt or, if there is none, of its latest one.
type Environment struct {
	Place result.Place
	// ServerVersion and SettingsDigest are empty if the attempt left no result.
	ServerVersion, SettingsDigest string
	// Fingerprint of the database's node, or nil.
	Fingerprint *result.Fingerprint
	// Probe is what the node was like before the trials that count, in the median.
	Probe stats.Probe
}

// EnvironmentOf the attempts that were recorded, or nil if there are none.
func EnvironmentOf(records []*result.Record) *Environment {
	if len(records) == 0 {
		return nil
	}
	accepted, r := AcceptedIn(records), records[len(records)-1]
	if len(accepted) > 0 {
		r = accepted[len(accepted)-1]
	}
	e := &Environment{Place: r.Place, Fingerprint: r.Fingerprint, Probe: stats.ProbeOfAll(accepted)}
	if r.Summary != nil {
		e.ServerVersion, e.SettingsDigest = r.Summary.ServerVersion, r.Summary.SettingsDigest
	}
	return e
}

// Volume is what the data of a variant was on.
type Volume struct {
	Filesystem, MountOptions, IOScheduler, BlockIO string
	// FdatasyncMicros and FdatasyncMeanMicros are the median and the mean latency of fdatasync; 0 if they are not known.
	FdatasyncMicros, FdatasyncMeanMicros int64
}

// volumeOf a variant by its first run that was measured; nil if nothing is known of it.
func volumeOf(p *ComparisonPlan, runs *ComparisonRuns, variant int) *Volume {
	measured := environments(p, runs, variant)
	if len(measured) == 0 || measured[0].Filesystem == "" {
		return nil
	}
	e := measured[0]
	return &Volume{
		Filesystem: e.Filesystem, MountOptions: e.MountOptions, IOScheduler: e.IOScheduler, BlockIO: e.BlockIO,
		FdatasyncMicros: max(0, e.FdatasyncMicros), FdatasyncMeanMicros: max(0, e.FdatasyncMeanMicros),
	}
}

// String says what the volume is like; it is empty if that is not known.
func (v *Volume) String() string {
	if v == nil {
		return ""
	}
	text := fmt.Sprintf("%s (%s), I/O scheduler %s", v.Filesystem, v.MountOptions, v.IOScheduler)
	if v.BlockIO != "" && v.BlockIO != result.NoLimit {
		text += ", block I/O limited: " + v.BlockIO
	}
	if v.FdatasyncMicros > 0 {
		text += ", fdatasync takes " + v.fdatasync()
	}
	return text
}

func (v *Volume) fdatasync() string { return fdatasyncText(v.FdatasyncMicros, v.FdatasyncMeanMicros) }

// addComparisonReasons does for claims about variants what addReasons does for those of a run. It says the latency in all
// variants: what is claimed may hold in another one, where commits wait longer.
func addComparisonReasons(
	judged []claims.Judgement, list []claims.Claim, comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan,
	runs *ComparisonRuns,
) {
	quick := map[string]bool{} // variants whose commits wait for the disk, and do not wait for long
	var all []string
	for i := range p.Variants {
		v, name := volumeOf(p, runs, i), comparison.Spec.Variants[i].Name
		if v == nil || v.FdatasyncMicros == 0 {
			continue
		}
		all = append(all, fmt.Sprintf("%s in %s", v.fdatasync(), name))
		quick[name] = max(v.FdatasyncMicros, v.FdatasyncMeanMicros) < fastFdatasync && variantWaits(p, runs, i)
	}
	for i := range judged {
		named := list[i].Variants()
		about := func(v v1alpha1.Variant) bool {
			return quick[v.Name] && (len(named) == 0 || slices.Contains(named, v.Name))
		}
		if judged[i].Verdict == claims.DoesNotHold && slices.ContainsFunc(comparison.Spec.Variants, about) &&
			!ofPools(named, comparison, p) && !ofEngines(&comparison.Spec.Claims[i]) {
			judged[i].Detail += "; a commit waits for the disk, and here fdatasync takes " + strings.Join(all, ", ")
		}
	}
}

// ofPools says whether the variants that a claim names have buffer pools of several sizes: what is not in memory is read again,
// and that matters more than how long a commit takes.
func ofPools(named []string, comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan) bool {
	var sizes []string
	for i := range p.Variants {
		if !slices.Contains(named, comparison.Spec.Variants[i].Name) {
			continue
		}
		of := ""
		if size := p.Variants[i].Run.Spec.Database.Settings.BufferPoolSize; size != nil {
			of = strconv.FormatInt(size.Value(), 10)
		}
		if !slices.Contains(sizes, of) {
			sizes = append(sizes, of)
		}
	}
	return len(sizes) > 1
}

// variantWaits says whether the commits of a variant wait for the disk.
func variantWaits(p *ComparisonPlan, runs *ComparisonRuns, variant int) bool {
	if wait, known := plan.CommitsWait(&p.Variants[variant].Run.Spec.Database); known {
		return wait
	}
	for i, m := range runs.Members {
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
