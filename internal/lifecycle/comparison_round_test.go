// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strconv"
	"testing"

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
		want     map[int]int
	}{
		"the first one finds the nodes":       {[]int32{0, -1}, false, map[int]int{0: 1}},
		"it has":                              {[]int32{1, -1}, false, map[int]int{0: 1}},
		"anywhere, none before all are there": {[]int32{0, -1}, true, map[int]int{}},
		"the second one's first trial":        {[]int32{1, 0}, false, map[int]int{1: 1}},
		"second trials":                       {[]int32{1, 1}, false, map[int]int{second: 2}},
		"the other's second trial":            {map[int][]int32{0: {2, 1}, 1: {1, 2}}[second], false, map[int]int{other: 2}},
		"all are measured":                    {[]int32{3, 3}, false, map[int]int{0: 4, 1: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			s := testutil.Pair(alternating, func(s *v1alpha1.BenchmarkComparison) {
				if tc.placed {
					s.Spec.Template.Spec.Placement = v1alpha1.PlacementAny
				}
			})
			seen := &ComparisonObserved{ComparisonRuns: membersOf(p)}
			for i, n := range tc.measured {
				if n >= 0 {
					seen.begin(s, p, i, func(r *v1alpha1.BenchmarkRun) { r.Status.Trials.Measured = ptr.To(n) })
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

// turnsWorld is a world of a comparison whose runs have servers of their own, and take turns.
type turnsWorld struct{ *comparisonWorld }

func newTurnsWorld(t *testing.T, seed uint64) *turnsWorld {
	t.Helper()
	w := &turnsWorld{newComparisonWorld(t, seed)}
	alternating(w.comparison)
	w.plan, w.stepRun = planOfComparison(t, w.comparison), w.stepAlone
	return w
}

// calm says whether nobody but the comparison decides what happens.
func (w *turnsWorld) calm() bool {
	held := w.lane != nil && *w.lane == HolderOfComparison(w.comparison)
	return held && !ptr.Deref(w.comparison.Spec.Suspend, false) &&
		!slices.ContainsFunc(w.others(nil), func(r *world) bool { return ptr.Deref(r.run.Spec.Suspend, false) })
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
	r.seen.Instances = slices.DeleteFunc(r.seen.Instances, func(i Instance) bool { return i.Set == nil })
	r.seen.Judge(&r.run.Spec)
	d := Next(r.run, r.plan, &r.seen, w.clock)
	r.run.Status = Status(r.run, r.plan, &r.seen, d, w.clock)
	measured := slices.ContainsFunc(w.others(r), func(o *world) bool { return len(o.seen.Attempts) > 0 })
	switch a := d.Action.(type) {
	case ProvideDatabase:
		if measured && w.calm() {
			w.t.Errorf("%s starts a server while another run is measured", r.run.Name)
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
		w.startAlone(r, a.Attempt, measured)
	case RecordAttempt:
		r.record(a)
	case RemoveJob:
		r.seen.Attempts = slices.DeleteFunc(r.seen.Attempts, func(x Attempt) bool { return x.Job.Name == a.Name })
	case Publish:
		r.seen.Results = &v1alpha1.ResultsReference{ConfigMap: "results"}
	}
}

func (w *turnsWorld) startAlone(r *world, a trial.Attempt, measured bool) {
	w.t.Helper()
	if measured {
		w.t.Errorf("%s measures beside another run", r.run.Name)
	}
	for _, o := range w.others(r) {
		done := int(ptr.Deref(o.run.Status.Trials.Measured, 0))
		if done < a.Trial.Number-1 && w.calm() {
			w.t.Errorf("%s measures trial %d, and %s has measured %d", r.run.Name, a.Trial.Number, o.run.Name, done)
		}
	}
	r.start(a)
}

// Whatever goes wrong: one run is measured at a time, next to the same trial of the other, no server starts or stops meanwhile,
// and the comparison comes to an end.
func TestAlternationByChance(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(150) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w := newTurnsWorld(t, seed)
			steps := 0
			for !w.step() {
				if steps++; steps > 3000 {
					t.Fatalf("it does not end: %+v", w.comparison.Status)
				}
			}
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
