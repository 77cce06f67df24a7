// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

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

// addVariantReasons does for claims about variants what addReasons does for those of a run. It says the latency in all
// variants: what is claimed may hold in another one, where commits wait longer.
func (c *Compared) addVariantReasons(judged []claims.Judgement, list v1alpha1.Claims) {
	quick := map[string]bool{} // variants whose commits wait for the disk, and do not wait for long
	var all []string
	for i := range c.Variants {
		v := c.volume(i)
		if v == nil || v.FdatasyncMicros == 0 {
			continue
		}
		all = append(all, fmt.Sprintf("%s in %s", fdatasyncText(v.FdatasyncMicros, v.FdatasyncMeanMicros), v.Variant))
		quick[v.Variant] = max(v.FdatasyncMicros, v.FdatasyncMeanMicros) < fastFdatasync && c.waits(i)
	}
	for i := range judged {
		named := claims.Variants(&list[i])
		about := func(v Variant) bool { return quick[v.Name] && (len(named) == 0 || slices.Contains(named, v.Name)) }
		if judged[i].Verdict == claims.DoesNotHold && slices.ContainsFunc(c.Variants, about) && !c.poolsDiffer(named) &&
			!ofEngines(&list[i]) {
			judged[i].Detail += "; a commit waits for the disk, and here fdatasync takes " + strings.Join(all, ", ")
		}
	}
}

// poolsDiffer says whether the variants that a claim names have buffer pools of several sizes: what is not in memory is read
// again, and that matters more than how long a commit takes.
func (c *Compared) poolsDiffer(named []string) bool {
	sizes := map[int64]bool{}
	for i := range c.Variants {
		if v := &c.Variants[i]; slices.Contains(named, v.Name) {
			size := ptr.Deref(v.Run.Spec.Database.Settings.BufferPoolSize, resource.Quantity{})
			sizes[size.Value()] = true
		}
	}
	return len(sizes) > 1
}

// waits says whether the commits of a variant wait for the disk.
func (c *Compared) waits(variant int) bool {
	if wait, known := plan.CommitsWait(&c.Variants[variant].Run.Spec.Database); known {
		return wait
	}
	for i := range c.Sides {
		if c.Sides[i].Variant == variant && waitForDisk(c.Sides[i].Points) {
			return true
		}
	}
	return false
}

// fastFdatasync is the latency of fdatasync, in microseconds, below which waiting for the disk costs next to nothing.
const fastFdatasync = 1000

// place is what a claim may fail for although it is true elsewhere.
type place struct {
	// median and mean latency of fdatasync on the data volume, in microseconds; 0 if they are not known.
	median, mean int64
	// waits says that commits wait for the disk.
	waits bool
	// cpus that the server may use; 0 if that is not known.
	cpus float64
}

// addReasons adds to claims that do not hold what the place has to do with it: published figures from a time of slow disks are
// often about nothing but the wait for a commit to be on disk, and those of large machines about how many connections they serve.
func addReasons(list v1alpha1.Claims, judged []claims.Judgement, at place) {
	for i := range judged {
		if judged[i].Verdict != claims.DoesNotHold {
			continue
		}
		if at.waits && at.median > 0 && max(at.median, at.mean) < fastFdatasync && !ofEngines(&list[i]) {
			judged[i].Detail += "; a commit waits for the disk, and here fdatasync takes only " + fdatasyncText(at.median, at.mean)
		}
		if n := connections(&list[i]); at.cpus > 0 && float64(n) > at.cpus {
			judged[i].Detail += fmt.Sprintf("; here %d connections share %s", n, cpuCount(at.cpus))
		}
	}
}

// ofEngines says whether a claim compares storage engines: of what they wait for, the disk is the least.
func ofEngines(c *v1alpha1.Claim) bool {
	const name = "storageEngine"
	switch {
	case c.Ratio != nil:
		return c.Ratio.Of.Parameters[name] != c.Ratio.To.Parameters[name]
	case c.NoDifference != nil:
		return c.NoDifference.Of.Parameters[name] != c.NoDifference.To.Parameters[name]
	case c.BestAt != nil:
		_, named := c.BestAt.At.Parameters[name]
		return named
	}
	return false
}

func cpuCount(n float64) string {
	if n == 1 {
		return "one CPU"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " CPUs"
}

// connections is the largest number of connections that a claim names as a value; 0 if it is not about connections.
func connections(c *v1alpha1.Claim) int {
	var named []v1alpha1.PointSelector
	switch {
	case c.Ratio != nil:
		named = append(named, c.Ratio.Of, c.Ratio.To)
	case c.BestAt != nil:
		named = append(named, c.BestAt.At)
	case c.NoDifference != nil:
		named = append(named, c.NoDifference.Of, c.NoDifference.To)
	}
	var values []string
	for _, of := range named {
		if value, found := of.Parameters["clients"]; found {
			values = append(values, value.String())
		}
	}
	// Points that differ in something else are no matter of connections.
	if len(values) == 0 || len(named) == 2 && (len(values) != 2 || values[0] == values[1]) {
		return 0
	}
	most := 0
	for _, value := range values {
		if n, err := strconv.Atoi(value); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// placeOfRun by the records of its points.
func placeOfRun(run *v1alpha1.BenchmarkRun, points []stats.Point) place {
	waits, known := plan.CommitsWait(&run.Spec.Database)
	at, nodeCPUs := place{waits: known && waits}, 0
	for i := range points {
		for _, r := range points[i].Records {
			if f := r.Fingerprint; f != nil {
				nodeCPUs = max(nodeCPUs, f.CPUs)
				if f.FdatasyncMicros.Calls > 0 {
					at.median, at.mean = f.FdatasyncMicros.Median, f.FdatasyncMicros.Mean
				}
			}
		}
	}
	at.waits = at.waits || !known && waitForDisk(points)
	at.cpus = serverCPUs(&run.Spec, nodeCPUs)
	return at
}

// place of all sides. What they wait for differs by variant: addVariantReasons says it.
func (c *Compared) place() place {
	at := place{}
	for i := range c.Sides {
		if s := &c.Sides[i]; s.Trials != nil {
			at.cpus = max(at.cpus, serverCPUs(&c.Variants[s.Variant].Run.Spec, int(s.Environment.CPUs)))
		}
	}
	return at
}

// serverCPUs that a server may use: its limit, or all of its node; 0 if neither is known.
func serverCPUs(spec *v1alpha1.BenchmarkRunSpec, ofNode int) float64 {
	limit := 0.0
	if spec.Database.Provisioner != v1alpha1.ProvisionerExternal {
		limit = float64(plan.CPULimitMillis(&spec.Database)) / 1000
	}
	if limit > 0 && (ofNode <= 0 || limit < float64(ofNode)) {
		return limit
	}
	return float64(max(ofNode, 0))
}

// waitForDisk says whether transactions call fsync at some point, as a metric of it says.
func waitForDisk(points []stats.Point) bool {
	return len(Metrics(points, func(_ *stats.Point, m result.Metric) bool {
		return strings.Contains(m.Name, "FsyncsPerTransaction") && m.Value > 0.5
	})) > 0
}

// fdatasyncText says the latency of fdatasync: its median, and its mean where that is something else, because a limit makes one
// write of several wait.
func fdatasyncText(median, mean int64) string {
	text := stats.Format(float64(median)/1000) + " ms (median)"
	if mean > 2*median {
		text = stats.Format(float64(mean)/1000) + " ms (mean; median " + stats.Format(float64(median)/1000) + " ms)"
	}
	return text
}
