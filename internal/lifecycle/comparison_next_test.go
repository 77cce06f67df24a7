// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
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

// The servers of a round start while those of the round before stop, if nothing is measured before all are up.
func TestNextRoundBesideServersThatStop(t *testing.T) {
	whole := func(s *v1alpha1.BenchmarkComparison) {
		alternating(s)
		s.Spec.Alternation, s.Spec.TrialsPerRound = v1alpha1.AlternateRuns, nil
	}
	for name, tc := range map[string]struct {
		of       func(*v1alpha1.BenchmarkComparison)
		finished int
		left     Leftover
		want     Action
	}{
		"slices":                           {sliced, 2, Stopping, CreateMember{}},
		"trials":                           {alternating, 2, Stopping, CreateMember{}},
		"whole runs measure as soon as up": {whole, 2, Stopping, Wait{}},
		"something works":                  {sliced, 2, Working, Wait{}},
		"the first round finds its room":   {sliced, 0, Stopping, Wait{}},
		"nothing is left":                  {whole, 2, NothingLeft, CreateMember{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(tc.of)
			p := planOfComparison(t, s)
			seen := measuredRuns(s, p, tc.finished)
			seen.Left, seen.Checked = tc.left, true
			d := NextOfComparison(s, p, seen, now)
			_, creates := d.Action.(CreateMember)
			if _, want := tc.want.(CreateMember); creates != want {
				t.Errorf("%+v", d)
			}
			if !creates && d.After != time.Second {
				t.Errorf("it looks again after %s", d.After)
			}
		})
	}
}

// secondRound is what is seen when both runs of the second round have measured so many trials, and that is left of the first.
func secondRound(t *testing.T, of func(*v1alpha1.BenchmarkComparison), measured int32, left Leftover) (
	*v1alpha1.BenchmarkComparison, *comparisonPlan, *ComparisonObserved,
) {
	t.Helper()
	s := testutil.Pair(of)
	p := planOfComparison(t, s)
	seen := measuredRuns(s, p, 2).begin(s, p, 2, waits(measured))
	first := seen.Current
	seen.begin(s, p, 3, waits(measured))
	seen.Current, seen.Left = append(first, seen.Current...), left
	return s, p, seen
}

// Nothing is measured before the last server of the round before has stopped. It is looked for again, because what has ended on a
// node that does not answer is not told.
func TestTurnsWaitForServersThatStop(t *testing.T) {
	for name, of := range map[string]func(*v1alpha1.BenchmarkComparison){"slices": sliced, "trials": alternating} {
		t.Run(name, func(t *testing.T) {
			s, p, seen := secondRound(t, of, 0, Stopping)
			situation := newComparisonSituation(s, p, seen, now)
			if got := situation.turns(); len(got) != 0 {
				t.Errorf("turns: %v", got)
			}
			d := NextOfComparison(s, p, seen, now)
			if d.After != time.Second || d.Message != "round 2 of at most 2, "+s.Spec.Variants[p.Members[2].Variant].Name+
				": the servers of the previous round are stopping" {
				t.Errorf("%+v", d)
			}
			seen.Left = NothingLeft
			if got := situation.turns(); len(got) == 0 {
				t.Error("and then nobody has a turn")
			}
		})
	}
}

// A run that has finished before the other one of its round takes no turn from it.
func TestRoundThatIsOverDoesNotWait(t *testing.T) {
	s, p, seen := secondRound(t, sliced, 2, Working)
	if got := newComparisonSituation(s, p, seen, now).turns(); got[2] != 3 || got[3] != 3 {
		t.Errorf("turns: %v", got)
	}
}

// What others than the runs under way have left.
func TestLeft(t *testing.T) {
	pod := func(run types.UID, deleted *metav1.Time) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels:            map[string]string{v1alpha1.LabelRunUID: string(run), v1alpha1.LabelComponent: v1alpha1.ComponentDatabase},
			DeletionTimestamp: deleted, DeletionGracePeriodSeconds: ptr.To[int64](10),
		}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	}
	job := func(run types.UID, deleted *metav1.Time) batchv1.Job {
		return batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Labels: map[string]string{v1alpha1.LabelRunUID: string(run)}, DeletionTimestamp: deleted,
		}}
	}
	soon, over := ptr.To(metav1.NewTime(now.Add(9*time.Second))), ptr.To(ago(time.Hour))
	for name, tc := range map[string]struct {
		remains Remains
		want    Leftover
	}{
		"nothing":                       {Remains{}, NothingLeft},
		"those under way":               {Remains{Servers: []types.UID{"now"}, Pods: []corev1.Pod{pod("now", nil)}, Jobs: []batchv1.Job{job("now", nil)}}, NothingLeft},
		"a server that is kept":         {Remains{Servers: []types.UID{"kept"}, Pods: []corev1.Pod{pod("kept", nil)}}, NothingLeft},
		"a server":                      {Remains{Servers: []types.UID{"gone"}, Pods: []corev1.Pod{pod("gone", soon)}}, Working},
		"a Pod that nobody deletes":     {Remains{Pods: []corev1.Pod{pod("gone", nil), pod("gone", soon)}}, Working},
		"a Pod that stops":              {Remains{Pods: []corev1.Pod{pod("gone", soon), pod("now", nil)}}, Stopping},
		"a Pod on a node that is lost":  {Remains{Pods: []corev1.Pod{pod("gone", over)}}, NothingLeft},
		"a Job":                         {Remains{Jobs: []batchv1.Job{job("gone", nil)}}, Working},
		"a Job that is going":           {Remains{Jobs: []batchv1.Job{job("gone", soon)}, Pods: []corev1.Pod{pod("gone", soon)}}, Stopping},
		"a node that is to be restored": {Remains{Tuned: []TunedNode{{Record: &hosttuning.Record{}}}, Pods: []corev1.Pod{pod("gone", soon)}}, Working},
	} {
		if got := tc.remains.Left(sets.New[types.UID]("now"), sets.New[types.UID]("kept"), now); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// onVolumes puts the data of the first variant on ext4 with a limit, and that of the second on XFS without.
func onVolumes(seen *ComparisonObserved, p *analysis.ComparisonPlan) {
	for i, m := range seen.Members {
		if m.Run == nil {
			continue
		}
		e := &m.Run.Status.Environment
		e.Filesystem, e.MountOptions, e.IOScheduler, e.BlockIO = "ext4", "rw,relatime", "none", "write 100/s on 254:0"
		e.FdatasyncMicros, e.FdatasyncMeanMicros = 250, 9870
		if p.Members[i].Variant == 1 {
			e.Filesystem, e.BlockIO, e.FdatasyncMeanMicros = "xfs", "none", 260
		}
	}
}

func TestVolumesOfComparison(t *testing.T) {
	s := testutil.Pair(testutil.FixedRounds(6))
	p := planOfComparison(t, s)
	seen := measuredRuns(s, p, 12)
	if got := statusOfComparison(t, s, seen).Volumes; got != nil {
		t.Errorf("nothing is known, and the status has %+v", got)
	}
	onVolumes(seen, p)
	want := []v1alpha1.VolumeStatus{
		{
			Variant: "durable", Filesystem: "ext4", MountOptions: "rw,relatime", IOScheduler: "none", BlockIO: "write 100/s on 254:0",
			FdatasyncMicros: 250, FdatasyncMeanMicros: 9870,
		},
		{
			Variant: "lazy", Filesystem: "xfs", MountOptions: "rw,relatime", IOScheduler: "none", BlockIO: "none",
			FdatasyncMicros: 250, FdatasyncMeanMicros: 260,
		},
	}
	got := statusOfComparison(t, s, seen)
	if diff := cmp.Diff(want, got.Volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	if len(got.Warnings) != 0 {
		t.Errorf("warnings about variants that each have one file system: %q", got.Warnings)
	}
	texts := []string{
		"ext4 (rw,relatime), I/O scheduler none, block I/O limited: write 100/s on 254:0, fdatasync takes 9.87 ms (mean; median 0.25 ms)",
		"xfs (rw,relatime), I/O scheduler none, fdatasync takes 0.25 ms (median)",
	}
	analysed := analysis.OfComparison(s, p, &seen.ComparisonRuns, seen.Judged)
	for i := range texts {
		if got := analysed.Variants[i].Volume.String(); got != texts[i] {
			t.Errorf("%q, want %q", got, texts[i])
		}
	}
	for i := range seen.Members[:2] {
		if p.Members[i].Variant == p.Baseline {
			seen.Members[i].Run.Status.Environment.Filesystem = "btrfs" // its other runs have ext4
		}
	}
	all := strings.Join(statusOfComparison(t, s, seen).Warnings, "\n")
	if !strings.Contains(all, "the runs of durable had different file systems: btrfs, ext4") {
		t.Errorf("warnings: %s", all)
	}
}
