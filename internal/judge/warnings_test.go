// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Whatever differs between runs without being the variant stands beside the answer.
func TestWarningsOfVariants(t *testing.T) {
	environment := func(c *Compared, i int) *v1alpha1.Environment { return &c.Sides[i].Environment }
	for name, tc := range map[string]struct {
		comparison *v1alpha1.BenchmarkRun
		see        func(*Compared)
		want       []string
	}{
		"nothing": {},
		"too few rounds": {
			comparison: testutil.Pair(testutil.FixedRounds(2)),
			want:       []string{"rounds.atMost (2) is too small for a verdict: the first is possible after 6 rounds (pairs: 1)"},
		},
		"nodes":  {see: func(o *Compared) { environment(o, 2).DatabaseNode = "other" }, want: []string{"the measurements had different database nodes: worker, other"}},
		"loader": {see: func(o *Compared) { environment(o, 1).LoaderNode = "other" }, want: []string{"the measurements had different loader nodes: worker2, other"}},
		"a tag that moved": {
			see:  func(o *Compared) { environment(o, 3).DatabaseImage = "mariadb@2" },
			want: []string{"the measurements of lazy had different server images: mariadb@1, mariadb@2"},
		},
		"a tag that moved between variants": {
			see: func(o *Compared) {
				environment(o, 1).DatabaseImage, environment(o, 2).DatabaseImage = "mariadb@2", "mariadb@2"
			},
			want: []string{"lazy and durable had different server images although the specification is the same: mariadb@1, mariadb@2"},
		},
		"an image that is the variant": {
			comparison: testutil.Pair(func(s *v1alpha1.BenchmarkRun) {
				s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Image: "mariadb:10.11"}
			}),
			see: func(o *Compared) {
				environment(o, 1).DatabaseImage, environment(o, 2).DatabaseImage = "mariadb@2", "mariadb@2"
			},
		},
		"variables": {
			see: func(o *Compared) {
				for i, digest := range []string{"a", "b", "b", "a"} {
					environment(o, i).SettingsDigest = digest
				}
			},
			want: []string{"lazy and durable had different server variables although the specification is the same: a, b"},
		},
		"a binary log that is the variant": {
			comparison: testutil.Pair(func(s *v1alpha1.BenchmarkRun) {
				s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{BinaryLog: ptr.To(true)}}
			}),
		},
		"a binary log beside another difference": {
			comparison: testutil.Pair(func(s *v1alpha1.BenchmarkRun) {
				s.Spec.Database.Settings.BinaryLog = ptr.To(true)
				s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{
					Engine: v1alpha1.EngineMySQL, Image: "mysql:8.4", Settings: v1alpha1.ServerSettings{BinaryLog: ptr.To(false)},
				}
			}),
			want: []string{"durable writes a binary log and lazy does not: the difference includes the cost of the log"},
		},
		"a binary log that nobody asked for": {
			see: func(o *Compared) {
				o.Variants[0].Variables, o.Variants[1].Variables = map[string]string{"log_bin": "OFF"}, map[string]string{"log_bin": "ON"}
			},
			want: []string{"lazy writes a binary log and durable does not: the difference includes the cost of the log"},
		},
		"of a run": {
			see: func(o *Compared) {
				o.Sides[1].Points[0].Warnings = []finding.Finding{finding.OfProgram("beware").InTrials(1, 1)}
			},
			want: []string{"beware (1 of 4 measurements)"},
		},
		"of runs with other figures": {
			see: func(o *Compared) {
				seven := finding.Merge([]finding.Finding{finding.Debt("dirty pages", 7, 90, 81), finding.Debt("dirty pages", 5, 210, 81)})
				for i, w := range []finding.Finding{
					finding.Debt("dirty pages", 5, 194, 81).InTrials(1, 3),
					finding.Debt("dirty pages", 6, 180, 81).InTrials(3, 3),
					finding.FlushedLate("innodb_flush_log_at_trx_commit", "0").InTrials(3, 3),
					seven[0].InTrials(2, 3),
				} {
					o.Sides[i].Points[0].Warnings = []finding.Finding{w}
				}
			},
			want: []string{
				"the server did not settle: after 5–7 s it still had 90–210 dirty pages (goal: 81) (6 of 9 trials) (3 of 4 measurements)",
				"commits are not durable: innodb_flush_log_at_trx_commit is 0 (1 of 4 measurements)",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.comparison
			if s == nil {
				s = testutil.Pair()
			}
			c := measured(t, s, 4)
			if tc.see != nil {
				tc.see(c)
			}
			c.Judge(nil)
			must.Same(t, "warnings", tc.want, finding.Texts(c.Warnings))
		})
	}
}
