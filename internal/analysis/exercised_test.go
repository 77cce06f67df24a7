// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Variants are not equal because no data and no log filled the smaller of two caches. A difference is one all the same.
func TestNotExercised(t *testing.T) {
	const mib, other = 1 << 20, "sort_buffer_size"
	pool, redo := "innodb_buffer_pool_size", "innodb_log_file_size"
	large := resource.MustParse("512Mi")
	for name, tc := range map[string]struct {
		variables string             // with spaces between them
		set       *result.WorkingSet // of the last trial; those before used nothing
		faster    float64
		want      string
	}{
		"the data fit":           {pool, &result.WorkingSet{BufferPoolBytes: 64 * mib, RedoLogBytes: 900 * mib}, 1, "CannotSay SettingNotExercised 1"},
		"more than the smaller":  {pool, &result.WorkingSet{BufferPoolBytes: 64*mib + 1}, 1, "Equal  0"},
		"the log is not written": {redo, &result.WorkingSet{BufferPoolBytes: 900 * mib, RedoLogBytes: 64 * mib}, 1, "CannotSay SettingNotExercised 1"},
		"the log is overwritten": {redo, &result.WorkingSet{RedoLogBytes: 65 * mib}, 1, "Equal  0"},
		"not known":              {pool, nil, 1, "Equal  0"},
		"another variable":       {other, &result.WorkingSet{}, 1, "Equal  0"},
		"neither is used":        {pool + " " + redo, &result.WorkingSet{}, 1, "CannotSay SettingNotExercised 2"},
		"one of two is used":     {pool + " " + redo, &result.WorkingSet{RedoLogBytes: 65 * mib}, 1, "CannotSay SettingNotExercised 1"},
		"a difference":           {pool, &result.WorkingSet{}, 3, "Faster  1"},
	} {
		run := testutil.Pair(func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Rounds.AtMost = 20
			s.Spec.Database.Settings, s.Spec.Variants[1].Database = v1alpha1.ServerSettings{}, &v1alpha1.DatabaseSpec{}
			settings := &s.Spec.Variants[1].Database.Settings
			settings.BufferPoolSize = map[bool]*resource.Quantity{true: &large}[strings.Contains(tc.variables, pool)]
			settings.RedoLogSize = map[bool]*resource.Quantity{true: &large}[strings.Contains(tc.variables, redo)]
			if tc.variables == other {
				s.Spec.Variants[1].Database.Variables = map[string]v1alpha1.VariableValue{other: "536870912"}
			}
		})
		c := measured(t, run, 40)
		for i := range c.Variants {
			c.Variants[i].Variables = map[string]string{}
			for variable := range strings.FieldsSeq(tc.variables) {
				c.Variants[i].Variables[variable] = fmt.Sprint([]int{64 * mib, 512 * mib}[i])
			}
		}
		for i := range 40 {
			summary := c.Sides[i].Points[0].Records[0].Summary
			summary.Metrics[0].Value = 100 + float64(i/2%3)
			if c.Sides[i].Variant != c.Baseline {
				summary.Metrics[0].Value *= tc.faster
			}
			summary.WorkingSet = &result.WorkingSet{}
			if i == 39 {
				summary.WorkingSet = tc.set
			}
		}
		c.Judge(nil)
		warned := 0
		for _, w := range c.Warnings {
			if w.Code == finding.SettingNotExercised && strings.Contains(tc.variables, w.Where["variable"]) {
				warned++
			}
		}
		p := &c.Pairs[0]
		must.Same(t, name, tc.want, fmt.Sprint(p.Verdict, " ", p.Cause, " ", warned))
		if warned > 1 || p.Cause == stats.SettingNotExercised && !strings.Contains(tc.variables, " ") {
			must.Same(t, name, "the ratio is 0.99–1.01, and the load never used more than the smaller "+
				strings.ReplaceAll(tc.variables, " ", " and "), p.Why())
		}
	}
}
