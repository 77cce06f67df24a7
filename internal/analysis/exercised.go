// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// A buffer pool that holds all data, or a redo log that no measured phase fills, is as good as a larger one: what was measured
// says nothing about its size.

// notExercised is about the sizes in which the two of a pair were asked to differ, and whose smaller value neither of them
// exceeded in any trial; none if that is not known.
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
	for _, side := range []struct{ variant, point int }{{pair.Variant, pair.Of}, {c.Baseline, pair.With}} {
		for _, s := range c.whole(side.variant) {
			for _, r := range s.Points[side.point].Records {
				if r.Summary.WorkingSet == nil {
					return false
				}
				use(r.Summary.WorkingSet)
			}
		}
	}
	return true
}
