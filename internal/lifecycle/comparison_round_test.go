// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// alternating is a comparison of durable and lazy whose trials alternate, three in each of two rounds.
func alternating(s *v1alpha1.BenchmarkComparison) {
	testutil.FixedRounds(2)(s)
	s.Spec.Alternation, s.Spec.TrialsPerRound = v1alpha1.AlternateTrials, ptr.To[int32](3)
	s.Spec.Template.Spec.Workload.CommitSize.Sweep = nil
}

// Who may measure how many trials, when the members of the first round have measured so many; -1 is a run that does not exist.
func TestTurns(t *testing.T) {
	s := testutil.Pair(alternating)
	p := planOfComparison(t, s)
	order := plan.Turns(p.Members[0].Seed, 2, 3)
	second := order[2] // who is first to measure its second trial
	other := 1 - second
	for name, tc := range map[string]struct {
		measured []int32
		placed   bool
		starts   bool // the last one's server does
		want     map[int]int
	}{
		"the first one finds the nodes":       {[]int32{0, -1}, false, false, map[int]int{0: 1}},
		"it has":                              {[]int32{1, -1}, false, false, map[int]int{0: 1}},
		"anywhere, none before all are there": {[]int32{0, -1}, true, false, map[int]int{}},
		"none before all servers are up":      {[]int32{0, 0}, true, true, map[int]int{}},
		"first trials":                        {[]int32{0, 0}, true, false, map[int]int{order[0]: 1}},
		"the second one's server starts":      {[]int32{1, 0}, false, true, map[int]int{}},
		"the second one's first trial":        {[]int32{1, 0}, false, false, map[int]int{1: 1}},
		"second trials":                       {[]int32{1, 1}, false, false, map[int]int{second: 2}},
		"the other's second trial":            {map[int][]int32{0: {2, 1}, 1: {1, 2}}[second], false, false, map[int]int{other: 2}},
		"all are measured":                    {[]int32{3, 3}, false, true, map[int]int{0: 4, 1: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(alternating, func(s *v1alpha1.BenchmarkComparison) {
				if tc.placed {
					s.Spec.Template.Spec.Placement = v1alpha1.PlacementAny
				}
			})
			seen := &ComparisonObserved{ComparisonRuns: membersOf(p)}
			for i, n := range tc.measured {
				if last := i == len(tc.measured)-1; n >= 0 && tc.starts && last {
					seen.begin(s, p, i, measures(n))
				} else if n >= 0 {
					seen.begin(s, p, i, waits(n))
				}
			}
			if diff := cmp.Diff(tc.want, newComparisonSituation(s, p, seen, now).turns()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What was allowed stays allowed, whatever an old cache says of the runs.
func TestTurnsAreNotTakenBack(t *testing.T) {
	s := testutil.Pair(alternating)
	p := planOfComparison(t, s)
	seen := &ComparisonObserved{ComparisonRuns: membersOf(p)}
	seen.begin(s, p, 0).begin(s, p, 1)
	seen.Current = []v1alpha1.CurrentRun{{Name: seen.Members[0].Run.Name, UID: "u", Trials: ptr.To[int32](2)}, seen.Current[0]}
	if got := *newComparisonSituation(s, p, seen, now).currentRuns()[0].Trials; got != 2 {
		t.Errorf("%d trials are allowed, 2 were", got)
	}
}

// When the second run of a round is made: beside a server that is up and idle and, in the first round, on the nodes of its first
// trial.
func TestSecondRunOfARound(t *testing.T) {
	waiting := func(r *v1alpha1.BenchmarkRun) {
		r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: v1alpha1.ReasonWaitingForTurn}}
	}
	measured := func(r *v1alpha1.BenchmarkRun) {
		r.Status.Trials.Measured = ptr.To[int32](1)
		r.Status.Environment = v1alpha1.Environment{DatabaseNode: "worker", LoaderNode: "worker2"}
	}
	anywhere := func(s *v1alpha1.BenchmarkComparison) { s.Spec.Template.Spec.Placement = v1alpha1.PlacementAny }
	for name, tc := range map[string]struct {
		finished int
		first    []func(*v1alpha1.BenchmarkRun)
		change   func(*v1alpha1.BenchmarkComparison)
		node     string
		want     Action
	}{
		"the first has measured nothing":  {0, []func(*v1alpha1.BenchmarkRun){waiting}, alternating, "", Wait{}},
		"the first is measuring":          {0, []func(*v1alpha1.BenchmarkRun){measured}, alternating, "", Wait{}},
		"the first waits":                 {0, []func(*v1alpha1.BenchmarkRun){waiting, measured}, alternating, "worker", CreateMember{}},
		"anywhere":                        {0, []func(*v1alpha1.BenchmarkRun){waiting}, anywhere, "", CreateMember{}},
		"second round, the server starts": {2, nil, alternating, "worker", CreateMember{}},
		"second round, before all trials": {2, []func(*v1alpha1.BenchmarkRun){waiting}, alternating, "worker", CreateMember{}},
		"not while trials do not alternate": {0, []func(*v1alpha1.BenchmarkRun){waiting, measured}, func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Alternation, s.Spec.TrialsPerRound = v1alpha1.AlternateRuns, nil
		}, "", Wait{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(alternating, tc.change)
			p := planOfComparison(t, s)
			seen := measuredRuns(s, p, tc.finished).begin(s, p, tc.finished, tc.first...)
			d := NextOfComparison(s, p, seen, now)
			if got, want := fmt.Sprintf("%T", d.Action), fmt.Sprintf("%T", tc.want); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
			create, creates := d.Action.(CreateMember)
			if !creates {
				return
			}
			if create.DatabaseNode != tc.node || len(create.Beside) != 1 || create.Member != p.Members[tc.finished+1] {
				t.Errorf("%+v", create)
			}
			run := plan.MemberRun(s, create.Member)
			run.UID = "second"
			if got := create.Current(run); len(got) != 2 || got[0].UID != "u" || got[1].UID != "second" {
				t.Errorf("then current are %+v", got)
			}
		})
	}
}

// What is under way when the comparison is suspended, or has lost its lane.
func TestInterruptedRound(t *testing.T) {
	trials := func(n int32) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) { r.Status.Trials.Measured = ptr.To(n) }
	}
	for name, tc := range map[string]struct {
		measured int32
		change   func(*v1alpha1.BenchmarkComparison)
		want     Action
		lost     Action
	}{
		"trials are left":    {2, alternating, RemoveMember{Name: "s-r1-lazy", UID: "u"}, RemoveMember{Name: "s-r1-lazy", UID: "u"}},
		"all are measured":   {3, alternating, SuspendMember{Name: "s-r1-lazy", Suspend: true}, SuspendMember{Name: "s-r1-lazy", Suspend: true}},
		"of a run by itself": {1, func(*v1alpha1.BenchmarkComparison) {}, SuspendMember{Name: "s-r1-lazy", Suspend: true}, Wait{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(tc.change)
			p := planOfComparison(t, s)
			seen := measuredRuns(s, p, 0).begin(s, p, 0, trials(tc.measured))
			if s.Spec.Alternation == v1alpha1.AlternateTrials {
				current := seen.Current
				seen.begin(s, p, 1, trials(tc.measured)).Current = slices.Concat(current, seen.Current)
			}
			s.Spec.Suspend = ptr.To(true)
			if d := NextOfComparison(s, p, seen, now); d.Action != tc.want {
				t.Errorf("suspended: %+v, want %+v", d.Action, tc.want)
			}
			s.Spec.Suspend, seen.Lane = nil, Lane{Holder: &Holder{Kind: RunKind, Namespace: "ns", Name: "other", UID: "other"}}
			if d := NextOfComparison(s, p, seen, now); d.Action != tc.lost {
				t.Errorf("without its lane: %+v, want %+v", d.Action, tc.lost)
			}
		})
	}
}

// A run that alternates has as long as all of them, by default; what was asked for stays.
func TestDeadlineOfAlternatingRuns(t *testing.T) {
	run := oneAxis(1, 2)
	alone := newSituation(run, planOf(t, run), &Observed{}, now)
	two := newSituation(run, planOf(t, run), &Observed{Alternation: &Alternation{Runs: 2}}, now)
	if got, want := two.longest(), 2*alone.longest(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if two.quietTime() != two.longest() {
		t.Errorf("it may make no progress for %s, want %s", two.quietTime(), two.longest())
	}
	many := newSituation(run, planOf(t, run), &Observed{Alternation: &Alternation{Runs: 1 << 40}}, now)
	if got := many.longest(); got != maxDeadline {
		t.Errorf("of many: %s", got)
	}
	run.Spec.DeadlineSeconds = ptr.To[int32](60)
	if got := newSituation(run, planOf(t, run), &Observed{Alternation: &Alternation{Runs: 2}}, now).longest(); got != time.Minute {
		t.Errorf("with a deadline of a minute: %s", got)
	}
}

// turnsWorld is a world of a comparison whose runs have servers of their own, and take turns.
type turnsWorld struct {
	*comparisonWorld
	// crowded: the second server has no room beside the first one.
	crowded bool
	// beside counts the servers that started while one of the round before stopped.
	beside int
}

func newTurnsWorld(t *testing.T, seed uint64, change func(*v1alpha1.BenchmarkComparison)) *turnsWorld {
	t.Helper()
	w := &turnsWorld{comparisonWorld: newComparisonWorld(t, seed)}
	change(w.comparison)
	w.crowded = w.comparison.Spec.Alternation == v1alpha1.AlternateAutomatic && seed%2 == 0
	w.plan, w.stepRun = planOfComparison(t, w.comparison), w.stepAlone
	return w
}

// calm says whether only the comparison decides what happens, and nothing was disturbed.
func (w *turnsWorld) calm() bool {
	held := w.lane != nil && *w.lane == HolderOfComparison(w.comparison)
	return held && !ptr.Deref(w.comparison.Spec.Suspend, false) &&
		!slices.ContainsFunc(w.others(nil), func(r *world) bool {
			disturbed := w.plan.Alternation == v1alpha1.AlternateSlices &&
				(ptr.Deref(r.run.Status.Trials.Invalidated, 0) > 0 || r.run.DeletionTimestamp != nil)
			return ptr.Deref(r.run.Spec.Suspend, false) || disturbed
		})
}

// others are the runs that have not finished, but one.
func (w *turnsWorld) others(but *world) []*world {
	var list []*world
	for _, r := range w.runs {
		if r != but && !r.finished() {
			list = append(list, r)
		}
	}
	return list
}

// stepAlone lets a run take a step, with what must be so of it.
func (w *turnsWorld) stepAlone(r *world) {
	w.t.Helper()
	r.seen.Lane, r.clock = Lane{Lease: "s/l", Holder: w.lane}, w.clock
	r.seen.Alternation, r.seen.Named = AlternationOf(r.run, w.comparison)
	// A server takes its time to stop.
	r.seen.Instances = slices.DeleteFunc(r.seen.Instances, func(i Instance) bool { return i.Set == nil && w.rng.IntN(3) == 0 })
	r.seen.Judge(r.run)
	d := Next(r.run, r.plan, &r.seen, w.clock)
	r.run.Status = Status(r.run, r.plan, &r.seen, d, w.clock)
	measured := slices.ContainsFunc(w.others(r), func(o *world) bool { return len(o.seen.Attempts) > 0 })
	if w.plan.Alternation == v1alpha1.AlternateSlices && len(r.seen.Attempts) == 0 {
		measured = false // nobody measures before all loaders have met
	}
	switch a := d.Action.(type) {
	case ProvideDatabase:
		if measured && w.calm() {
			w.t.Errorf("%s starts a server while another run is measured", r.run.Name)
		}
		if w.stopping() {
			w.beside++
		}
		i := instanceOf(a.Instance, w.uid())
		i.Set.CreationTimestamp = metav1.NewTime(w.clock)
		r.seen.Instances = append(r.seen.Instances, i)
	case RemoveDatabase:
		if measured && w.calm() {
			w.t.Errorf("%s stops its server while another run is measured", r.run.Name)
		}
		r.seen.instance(a.Instance).Set = nil
	case StartAttempt:
		if w.stopping() {
			w.t.Errorf("%s measures while a server of another round stops", r.run.Name)
		}
		if a.Attempt.Slices != nil {
			w.startTogether(r, a.Attempt)
		} else {
			w.startAlone(r, a.Attempt, measured)
		}
	case RecordAttempt:
		r.record(a)
	case RemoveJob:
		r.seen.Attempts = slices.DeleteFunc(r.seen.Attempts, func(x Attempt) bool { return x.Job.Name == a.Job.Name })
	case Publish:
		r.seen.Results = &v1alpha1.ResultsReference{ConfigMap: "results"}
	}
	if first := w.comparison.Status.CurrentRuns; w.crowded && r.seen.Alternation != nil && r.run.Name != first[0].Name {
		r.seen.Instances = nil // its Pod has no node
		says(v1alpha1.ReasonWaitingForRoom, 0)(r.run)
	}
	if chosen := w.comparison.Status.Alternation; chosen != "" && chosen != w.plan.Alternation {
		w.plan = planOfComparison(w.t, w.comparison) // as the operator does in each step, which takes longer than the step
	}
}

// stopping says whether a server is left of a run that has finished.
func (w *turnsWorld) stopping() bool {
	for _, r := range w.runs {
		if leftBy(r) != NothingLeft {
			return true
		}
	}
	return false
}

func (w *turnsWorld) startAlone(r *world, a trial.Attempt, measured bool) {
	w.t.Helper()
	if measured {
		w.t.Errorf("%s measures beside another run", r.run.Name)
	}
	for _, o := range w.others(r) {
		done := int(ptr.Deref(o.run.Status.Trials.Measured, 0))
		if done < a.Trial.Number-1 && w.calm() && w.plan.Alternation.Together() {
			w.t.Errorf("%s measures trial %d, and %s has measured %d", r.run.Name, a.Trial.Number, o.run.Name, done)
		}
	}
	r.start(a)
}

// byChance lets comparisons come to their end in 150 worlds, and looks at each world then. Enough of them measure all rounds.
func byChance(t *testing.T, change func(*v1alpha1.BenchmarkComparison), look func(*turnsWorld)) {
	t.Helper()
	ends := map[string]int{}
	for seed := range uint64(150) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w := newTurnsWorld(t, seed, change)
			steps := 0
			for !w.step() {
				if steps++; steps > 3000 {
					t.Fatalf("it does not end: %+v", w.comparison.Status)
				}
			}
			look(w)
			for _, end := range []string{v1alpha1.ConditionComplete, v1alpha1.ConditionFailed} {
				if c := statuses(w.comparison.Status.Conditions)[end]; c != "" {
					ends[end+" "+c]++
				}
			}
		})
	}
	t.Logf("ends: %v", ends)
	if ends["Complete True Undecided"] < 50 {
		t.Errorf("ends: %v", ends)
	}
}

// Whatever goes wrong: one run is measured at a time, next to the same trial of the other, no server starts or stops meanwhile,
// and the comparison comes to an end.
func TestAlternationByChance(t *testing.T) {
	beside := 0
	byChance(t, alternating, func(w *turnsWorld) { beside += w.beside })
	if beside < 50 {
		t.Errorf("%d servers started beside those of the round before", beside)
	}
}
