// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// sharedBy has a run share the database of its comparison, after that instance.
func sharedBy(number int, podUID string) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		ofComparison("s", "uid")(r)
		plan.Share(r, plan.Served{Number: number, PodUID: podUID})
		r.Spec.Trials.PrimeSeconds = ptr.To[int32](30)
	}
}

// A run goes on with the instance that the run before has measured, which is warm, if nothing has happened to it. Otherwise it
// makes the next one.
func TestInstanceOfTheRunBefore(t *testing.T) {
	for name, tc := range map[string]struct {
		run       func(*v1alpha1.BenchmarkRun)
		records   []*result.Record
		instances []Instance
		want      Action
	}{
		"the first run":       {run: sharedBy(0, ""), want: ProvideDatabase{Instance: 1}},
		"intact":              {run: sharedBy(2, "pod"), instances: []Instance{instanceOf(2, "pod")}, want: StartAttempt{}},
		"restarted meanwhile": {run: sharedBy(2, "pod"), instances: []Instance{instanceOf(2, "pod", restarted)}, want: RemoveDatabase{2}},
		"replaced meanwhile":  {run: sharedBy(2, "pod"), instances: []Instance{instanceOf(2, "another")}, want: RemoveDatabase{2}},
		"gone meanwhile":      {run: sharedBy(2, "pod"), want: ProvideDatabase{Instance: 3}},
		"of a run that was deleted": {
			run: sharedBy(2, ""), instances: []Instance{instanceOf(2, "pod")}, want: RemoveDatabase{2},
		},
		"lost by this run": {
			run: sharedBy(2, "pod"), instances: []Instance{instanceOf(2, "another")},
			records: []*result.Record{disturbed(1, 1, result.OutcomeInvalidated, result.CauseDatabaseLost)}, want: RemoveDatabase{2},
		},
		"removed by this run": {
			run: func(r *v1alpha1.BenchmarkRun) {
				sharedBy(2, "pod")(r)
				r.Status.RemovedInstances = ptr.To[int32](3)
			}, want: ProvideDatabase{Instance: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 2)
			tc.run(run)
			for _, r := range tc.records {
				r.Instance = 2
			}
			seen := &Observed{Records: tc.records, Instances: tc.instances, Lane: Lane{Lease: "s/l", Holder: MemberOf(run)}, Named: true}
			d := next(t, run, seen, now)
			if start, ok := d.Action.(StartAttempt); ok {
				if start.Attempt.Instance != 2 || start.Attempt.Prime {
					t.Errorf("starts %+v", start.Attempt)
				}
				d.Action = StartAttempt{}
			}
			if diff := cmp.Diff(tc.want, d.Action); diff != "" {
				t.Errorf("action (-want +got):\n%s", diff)
			}
		})
	}
}

// An instance that a run makes after the first one is new, and cold.
func TestWarmUpOfASharedInstance(t *testing.T) {
	run := oneAxis(1, 2)
	sharedBy(2, "pod")(run)
	seen := &Observed{Instances: []Instance{instanceOf(3, "new")}, Lane: Lane{Lease: "s/l", Holder: MemberOf(run)}, Named: true}
	run.Status.RemovedInstances = ptr.To[int32](2)
	if start, ok := next(t, run, seen, now).Action.(StartAttempt); !ok || start.Attempt.Instance != 3 || !start.Attempt.Prime {
		t.Errorf("starts %+v", start)
	}
}

// sharedRuns are what is seen after so many runs that share a database: all of them have measured instance 2.
func sharedRuns(s *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, runs int) *ComparisonObserved {
	seen := measuredRuns(s, p, runs)
	for i := range seen.Members[:runs] {
		m := &seen.Members[i]
		m.Run.Annotations = nil
		ofComparison(s.Name, s.UID)(m.Run)
		plan.Share(m.Run, plan.Served{})
		m.Measured.Served, m.Measured.Servers = plan.Served{Number: 2, PodUID: "pod"}, []string{"pod"}
	}
	seen.Instances = []Instance{instanceOf(2, "pod", func(i *Instance) { i.Budget = new(policyv1.PodDisruptionBudget) })}
	return seen
}

// The comparison passes the instance on while it measures, and removes it whenever no run does so by itself.
func TestNextOfComparisonThatSharesItsDatabase(t *testing.T) {
	suspended := func(s *v1alpha1.BenchmarkComparison) { s.Spec.Suspend = ptr.To(true) }
	onSuccess := func(s *v1alpha1.BenchmarkComparison) { s.Spec.Template.Spec.Cleanup = v1alpha1.CleanupOnSuccess }
	complete := func(s *v1alpha1.BenchmarkComparison) {
		finishedComparison(s)
		s.Status.Conditions[0].Type = v1alpha1.ConditionComplete
	}
	published := func(o *ComparisonObserved) { o.Results = new(v1alpha1.ResultsReference) }
	const database, budget = "the database that its runs share is being removed",
		"the PodDisruptionBudget of the database, which stays, is being removed"
	lost := func(o *ComparisonObserved) { o.Lane = Lane{Lease: "s/l", Holder: &Holder{RunKind, "a", "first", "1"}} }
	for name, tc := range map[string]struct {
		comparison []func(*v1alpha1.BenchmarkComparison)
		runs       int
		see        func(*ComparisonObserved)
		// begun: a run is under way, which is suspended.
		begun bool
		want  Action
		// says is what the message ends with.
		says string
	}{
		"between two runs": {runs: 1, want: CreateMember{Shared: &plan.Served{Number: 2, PodUID: "pod"}}},
		"a run that was deleted has made another": {
			runs: 1, see: func(o *ComparisonObserved) { o.Instances = []Instance{instanceOf(3, "unknown")} },
			want: CreateMember{Shared: &plan.Served{Number: 3}},
		},
		"a run that was deleted has removed another": {
			comparison: []func(*v1alpha1.BenchmarkComparison){func(s *v1alpha1.BenchmarkComparison) { s.Status.LastInstance = ptr.To[int32](4) }},
			runs:       1, want: CreateMember{Shared: &plan.Served{Number: 4}},
		},
		"the first run has a database of its own": {
			runs: 1, see: func(o *ComparisonObserved) { o.Members[0].Run.Annotations, o.Instances = nil, nil }, want: CreateMember{},
		},
		"all rounds, not published":      {runs: 4, want: PublishComparison{Outcome: v1alpha1.ConditionComplete}},
		"all rounds":                     {runs: 4, see: published, want: RemoveDatabase{2}, says: "; " + database},
		"all rounds, on success":         {comparison: []func(*v1alpha1.BenchmarkComparison){onSuccess}, runs: 4, see: published, want: RemoveDatabase{2}},
		"failed":                         {comparison: []func(*v1alpha1.BenchmarkComparison){failedComparison}, runs: 1, want: RemoveDatabase{2}, says: "; " + database},
		"failed, on success":             {comparison: []func(*v1alpha1.BenchmarkComparison){failedComparison, onSuccess}, runs: 1, want: ReleaseNodes{2}, says: "; " + budget},
		"finished, it came late":         {comparison: []func(*v1alpha1.BenchmarkComparison){complete}, runs: 4, want: RemoveDatabase{2}},
		"suspended":                      {comparison: []func(*v1alpha1.BenchmarkComparison){suspended}, runs: 1, want: RemoveDatabase{2}},
		"suspended, a run is under way":  {comparison: []func(*v1alpha1.BenchmarkComparison){suspended}, runs: 1, begun: true, want: Wait{}},
		"lane lost":                      {runs: 1, see: lost, want: RemoveDatabase{2}},
		"lane lost, a run is under way":  {runs: 1, see: lost, begun: true, want: Wait{}},
		"finished, the server goes down": {comparison: []func(*v1alpha1.BenchmarkComparison){complete}, runs: 4, see: func(o *ComparisonObserved) { removed(&o.Instances[0]) }, want: Wait{}},
		"finished, it stays": {
			comparison: []func(*v1alpha1.BenchmarkComparison){finishedComparison, onSuccess}, runs: 1,
			see: func(o *ComparisonObserved) { o.Instances[0].Budget = nil }, want: ReleaseLane{HolderOfComparison(testutil.Pair())},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(append(tc.comparison, testutil.FixedRounds(2))...)
			p := planOfComparison(t, s)
			seen := sharedRuns(s, p, tc.runs)
			if tc.see != nil {
				tc.see(seen)
			}
			if tc.begun {
				seen.begin(s, p, tc.runs, suspendedRun, sharedBy(2, "pod"))
			}
			d := NextOfComparison(s, p, seen, now)
			if !strings.HasSuffix(d.Message, tc.says) {
				t.Errorf("it says %q, want %q", d.Message, tc.says)
			}
			got := d.Action
			if made, ok := got.(CreateMember); ok {
				got = CreateMember{Shared: made.Shared}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("action (-want +got):\n%s", diff)
			}
		})
	}
}

// The highest number of an instance is not forgotten, no matter who has made or removed it.
func TestLastInstanceOfAComparison(t *testing.T) {
	s := testutil.Pair(testutil.FixedRounds(2))
	p := planOfComparison(t, s)
	seen := sharedRuns(s, p, 1)
	look := func(want int32) {
		t.Helper()
		s.Status = StatusOfComparison(s, p, seen, Decision{Action: Wait{}}, now)
		if got := ptr.Deref(s.Status.LastInstance, 0); got != want {
			t.Errorf("the last instance is %d, want %d", got, want)
		}
	}
	seen.Instances = nil
	look(0)
	seen.Members[0].Run.Status.RemovedInstances = ptr.To[int32](1)
	look(1)
	seen.Instances = []Instance{instanceOf(2, "pod")}
	look(2)
	seen.Instances, seen.Members[0] = nil, analysis.Member{}
	look(2)
}

// A removal in the last second of a comparison is not one second late.
func TestComparisonEndsAfterItsDeadline(t *testing.T) {
	s := testutil.Pair(testutil.FixedRounds(2), func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.DeadlineSeconds, s.Status.StartTime = ptr.To[int32](3600), ptr.To(ago(time.Hour))
	})
	p := planOfComparison(t, s)
	seen := sharedRuns(s, p, 4)
	seen.Results = new(v1alpha1.ResultsReference)
	if d := NextOfComparison(s, p, seen, now); d.Action != (RemoveDatabase{2}) || d.Failure != nil {
		t.Errorf("it decides %+v", d)
	}
}

// Copies of prepared data are removed when the results are there.
func TestDataCopiesOfAComparison(t *testing.T) {
	s := testutil.Pair(testutil.FixedRounds(2))
	p := planOfComparison(t, s)
	seen := measuredRuns(s, p, 4)
	seen.Results, seen.DataCopies = new(v1alpha1.ResultsReference), true
	want := Decision{
		Action: RemoveDataCopies{}, Reason: v1alpha1.ReasonPublishing,
		Message: "all 2 rounds are measured; the copies of the data are being removed",
	}
	if diff := cmp.Diff(want, NextOfComparison(s, p, seen, now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	seen.DataCopies = false
	if d := NextOfComparison(s, p, seen, now); !d.Complete {
		t.Errorf("without a copy: %+v", d)
	}
}

// automatic is a comparison that measures in slices where there is room for them.
func automatic(s *v1alpha1.BenchmarkComparison) {
	alternating(s)
	s.Spec.Alternation, s.Spec.TrialsPerRound = v1alpha1.AlternateAutomatic, nil
	s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}}
}

// says is a run that was made so long ago, and whose condition Ready has that reason.
func says(reason string, age time.Duration) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		r.CreationTimestamp, r.Status.Environment.DatabaseNode = ago(age), "worker"
		r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: reason, Message: "Insufficient cpu"}}
	}
}

func memberNamed(seen *ComparisonObserved, name string) *analysis.Member {
	for i := range seen.Members {
		if m := &seen.Members[i]; m.Run != nil && m.Run.Name == name {
			return m
		}
	}
	return nil
}

// A first round without room for all servers is given up after a while, if the comparison may choose, and begins again with whole
// runs: that is written down first, and all runs that wait for each other go before another one is made.
func TestNoRoom(t *testing.T) {
	lacks := says(v1alpha1.ReasonWaitingForRoom, time.Minute)
	s, p, seen := firstRound(t, automatic, waits(0), lacks)
	seen.Current[0].UID, seen.Members[0].Run.UID = "first", "first"
	if p.Alternation != v1alpha1.AlternateSlices {
		t.Fatalf("it begins with %s: %s", p.Alternation, p.AlternationReason)
	}
	d := NextOfComparison(s, p, seen, now)
	if d.Action != (Wait{}) || !strings.Contains(d.Message, "Insufficient cpu") || d.After <= 0 {
		t.Fatalf("%+v", d)
	}
	s.Status = StatusOfComparison(s, p, seen, d, now)
	if s.Status.Alternation != v1alpha1.AlternateRuns || !strings.Contains(s.Status.AlternationReason, "Insufficient cpu") {
		t.Fatalf("%s: %s", s.Status.Alternation, s.Status.AlternationReason)
	}
	p, seen.Current = planOfComparison(t, s), s.Status.CurrentRuns
	for range 2 {
		d := NextOfComparison(s, p, seen, now)
		a, ok := d.Action.(RemoveMember)
		if !ok || !strings.Contains(d.Message, "begins again with whole runs") {
			t.Fatalf("%+v", d)
		}
		memberNamed(seen, a.Name).Run.DeletionTimestamp = ptr.To(ago(time.Second))
	}
	if d := NextOfComparison(s, p, seen, now); d.Action != (Wait{}) {
		t.Errorf("while they are being deleted: %+v", d)
	}
	seen.Members[0].Run, seen.Members[1].Run = nil, nil
	create, ok := NextOfComparison(s, p, seen, now).Action.(CreateMember)
	if !ok || len(create.Beside) > 0 {
		t.Fatalf("%+v", create)
	}
	seen.begin(s, p, 0)
	s.Status = StatusOfComparison(s, p, seen, Decision{Action: Wait{}}, now)
	if a, named := AlternationOf(seen.Members[0].Run, s); a != nil || !named {
		t.Errorf("the run waits for others: %+v, named %t", a, named)
	}
	if d := NextOfComparison(s, p, seen, now); d.Action != (Wait{}) || d.After != 0 {
		t.Errorf("its run is under way: %+v", d)
	}
}

// Who waits for room, and for how long.
func TestWithoutRoom(t *testing.T) {
	room, refused := v1alpha1.ReasonWaitingForRoom, v1alpha1.ReasonRefused
	for name, tc := range map[string]struct {
		of     func(*v1alpha1.BenchmarkComparison)
		second func(*v1alpha1.BenchmarkRun)
		want   v1alpha1.Alternation
	}{
		"for a while":          {automatic, says(room, 10*time.Second), v1alpha1.AlternateSlices},
		"for too long":         {automatic, says(room, time.Minute), v1alpha1.AlternateRuns},
		"a quota is full":      {automatic, says(refused, time.Minute), v1alpha1.AlternateRuns},
		"a queue is full":      {automatic, says(v1alpha1.ReasonWaitingForKueue, time.Minute), v1alpha1.AlternateRuns},
		"it has room":          {automatic, says(v1alpha1.ReasonProvisioningDatabase, time.Hour), v1alpha1.AlternateSlices},
		"it is alone":          {automatic, nil, v1alpha1.AlternateSlices},
		"slices are asked for": {sliced, says(room, time.Minute), v1alpha1.AlternateSlices},
	} {
		s, p, seen := firstRound(t, tc.of, waits(0), tc.second)
		if got := StatusOfComparison(s, p, seen, Decision{Action: Wait{}}, now).Alternation; got != tc.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	s, p, seen := firstRound(t, automatic, waits(0), says(room, time.Minute))
	invalidated(seen.Members[0].Run)
	if got := StatusOfComparison(s, p, seen, Decision{Action: Wait{}}, now).Alternation; got != v1alpha1.AlternateSlices {
		t.Errorf("after there was room: %s", got)
	}
}

// A comparison that is suspended while it gives up a round suspends all runs of it.
func TestNoRoomSuspended(t *testing.T) {
	s, p, seen := firstRound(t, automatic, waits(0), says(v1alpha1.ReasonWaitingForRoom, time.Minute))
	s.Status = StatusOfComparison(s, p, seen, Decision{Action: Wait{}}, now)
	p, seen.Current, s.Spec.Suspend = planOfComparison(t, s), s.Status.CurrentRuns, ptr.To(true)
	for range 2 {
		a, ok := NextOfComparison(s, p, seen, now).Action.(SuspendMember)
		if !ok {
			t.Fatalf("%+v", a)
		}
		memberNamed(seen, a.Name).Run.Spec.Suspend = ptr.To(true)
	}
}

// Whatever goes wrong: where there is no room, whole runs are measured, one at a time, and the comparison comes to an end.
func TestNoRoomByChance(t *testing.T) {
	byChance(t, automatic, func(w *turnsWorld) {
		want := v1alpha1.AlternateSlices
		if w.crowded {
			want = v1alpha1.AlternateRuns
		}
		complete := statuses(w.comparison.Status.Conditions)[v1alpha1.ConditionComplete] != ""
		if got := w.comparison.Status.Alternation; complete && got != want {
			w.t.Errorf("it has measured %s, want %s", got, want)
		}
	})
}

// While there is a choice nothing is measured before all servers are up, so that nothing is lost with a round that is given up:
// the second server starts as soon as the node of the first one is known.
func TestNothingIsMeasuredBeforeTheChoice(t *testing.T) {
	s, p, seen := firstRound(t, automatic, waits(0), nil)
	if p.Alternation != v1alpha1.AlternateSlices {
		t.Fatalf("it begins with %s", p.Alternation)
	}
	seen.Members[0].Run.Status.Environment.DatabaseNode = "worker"
	if a, ok := NextOfComparison(s, p, seen, now).Action.(CreateMember); !ok {
		t.Errorf("%+v", a)
	}
	for _, c := range StatusOfComparison(s, p, seen, Decision{Action: Wait{}}, now).CurrentRuns {
		if ptr.Deref(c.Trials, 0) != 0 {
			t.Errorf("%s may measure %d trials", c.Name, *c.Trials)
		}
	}
}
