// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// The latest attempt that counts says where a run is measured; before there is one, the latest of all does.
func TestEnvironmentOf(t *testing.T) {
	at := func(node string, r *result.Record) *result.Record {
		r.Place.DatabaseNode = node
		return r
	}
	accepted, later := at("a", testutil.Record(1, 1, nil, 1)), at("b", testutil.Record(2, 1, nil, 1))
	evicted := at("c", disturbed(3, 1, result.OutcomeInvalidated, result.CauseEvicted))
	for name, tc := range map[string]struct {
		records []*result.Record
		want    string
	}{
		"the latest that counts": {[]*result.Record{accepted, later, evicted}, "b"},
		"none that counts":       {[]*result.Record{evicted}, "c"},
	} {
		got := EnvironmentOf(tc.records)
		if got.Place.DatabaseNode != tc.want || (got.ServerVersion == "") != (tc.want == "c") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := EnvironmentOf(nil); got != nil {
		t.Errorf("without a record: %+v", got)
	}
}

// onVolumes puts the data of the first variant on a disk with a limit, and that of the second on one without.
func onVolumes(runs *ComparisonRuns, p *ComparisonPlan) {
	for i, m := range runs.Members {
		if m.Run == nil {
			continue
		}
		e := &m.Run.Status.Environment
		e.Filesystem, e.FdatasyncMicros, e.FdatasyncMeanMicros = "ext4", 250, 9870
		if p.Members[i].Variant == 1 {
			e.FdatasyncMeanMicros = 260
		}
	}
}

// Where commits hardly wait for the disk, a claim about slow disks does not hold, and the detail says what they wait for in each
// variant.
func TestReasonsOfComparisonClaims(t *testing.T) {
	const reason = "; a commit waits for the disk, and here fdatasync takes 9.87 ms (mean; median 0.25 ms) in durable, 0.25 ms (median) in lazy"
	about := func(variant string) v1alpha1.Claims {
		at := func(points string) v1alpha1.PointSelector {
			s := rows(points)
			s.Variant = variant
			return s
		}
		return v1alpha1.Claims{{Name: "tenfold", Ratio: &v1alpha1.RatioClaim{Of: at("16"), To: at("1"), AtLeast: "10"}}}
	}
	for name, tc := range map[string]struct {
		variant string
		fsyncs  float64
		flush   int32
		through bool
		want    string
	}{
		"a fast disk":                                {"lazy", 1, 1, false, reason},
		"a fast disk, commits that do not wait":      {"lazy", 0, 1, false, ""},
		"a fast disk, log written through":           {"lazy", 0, 1, true, reason},
		"a fast disk, for which large loads wait":    {"lazy", 7, 0, false, ""},
		"a fast disk, written through once a second": {"lazy", 7, 2, true, ""},
		"a slow disk":                                {"durable", 1, 1, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(testutil.FixedRounds(6), func(s *v1alpha1.BenchmarkComparison) {
				s.Spec.Template.Spec.Workload.CommitSize.RowsPerCommit = 0
				s.Spec.Template.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 16}}
				s.Spec.Template.Spec.Database.Settings.FlushLogAtTrxCommit = ptr.To(tc.flush)
				if tc.through {
					s.Spec.Template.Spec.Database.Variables = map[string]v1alpha1.VariableValue{"innodb_log_file_write_through": "ON"}
				}
				s.Spec.Claims = about(tc.variant)
			})
			p := planOfComparison(t, s)
			runs := measuredRuns(s, p, 12)
			onVolumes(runs, p)
			for _, m := range runs.Members {
				m.Measured.Others = []MetricValues{{
					Metric: result.Metric{Name: "innodbFsyncsPerTransaction", Unit: "fsyncs/transaction"}, Values: []float64{tc.fsyncs, tc.fsyncs},
				}}
			}
			got := Judge(s, p, runs, Verdicts{}).Claims[0]
			if want := "1× (1–1×; claimed: at least 10×)" + tc.want; got.Detail != want {
				t.Errorf("detail %q, want %q", got.Detail, want)
			}
		})
	}
}

// A claim about two buffer pools is not about the disk, and a claim that needs a slow one is not judged on another.
func TestClaimsAboutVariants(t *testing.T) {
	of := func(variant string) v1alpha1.PointSelector { return v1alpha1.PointSelector{Variant: variant} }
	for name, tc := range map[string]struct {
		pool  string
		needs int64
		want  string
	}{
		"the same pool":   {"", 0, "; a commit waits for the disk, and here fdatasync takes 9.87 ms (mean; median 0.25 ms) in durable, 0.25 ms (median) in lazy"},
		"another pool":    {"1Gi", 0, ""},
		"a premise":       {"", 200, "; a commit waits for the disk, and here fdatasync takes 9.87 ms (mean; median 0.25 ms) in durable, 0.25 ms (median) in lazy"},
		"without premise": {"", 5000, "needs an fdatasync of at least 5 ms, and here it takes 0.25 ms (median); without that: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(testutil.FixedRounds(6), func(s *v1alpha1.BenchmarkComparison) {
				s.Spec.Template.Spec.Database.Settings.FlushLogAtTrxCommit = ptr.To[int32](1)
				if tc.pool != "" {
					s.Spec.Template.Spec.Database.Settings.BufferPoolSize = ptr.To(resource.MustParse("128Mi"))
					s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{
						Settings: v1alpha1.ServerSettings{BufferPoolSize: ptr.To(resource.MustParse(tc.pool))},
					}
				}
				s.Spec.Claims = v1alpha1.Claims{{
					Name: "tenfold", Ratio: &v1alpha1.RatioClaim{Of: of("lazy"), To: of("durable"), AtLeast: "10"},
					Needs: v1alpha1.ClaimNeeds{FdatasyncMicros: v1alpha1.LeastNumber{AtLeast: tc.needs}},
				}}
			})
			p := planOfComparison(t, s)
			runs := measuredRuns(s, p, 12)
			onVolumes(runs, p)
			for _, m := range runs.Members {
				m.Measured.Others = []MetricValues{{
					Metric: result.Metric{Name: "innodbFsyncsPerTransaction", Unit: "fsyncs/transaction"}, Values: []float64{1},
				}}
			}
			got := Judge(s, p, runs, Verdicts{}).Claims[0]
			const numbers = "3× (2.99–3.01×; claimed: at least 10×)"
			want, verdict := numbers+tc.want, claims.DoesNotHold
			if tc.needs == 5000 {
				want, verdict = tc.want+numbers, claims.PremiseMissing
			}
			if got.Detail != want || got.Verdict != verdict {
				t.Errorf("%s: %q, want %q", got.Verdict, got.Detail, want)
			}
		})
	}
}
