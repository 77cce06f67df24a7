// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// conditionsOf are the conditions of a comparison as text, sorted.
func conditionsOf(status v1alpha1.BenchmarkComparisonStatus) string {
	var list []string
	for _, c := range status.Conditions {
		list = append(list, fmt.Sprintf("%s=%.1s/%s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// statusOfComparison is the status after a decision about what is seen.
func statusOfComparison(t *testing.T, s *v1alpha1.BenchmarkComparison, seen *ComparisonObserved) v1alpha1.BenchmarkComparisonStatus {
	t.Helper()
	p := planOfComparison(t, s)
	return StatusOfComparison(s, p, seen, NextOfComparison(s, p, seen, now), now)
}

func TestStatusOfComparison(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}}
	})
	s.Status.StartTime = ptr.To(ago(2 * time.Hour))
	p := planOfComparison(t, s)
	seen := measuredRuns(s, p, 12)
	seen.Members[3].Run.Status.Trials.Invalidated = ptr.To[int32](2)
	seen.Results = &v1alpha1.ResultsReference{ConfigMap: "s-results"}
	got := statusOfComparison(t, s, seen)
	want := v1alpha1.BenchmarkComparisonStatus{
		ObservedGeneration: ptr.To[int64](1), StartTime: s.Status.StartTime, CompletionTime: ptr.To(ago(0)), Elapsed: "2h0m0s", Progress: "6/20",
		Rounds: v1alpha1.RoundCounts{Planned: ptr.To[int32](20), Measured: ptr.To[int32](6)},
		Runs:   v1alpha1.RunCounts{Finished: ptr.To[int32](12), Invalidated: ptr.To[int32](2)},
		Result: got.Result, Results: *seen.Results,
		VariantsStatus: v1alpha1.VariantsStatus{
			Baseline: "durable", Answer: got.Answer, Alternation: v1alpha1.AlternateRuns,
			Pairs: []v1alpha1.PairStatus{{
				Variant: "lazy", Verdict: v1alpha1.VerdictFaster, Ratio: "3", Low: "2.984", High: "3.016", Rounds: 6, Metric: "rowsPerSecond",
				BaselineMedian: "1002", Median: "3006", Unit: "rows/s", Detail: got.Answer,
			}},
			Differences: []string{"lazy differs from durable in: innodb_flush_log_at_trx_commit (1 → 0)"},
		},
	}
	ignore := cmpopts.IgnoreFields(v1alpha1.BenchmarkComparisonStatus{}, "Conditions", "Deadline")
	numbers := cmpopts.IgnoreFields(v1alpha1.PairStatus{}, "Ratio", "Low", "High", "Median", "BaselineMedian")
	if diff := cmp.Diff(want, got, ignore, numbers); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if c := got.Pairs[0]; c.Ratio == "" || c.Low == "" || c.High == "" || c.Median == "" || c.BaselineMedian == "" {
		t.Errorf("the comparison lacks numbers: %+v", c)
	}
	if !strings.HasPrefix(got.Answer, "lazy is 3× as fast as durable (") {
		t.Errorf("the answer is %q", got.Answer)
	}
}

// All conditions are there from the first reconcile on, and tell decided, undecided and failed apart.
func TestConditionsOfComparisons(t *testing.T) {
	published := func(_ *v1alpha1.BenchmarkComparison, o *ComparisonObserved) {
		o.Results = &v1alpha1.ResultsReference{ConfigMap: "s-results"}
	}
	for name, tc := range map[string]struct {
		comparison *v1alpha1.BenchmarkComparison
		runs       int
		see        func(*v1alpha1.BenchmarkComparison, *ComparisonObserved)
		want       string
	}{
		"first": {
			comparison: testutil.Pair(),
			see:        func(_ *v1alpha1.BenchmarkComparison, o *ComparisonObserved) { o.Checked = false },
			want: "Admitted=T/Admitted Complete=F/InProgress Decided=F/InProgress Failed=F/InProgress Finished=F/InProgress Ready=F/Checking " +
				"Reconciling=T/Checking Stalled=F/InProgress Suspended=F/NotSuspended",
		},
		"suspended": {
			comparison: testutil.Pair(func(s *v1alpha1.BenchmarkComparison) { s.Spec.Suspend = ptr.To(true) }),
			want: "Admitted=F/Suspended Complete=F/InProgress Decided=F/InProgress Failed=F/InProgress Finished=F/InProgress Ready=F/Suspended " +
				"Reconciling=F/Suspended Stalled=F/InProgress Suspended=T/Suspended",
		},
		"decided": {
			comparison: testutil.Pair(), runs: 12, see: published,
			want: "Admitted=F/Finished Complete=T/Decided Decided=T/Decided Failed=F/Decided Finished=T/Decided Ready=T/Decided Reconciling=F/Decided " +
				"Stalled=F/Decided Suspended=F/NotSuspended",
		},
		"undecided": {
			comparison: testutil.Pair(testutil.FixedRounds(2)), runs: 4,
			see: func(s *v1alpha1.BenchmarkComparison, o *ComparisonObserved) {
				published(s, o)
				o.Judged.Pairs[0].Verdict = stats.NoDifferenceShown
			},
			want: "Admitted=F/Finished Complete=T/Undecided Decided=F/Undecided Failed=F/Undecided Finished=T/Undecided Ready=T/Undecided " +
				"Reconciling=F/Undecided Stalled=F/Undecided Suspended=F/NotSuspended",
		},
		"failed, with results to write": {
			comparison: testutil.Pair(), runs: 4,
			see: func(_ *v1alpha1.BenchmarkComparison, o *ComparisonObserved) {
				o.Terminal = &Failure{v1alpha1.ReasonMemberLost, "why"}
			},
			want: "Admitted=F/Finished Complete=F/MemberLost Decided=F/MemberLost Failed=T/MemberLost Finished=F/MemberLost Ready=F/MemberLost Reconciling=T/MemberLost " +
				"Stalled=T/MemberLost Suspended=F/NotSuspended",
		},
		"failed at once": {
			comparison: testutil.Pair(),
			see: func(_ *v1alpha1.BenchmarkComparison, o *ComparisonObserved) {
				o.Terminal = &Failure{v1alpha1.ReasonVariantInvalid, "why"}
			},
			want: "Admitted=F/Finished Complete=F/VariantInvalid Decided=F/VariantInvalid Failed=T/VariantInvalid Finished=T/VariantInvalid " +
				"Ready=F/VariantInvalid Reconciling=F/VariantInvalid Stalled=T/VariantInvalid Suspended=F/NotSuspended",
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := measuredRuns(tc.comparison, planOfComparison(t, tc.comparison), tc.runs)
			if tc.see != nil {
				tc.see(tc.comparison, seen)
			}
			if diff := cmp.Diff(tc.want, conditionsOf(statusOfComparison(t, tc.comparison, seen))); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

// A finished comparison does not change, whatever becomes of its runs.
func TestFinishedComparisonStays(t *testing.T) {
	s := testutil.Pair(finishedComparison)
	s.Status.Answer, s.Status.Progress = "an answer", "4/20"
	s.Generation = 2
	got := StatusOfComparison(s, planOfComparison(t, s), &ComparisonObserved{}, Decision{Action: Wait{}}, now)
	want := *s.Status.DeepCopy()
	want.ObservedGeneration = ptr.To[int64](2)
	for i := range want.Conditions {
		want.Conditions[i].ObservedGeneration = 2
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// A comparison that lost a run says how many it had, so that it does not forget that it has failed.
func TestComparisonRemembersItsRuns(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkComparison) { s.Status.Runs.Finished = ptr.To[int32](3) })
	if got := statusOfComparison(t, s, measuredRuns(s, planOfComparison(t, s), 1)); *got.Runs.Finished != 3 {
		t.Errorf("%d runs had finished", *got.Runs.Finished)
	}
}

// A status has room for 64 pairs and 16 warnings; the results have all.
func TestBoundsOfComparisonStatus(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkComparison) {
		var values []v1alpha1.CommitSizeRowsPerCommit
		for i := range 100 {
			values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
		}
		s.Spec.Template.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: values}
	})
	seen := measuredRuns(s, planOfComparison(t, s), 2)
	for i := range 20 {
		w := stats.PointFinding{Finding: finding.OfProgram(fmt.Sprintf("warning %d%s", i, strings.Repeat("é", 600))), Trials: 1, Of: 1}
		seen.Members[0].Measured.Warnings = append(seen.Members[0].Measured.Warnings, w)
	}
	got := statusOfComparison(t, s, seen)
	if len(got.Pairs) != 64 || len(got.Warnings) != 16 || got.Warnings[15] != "5 more, see the results" {
		t.Errorf("%d pairs, %d warnings, the last: %s", len(got.Pairs), len(got.Warnings), got.Warnings[15])
	}
	if len(got.Overall) != 1 || got.Overall[0].Parameters != nil || got.Overall[0].Variant != "lazy" {
		t.Errorf("over all points: %+v", got.Overall)
	}
	if n := len([]rune(got.Warnings[0])); n != 512 {
		t.Errorf("a warning has %d characters", n)
	}
}

// The time for which a comparison is suspended does not count.
func TestSuspendedComparisonHasMoreTime(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkComparison) { s.Spec.DeadlineSeconds = ptr.To[int32](3600) })
	s.Status.StartTime = ptr.To(ago(30 * time.Minute))
	s.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonSuspended,
		LastTransitionTime: ago(10 * time.Minute),
	}}
	got := statusOfComparison(t, s, measuredRuns(s, planOfComparison(t, s), 1))
	if *got.SuspendedSeconds != 600 || !got.Deadline.Equal(ptr.To(ago(-40*time.Minute))) {
		t.Errorf("suspended for %d s, deadline %v", *got.SuspendedSeconds, got.Deadline)
	}
}

// differencesOf the variants of a comparison whose servers had these variables.
func differencesOf(s *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, variables []map[string]string) []string {
	a := analysis.OfComparison(s, p, &analysis.ComparisonRuns{Variables: variables}, analysis.Verdicts{})
	return variantDifferences(a.Variants, s.Spec.Variants[p.Baseline].Name)
}

// Of two engines, what only one of them has is counted beside what differs.
func TestVariantDifferencesOfEngines(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Engine: v1alpha1.EngineMySQL, Image: "mysql:8.4"}
	})
	got := differencesOf(s, planOfComparison(t, s), []map[string]string{
		{"innodb_flush_method": "fsync", "aria_block_size": "8192", "autocommit": "ON"},
		{"innodb_flush_method": "O_DIRECT", "mysqlx_max_connections": "100", "autocommit": "ON", "gtid_mode": "OFF"},
	})
	want := []string{"lazy differs from durable in: database.engine (MariaDB → MySQL), database.image (mariadb:11.8 → mysql:8.4); " +
		"1 of the other 2 variables differs (1 more exist in MariaDB only, 2 in MySQL only): " +
		"innodb_flush_method (fsync → O_DIRECT)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What the servers say of themselves is compared as soon as both have been measured.
func TestVariantDifferences(t *testing.T) {
	s := testutil.Pair()
	p := planOfComparison(t, s)
	variables := func(size string) map[string]string {
		return map[string]string{"sort_buffer_size": size, "autocommit": "ON", "hostname": size}
	}
	for name, tc := range map[string]struct {
		variables []map[string]string
		want      string
	}{
		"not known":       {nil, "lazy has the same specification as durable"},
		"one is known":    {[]map[string]string{nil, variables("1")}, "lazy has the same specification as durable"},
		"no difference":   {[]map[string]string{variables("1"), variables("1")}, "lazy has the same specification as durable; the other 2 variables are identical"},
		"some difference": {[]map[string]string{variables("1"), variables("2")}, "lazy has the same specification as durable; 1 of the other 2 variables differs: sort_buffer_size (1 → 2)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := differencesOf(s, p, tc.variables)
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Of a text that is too long, the reader sees that it goes on, and of too many, how many there are.
func TestTexts(t *testing.T) {
	long := strings.Repeat("ä", maxComparisonText+1)
	got := texts([]string{long[:2*maxComparisonText], long, "third", "fourth"}, 3)
	want := []string{long[:2*maxComparisonText], long[:2*(maxComparisonText-1)] + "…", "2 more, see the results"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
