// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// findings are about the run, and about what its sides were to have in common.
func (c *Compared) findings() []finding.Finding {
	var list []finding.Finding
	if first, most := c.design().FirstLook(), int(plan.Rounds(&c.Run.Spec).AtMost); first > most { // no pair can have a verdict
		list = append(list, finding.FewRounds(most, first, len(c.Planned)))
	}
	differ := func(whose string, properties []property, variant int) {
		for _, p := range properties {
			if values := p.values(c.environments(variant)); len(values) > 1 {
				list = append(list, finding.Differ(finding.EnvironmentsDiffer, whose, p.name, values))
			}
		}
	}
	differ("the measurements", shared, -1)
	for i := range c.Variants {
		differ("the measurements of "+c.Variants[i].Name, ofVariant, i)
	}
	for i := range c.Variants {
		list = slices.Concat(list, c.unrequested(i), c.otherLog(i))
	}
	return append(list, c.capacity.findings()...)
}

type property struct {
	name string
	of   func(*v1alpha1.Environment) string
}

var (
	serverImage  = property{"server images", func(e *v1alpha1.Environment) string { return e.DatabaseImage }}
	settingsRead = property{"server variables", func(e *v1alpha1.Environment) string { return e.SettingsDigest }}
	// shared is what all sides are to have in common, and ofVariant those of one variant.
	shared = []property{
		{"database nodes", func(e *v1alpha1.Environment) string { return e.DatabaseNode }},
		{"loader nodes", func(e *v1alpha1.Environment) string { return e.LoaderNode }},
		{"loader images", func(e *v1alpha1.Environment) string { return e.LoaderImage }},
		{"kernels", func(e *v1alpha1.Environment) string { return e.Kernel }},
		{"CPU models", func(e *v1alpha1.Environment) string { return e.CPUModel }},
	}
	ofVariant = []property{
		serverImage,
		settingsRead,
		{"file systems", func(e *v1alpha1.Environment) string { return e.Filesystem }},
		{"limits of block I/O", func(e *v1alpha1.Environment) string { return e.BlockIO }},
	}
)

// environments of the sides of a variant that were measured, or of all with -1.
func (c *Compared) environments(variant int) []*v1alpha1.Environment {
	var list []*v1alpha1.Environment
	for i := range c.Sides {
		if s := &c.Sides[i]; s.Measured() && (variant < 0 || s.Variant == variant) {
			list = append(list, &s.Environment)
		}
	}
	return list
}

func (p property) values(list []*v1alpha1.Environment) []string {
	var values []string
	for _, e := range list {
		values = stats.AppendNew(values, p.of(e))
	}
	return values
}

// unrequested is a difference between a variant and the baseline that was not requested: the same image reference was another
// image, or the server had other variables although none was to differ.
func (c *Compared) unrequested(variant int) []finding.Finding {
	ours, theirs, requested := c.environments(variant), c.environments(c.Baseline), c.Variants[variant].Differences
	asked := slices.ContainsFunc(requested, func(d plan.Difference) bool { return d.Name == "database.image" })
	if asked || len(ours) == 0 || len(theirs) == 0 {
		return nil
	}
	whose := fmt.Sprintf("%s and %s", c.Variants[variant].Name, c.Variants[c.Baseline].Name)
	both := []*v1alpha1.Environment{ours[0], theirs[0]}
	candidates := []property{serverImage}
	if len(requested) == 0 {
		candidates = append(candidates, settingsRead)
	}
	for _, s := range candidates {
		if values := s.values(both); len(values) > 1 {
			return []finding.Finding{finding.Differ(finding.Unrequested, whose, s.name, values)}
		}
	}
	return nil
}

// otherLog says that a variant and the baseline differ in the binary log and in more, so that its cost is part of the difference.
func (c *Compared) otherLog(variant int) []finding.Finding {
	ours, known := c.hasBinaryLog(variant)
	theirs, alsoKnown := c.hasBinaryLog(c.Baseline)
	asked := c.Variants[variant].Differences
	alone := len(asked) == 1 && asked[0].Name == plan.BinaryLog(&c.Variants[variant].Run.Spec.Database).Name
	if variant == c.Baseline || alone || !known || !alsoKnown || ours == theirs {
		return nil
	}
	with, without := c.Variants[variant].Name, c.Variants[c.Baseline].Name
	if theirs {
		with, without = without, with
	}
	return []finding.Finding{finding.OtherLog(with, without)}
}

// hasBinaryLog says whether a variant's server writes a binary log: as it said, or else as is asked for, if either is known.
func (c *Compared) hasBinaryLog(variant int) (on, known bool) {
	v := &c.Variants[variant]
	log := plan.BinaryLog(&v.Run.Spec.Database)
	value := plan.SettingOf(&v.Run.Spec.Database, log.Name)
	if v.Variables != nil {
		value = v.Variables[log.Name]
	}
	return value == log.Value, value != ""
}

// Bounds of the warnings that are kept of a side: as many as a status can show of each, and not much longer.
const maxSideWarnings, maxSideWarningBytes, maxSideMeasures = 64, 512, 16

// sideFindings are those of all points of all sides that were measured, with the number of these. Each is there once: those that
// differ only in what they measured are one.
func (c *Compared) sideFindings() []finding.Finding {
	measured := len(c.environments(-1))
	condensed := func(side int) []finding.Finding {
		var list []finding.Finding
		merged := stats.WarningsAt(c.Sides[side].Points)
		for _, m := range merged[:min(len(merged), maxSideWarnings)] {
			list = append(list, m.Condensed(maxSideWarningBytes, maxSideMeasures))
		}
		return list
	}
	var list []finding.Finding
	for _, m := range stats.MergeLists(len(c.Sides), condensed) {
		m.Runs, m.OfRuns = len(slices.Compact(m.From)), measured
		list = append(list, m.Finding)
	}
	return list
}

// notExercised is about the sizes in which the two of a pair were asked to differ, and whose smaller value neither of them
// exceeded in any trial; none if that is not known. A buffer pool that holds all data, or a redo log that no measured phase
// fills, is as good as a larger one: what was measured says nothing about its size.
func (c *Compared) notExercised(pair PlannedPair) []finding.Finding {
	v := &c.Variants[pair.Variant]
	pool, redo := plan.CacheSizes(&v.Run.Spec.Database)
	var list []finding.Finding
	for _, size := range []struct {
		name string
		used func(*result.WorkingSet) int64
	}{
		{pool, func(w *result.WorkingSet) int64 { return w.BufferPoolBytes }},
		{redo, func(w *result.WorkingSet) int64 { return w.RedoLogBytes }},
	} {
		ours, errOurs := strconv.ParseInt(v.Variables[size.name], 10, 64)
		theirs, errTheirs := strconv.ParseInt(c.Variants[c.Baseline].Variables[size.name], 10, 64)
		asked := slices.ContainsFunc(v.Differences, func(d plan.Difference) bool { return d.Name == size.name })
		if !asked || errOurs != nil || errTheirs != nil || ours == theirs {
			continue
		}
		smaller, most := min(ours, theirs), int64(0)
		known := c.eachWorkingSet(pair, func(w *result.WorkingSet) { most = max(most, size.used(w)) })
		if known && most <= smaller {
			list = append(list, finding.NotExercised(size.name, v.Name, c.Variants[c.Baseline].Name, most, smaller))
		}
	}
	return list
}

// eachWorkingSet of the trials of a pair; false if one of them is not known.
func (c *Compared) eachWorkingSet(pair PlannedPair, use func(*result.WorkingSet)) (known bool) {
	// The baseline may be measured on, for other variants.
	rounds := min(len(c.paired(pair.Variant, pair.Of)), len(c.paired(c.Baseline, pair.With)))
	for _, side := range []struct{ variant, point int }{{pair.Variant, pair.Of}, {c.Baseline, pair.With}} {
		for _, s := range c.whole(side.variant)[:rounds] {
			points := s.Points
			if c.capacity == nil {
				points = points[side.point : side.point+1]
			}
			for _, r := range recordsAt(points) {
				if r.Summary.WorkingSet == nil {
					return false
				}
				use(r.Summary.WorkingSet)
			}
		}
	}
	return true
}

func recordsAt(points []stats.Point) []*result.Record {
	var list []*result.Record
	for i := range points {
		list = append(list, points[i].Records...)
	}
	return list
}
