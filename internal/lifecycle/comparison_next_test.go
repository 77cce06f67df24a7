// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// In a situation in which every rule has something to say, the first one is heard; without its reason, the next one.
func TestPrecedenceOfComparisonRules(t *testing.T) {
	s := testutil.Pair(testutil.FixedRounds(2))
	p := planOfComparison(t, s)
	s.DeletionTimestamp = ptr.To(ago(time.Second))
	s.Spec.Suspend = ptr.To(true)
	finishedComparison(s)
	s.Status.Runs.Finished = ptr.To[int32](4)
	seen := measuredRuns(s, p, 3).begin(s, p, 3)
	seen.Members[1].Run.Status.Conditions[1].Type = v1alpha1.ConditionFailed
	seen.Terminal, seen.Remains, seen.Left = &Failure{Reason: v1alpha1.ReasonNameTaken}, []string{"s-r1-a"}, Working
	seen.Lane = Lane{}
	cases := []struct {
		want string
		undo func()
	}{
		{"lifecycle.Wait ", func() { s.DeletionTimestamp = nil }},
		{"lifecycle.Wait ", func() { failedComparison(s) }},
		{"lifecycle.RemoveMember Publishing", func() { s.Status.Conditions = nil }},
		{"lifecycle.Wait fail NameTaken", func() { seen.Terminal = nil }},
		{"lifecycle.SuspendMember Suspended", func() { s.Spec.Suspend = nil }},
		{"lifecycle.CheckVariants Checking", func() {}},
		{"lifecycle.Wait fail MemberLost", func() { s.Status.Runs.Finished = nil }},
		{"lifecycle.Wait fail MemberFailed", func() { seen.Members[1].Run.Status.Conditions[1].Type = v1alpha1.ConditionComplete }},
		{"lifecycle.TakeLane Queued", func() { seen.Lane.Holder = ptr.To(HolderOfComparison(s)) }},
		{"lifecycle.Wait WaitingForPredecessor", func() { seen.Predecessor = Predecessor{} }},
		{"lifecycle.PublishComparison Publishing", func() { s.Spec.EarlyStop.Policy, seen.Judged = v1alpha1.EarlyStopDisabled, analysis.Verdicts{} }},
		{"lifecycle.RemoveMember Measuring", func() { seen.Current[0].UID = string(seen.Members[2].Run.UID) }},
		{"lifecycle.RemoveMember Measuring", func() { s.Spec.Alternation, seen.Current[0].Trials = v1alpha1.AlternateRuns, nil }},
		{"lifecycle.Wait Measuring", func() { p.Alternation = v1alpha1.AlternateTrials }},
		{"lifecycle.RemoveMember Measuring", func() { p.Alternation, seen.Current = v1alpha1.AlternateRuns, seen.Current[:1] }},
		{"lifecycle.Wait Measuring", func() { seen.Members[3].Run = nil }},
		{"lifecycle.Wait Measuring", func() { seen.Left = NothingLeft }},
		{"lifecycle.CreateMember Measuring", func() {}},
	}
	if rules := len(comparisonRules.ends) + len(comparisonRules.steps); len(cases) != rules {
		t.Errorf("%d rules are tested, there are %d", len(cases), rules)
	}
	begun := *seen
	for i, tc := range cases {
		switch i {
		case 5: // no run is there yet, and none is in the way
			*seen, s.Status.Runs.Finished = ComparisonObserved{ComparisonRuns: membersOf(p)}, nil
		case 6:
			*seen, s.Status.Runs.Finished = begun, ptr.To[int32](4)
			seen.Terminal = nil
		case 10: // every pair has its answer, after a whole round and with no run under way
			s.Spec.EarlyStop.Policy, seen.Members[2], seen.Members[3] = v1alpha1.EarlyStopWhenDecided, analysis.Member{}, analysis.Member{}
			seen.Judged = analysis.Verdicts{Rounds: 1, Pairs: []stats.Paired{{Comparison: stats.Comparison{Decided: true, Verdict: stats.Equal}}}}
		case 11:
			seen.begin(s, p, 2)
			seen.Members[3], seen.Current[0].UID = analysis.Member{}, "another"
		case 12: // a round without room for all of its servers is left behind
			s.Spec.Alternation, seen.Current[0].Trials = v1alpha1.AlternateAutomatic, ptr.To[int32](0)
		case 13: // of a round that is measured in slices, one was invalidated
			p.Alternation = v1alpha1.AlternateSlices
			waits(0)(seen.Members[2].Run)
			invalidated(seen.Members[2].Run)
			// And of a round whose trials alternate, one run was deleted.
			seen.Current = append(seen.Current, v1alpha1.CurrentRun{Name: plan.MemberName(s, p.Members[3]), UID: "gone"})
		case 16:
			seen.Members[2].Run = nil
		}
		if got := describe(NextOfComparison(s, p, seen, now)); got != tc.want {
			t.Errorf("rule %d: %s, want %s", i+1, got, tc.want)
		}
		tc.undo()
	}
}

func TestNextOfComparison(t *testing.T) {
	measuring := func(a Action, message string) Decision {
		return Decision{Action: a, Reason: v1alpha1.ReasonMeasuring, Message: message}
	}
	failed := func(reason, message string, finished bool) Decision {
		return Decision{Action: Wait{}, Failure: &Failure{Reason: reason, Message: message}, Finished: finished}
	}
	const answer = "lazy is 3× as fast as durable (2.8–3.2×)"
	published := func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) {
		o.Results = new(v1alpha1.ResultsReference)
		o.Judged.Pairs[0].Comparison = stats.Comparison{Verdict: stats.Faster, Decided: true, Ratio: 3, Low: 2.8, High: 3.2}
	}
	twoPoints := func(policy v1alpha1.EarlyStopPolicy) *v1alpha1.BenchmarkComparison {
		w := testutil.MakeComparison("s", "ns", "durable", "lazy").Sweep(1, 16)
		return w.With(func(s *v1alpha1.BenchmarkComparison) { s.Spec.EarlyStop.Policy = policy }).Obj()
	}
	open := func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) {
		o.Judged.Pairs[1].Comparison = stats.Comparison{Verdict: stats.CannotSay, Cause: stats.Noise, Low: 0.5, High: 2}
	}
	type situation struct {
		comparison *v1alpha1.BenchmarkComparison
		// runs that are measured, and what else is seen.
		runs int
		see  func(*v1alpha1.BenchmarkComparison, *comparisonPlan, *ComparisonObserved)
		want Decision
	}
	members := planOfComparison(t, testutil.Pair()).Members // lazy, durable, durable, lazy, …
	bound := func(i int) CreateMember {
		return CreateMember{Member: members[i], DatabaseNode: "worker", LoaderNodes: "worker2"}
	}
	going := func(s *v1alpha1.BenchmarkComparison, p *comparisonPlan, o *ComparisonObserved) {
		o.begin(s, p, 1, func(r *v1alpha1.BenchmarkRun) { r.DeletionTimestamp = ptr.To(ago(time.Second)) })
	}
	left := func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) { o.Lane = Lane{} }
	for name, tc := range map[string]situation{
		"first": {runs: 0, want: measuring(CreateMember{Member: members[0], Shared: &plan.Served{}}, "round 1 of at most 20, lazy")},
		"not checked": {
			see:  func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) { o.Checked = false },
			want: Decision{Action: CheckVariants{}, Reason: v1alpha1.ReasonChecking, Message: "the runs of all variants are being checked"},
		},
		"second, on the same nodes": {runs: 1, want: measuring(bound(1), "round 1 of at most 20, durable")},
		"second, anywhere": {
			comparison: testutil.Pair(func(s *v1alpha1.BenchmarkComparison) { s.Spec.Template.Spec.Placement = v1alpha1.PlacementAny }), runs: 1,
			want: measuring(CreateMember{Member: members[1]}, "round 1 of at most 20, durable"),
		},
		"second, on an external server": {
			runs: 1, see: func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) {
				o.Members[0].Run.Status.Environment.DatabaseNode = result.Unknown
			},
			want: measuring(CreateMember{Member: members[1], LoaderNodes: "worker2"}, "round 1 of at most 20, durable"),
		},
		"under way": {
			runs: 1, see: func(s *v1alpha1.BenchmarkComparison, p *comparisonPlan, o *ComparisonObserved) {
				o.begin(s, p, 1, func(r *v1alpha1.BenchmarkRun) {
					r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: "Measuring", Message: "trial 1 of 1"}}
				})
			},
			want: measuring(Wait{}, "round 1 of at most 20, durable: Measuring: trial 1 of 1"),
		},
		"to be resumed": {
			runs: 1, see: func(s *v1alpha1.BenchmarkComparison, p *comparisonPlan, o *ComparisonObserved) {
				o.begin(s, p, 1, suspendedRun)
			},
			want: measuring(SuspendMember{Name: "s-r1-durable"}, "round 1 of at most 20, durable"),
		},
		"to be suspended": {
			comparison: testutil.Pair(func(s *v1alpha1.BenchmarkComparison) { s.Spec.Suspend = ptr.To(true) }), runs: 1,
			see:  func(s *v1alpha1.BenchmarkComparison, p *comparisonPlan, o *ComparisonObserved) { o.begin(s, p, 1) },
			want: Decision{Action: SuspendMember{"s-r1-durable", true}, Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true"},
		},
		"suspended": {
			comparison: testutil.Pair(func(s *v1alpha1.BenchmarkComparison) { s.Spec.Suspend = ptr.To(true) }), runs: 1,
			see: func(s *v1alpha1.BenchmarkComparison, p *comparisonPlan, o *ComparisonObserved) {
				o.begin(s, p, 1, suspendedRun)
			},
			want: after(Decision{Action: Wait{}, Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true"}, time.Second),
		},
		"not decided after too few rounds": {runs: 10, want: measuring(bound(10), "round 6 of at most 20, "+[]string{"durable", "lazy"}[members[10].Variant])},
		"not decided within a round":       {runs: 9, want: measuring(bound(9), "round 5 of at most 20, "+[]string{"durable", "lazy"}[members[9].Variant])},
		"decided": {
			runs: 12, want: Decision{
				Action: PublishComparison{Outcome: v1alpha1.ConditionComplete}, Reason: v1alpha1.ReasonPublishing,
				Message: "every pair has its answer after 6 rounds; the results are being written",
			},
		},
		"decided and published": {
			runs: 12, see: published,
			want: Decision{
				Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonDecided,
				Message: "every pair has its answer after 6 rounds: " + answer,
			},
		},
		"decided, and all rounds are asked for": {
			comparison: testutil.Pair(testutil.FixedRounds(6)), runs: 8, want: measuring(bound(8), "round 5 of at most 6, "+[]string{"durable", "lazy"}[members[8].Variant]),
		},
		"all rounds": {
			comparison: testutil.Pair(testutil.FixedRounds(6)), runs: 12, see: published,
			want: Decision{Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonDecided, Message: "all 6 rounds are measured: " + answer},
		},
		"all rounds, without an answer": {
			comparison: testutil.Pair(testutil.FixedRounds(6)), runs: 12, see: func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) {
				o.Results = new(v1alpha1.ResultsReference)
				o.Judged.Pairs[0].Comparison = stats.Comparison{Verdict: stats.NoDifferenceShown, Low: 0.9, High: 1.1, Detectable: 0.1}
			},
			want: Decision{
				Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonUndecided,
				Message: "all 6 rounds are measured; pairs without an answer: 1 of 1: " +
					"no difference shown between lazy and durable (ratio 0.90–1.10); a difference of 10% would probably have been detected",
			},
		},
		"decided over all points, with one that is open": {
			comparison: twoPoints(v1alpha1.EarlyStopWhenOverallDecided), runs: 12, see: open, want: Decision{
				Action: PublishComparison{Outcome: v1alpha1.ConditionComplete}, Reason: v1alpha1.ReasonPublishing,
				Message: "every variant, over all points together, has its answer after 6 rounds; the results are being written",
			},
		},
		"decided over all points, and published": {
			comparison: twoPoints(v1alpha1.EarlyStopWhenOverallDecided), runs: 12,
			see: func(s *v1alpha1.BenchmarkComparison, p *comparisonPlan, o *ComparisonObserved) {
				open(s, p, o)
				o.Results = new(v1alpha1.ResultsReference)
				o.Judged.Overall[0].Comparison = stats.Comparison{Verdict: stats.Faster, Decided: true, Ratio: 3, Low: 2.8, High: 3.2}
			},
			want: Decision{
				Action: Wait{}, Complete: true, Reason: v1alpha1.ReasonDecided,
				Message: "every variant, over all points together, has its answer after 6 rounds; pairs without an answer: 1 of 2: " +
					"lazy is 3× as fast as durable (2.8–3.2×) over all 2 points; 1 of 2 points differs, most at rowsPerCommit=1: 3× as fast",
			},
		},
		"decided over all points only, and every pair is asked": {
			comparison: twoPoints(v1alpha1.EarlyStopWhenDecided), runs: 12, see: open,
			want: measuring(bound(12), "round 7 of at most 20, "+[]string{"durable", "lazy"}[members[12].Variant]),
		},
		"a run failed in the first round": {
			runs: 1, see: func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) {
				o.Members[0].Run.Status.Conditions[1] = metav1.Condition{
					Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: "LoaderFailed", Message: "no",
				}
			},
			want: failed(v1alpha1.ReasonMemberFailed, "run s-r1-lazy of round 1 failed: LoaderFailed: no", true),
		},
		"a run was deleted": {
			runs: 3, see: func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) {
				o.Members[1] = analysis.Member{}
			},
			want: failed(v1alpha1.ReasonMemberLost, "run s-r1-durable was deleted while the comparison was under way", false),
		},
		"the last run was deleted": {
			comparison: testutil.Pair(func(s *v1alpha1.BenchmarkComparison) { s.Status.Runs.Finished = ptr.To[int32](3) }), runs: 2,
			want: failed(v1alpha1.ReasonMemberLost, "run s-r2-durable was deleted while the comparison was under way", false),
		},
		"failed, a run is under way": {
			comparison: testutil.Pair(failedComparison), runs: 1, see: func(s *v1alpha1.BenchmarkComparison, p *comparisonPlan, o *ComparisonObserved) { o.begin(s, p, 1) },
			want: Decision{
				Action: RemoveMember{Name: "s-r1-durable", UID: "u"}, Reason: v1alpha1.ReasonPublishing, Message: "run s-r1-durable is being removed",
			},
		},
		"failed, the run is going": {
			comparison: testutil.Pair(failedComparison), runs: 1, see: going,
			want: Decision{Action: Wait{}, Reason: v1alpha1.ReasonPublishing, Message: "run s-r1-durable is being removed"},
		},
		"failed after a round": {
			comparison: testutil.Pair(failedComparison), runs: 3,
			want: Decision{
				Action: PublishComparison{Outcome: v1alpha1.ConditionFailed}, Reason: v1alpha1.ReasonPublishing, After: 59 * time.Second,
				Message: "the comparison has failed; the results of the earlier rounds are being written",
			},
		},
		"failed within the first round": {comparison: testutil.Pair(failedComparison), runs: 1, want: Decision{Action: Wait{}, Finished: true}},
		"failed, the results are refused for too long": {
			comparison: testutil.Pair(failedComparison, func(s *v1alpha1.BenchmarkComparison) { s.Status.Conditions[0].LastTransitionTime = ago(time.Hour) }), runs: 3,
			see:  func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) { o.RetryError = "no" },
			want: Decision{Action: Wait{}, Finished: true},
		},
		"to live for a while": {
			comparison: testutil.Pair(finishedComparison, func(s *v1alpha1.BenchmarkComparison) { s.Spec.TTLSecondsAfterFinished = ptr.To[int32](3660) }),
			see:        left, want: Decision{Action: Wait{}, After: time.Minute},
		},
		"lived for long enough": {
			comparison: testutil.Pair(finishedComparison, func(s *v1alpha1.BenchmarkComparison) { s.Spec.TTLSecondsAfterFinished = ptr.To[int32](3600) }),
			see:        left, want: Decision{Action: DeleteComparison{}},
		},
		"late": {
			comparison: testutil.Pair(func(s *v1alpha1.BenchmarkComparison) {
				s.Spec.DeadlineSeconds, s.Status.StartTime = ptr.To[int32](3600), ptr.To(ago(time.Hour))
			}), runs: 1,
			want: failed(v1alpha1.ReasonDeadlineExceeded,
				"the comparison did not finish within 1h0m0s (spec.deadlineSeconds): round 1 of at most 20, durable", true),
		},
		"late, but publishing": {
			comparison: testutil.Pair(testutil.FixedRounds(2), func(s *v1alpha1.BenchmarkComparison) {
				s.Spec.DeadlineSeconds, s.Status.StartTime = ptr.To[int32](3600), ptr.To(ago(time.Hour))
			}), runs: 4,
			want: Decision{
				Action: PublishComparison{Outcome: v1alpha1.ConditionComplete}, Reason: v1alpha1.ReasonPublishing,
				Message: "all 2 rounds are measured; the results are being written",
			},
		},
		"retrying": {
			runs: 1, see: func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) {
				o.RetryError = "the quota is used up"
			},
			want: Decision{Action: bound(1), Reason: v1alpha1.ReasonRetrying, Message: "the quota is used up"},
		},
		"cannot be read": {
			see: func(_ *v1alpha1.BenchmarkComparison, _ *comparisonPlan, o *ComparisonObserved) {
				*o = ComparisonObserved{Blockers: Blockers{ObserveFailed: true, RetryError: "no answer"}}
			},
			want: Decision{Action: Wait{}, Reason: v1alpha1.ReasonRetrying, Message: "no answer"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.comparison
			if s == nil {
				s = testutil.Pair()
			}
			p := planOfComparison(t, s)
			seen := measuredRuns(s, p, tc.runs)
			if tc.see != nil {
				tc.see(s, p, seen)
			}
			if diff := cmp.Diff(tc.want, NextOfComparison(s, p, seen, now)); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

// The deadline of a comparison is that of all its runs, and no longer than a year.
func TestComparisonDeadline(t *testing.T) {
	s := testutil.Pair()
	p := planOfComparison(t, s)
	if got, want := ComparisonDeadline(s, p), 40*Deadline(p.Variants[0].Run, p.Variants[0].Plan)+spareTime; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	for _, v := range p.Variants {
		v.Run.Spec.DeadlineSeconds = ptr.To[int32](31536000)
	}
	if got := ComparisonDeadline(s, p); got != maxDeadline {
		t.Errorf("%v, want a year", got)
	}
}

// What cannot be taken back is decided on what the API server says.
func TestIrrevocableDecisionsOfComparisons(t *testing.T) {
	for _, d := range []Decision{{Failure: &Failure{}}, {Action: RemoveMember{}}, {Action: DeleteComparison{}}} {
		if !d.Irrevocable() {
			t.Errorf("%+v is decided on the cache", d)
		}
	}
	for _, a := range []Action{CheckVariants{}, CreateMember{}, SuspendMember{}, PublishComparison{}} {
		if (&Decision{Action: a}).Irrevocable() {
			t.Errorf("%T is not decided on the cache", a)
		}
	}
}
