// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// sliced is a comparison of durable and lazy in slices, with two trials in each of two rounds.
func sliced(s *v1alpha1.BenchmarkComparison) {
	alternating(s)
	s.Spec.Alternation, s.Spec.TrialsPerRound = v1alpha1.AlternateSlices, ptr.To[int32](2)
}

// waits is a run whose server is up, and which has measured so many trials.
func waits(measured int32) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		r.Status.Trials.Measured = ptr.To(measured)
		r.Status.Environment.DatabaseNode = "worker"
		r.Status.Conditions = []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Reason: v1alpha1.ReasonWaitingForTurn, Message: "trial 1 was invalidated: Throttled",
		}}
	}
}

func measures(measured int32) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) { r.Status.Trials.Measured = ptr.To(measured) }
}

func invalidated(r *v1alpha1.BenchmarkRun) { r.Status.Trials.Invalidated = ptr.To[int32](1) }

// slicedRound is what is seen of the first round.
func slicedRound(
	t *testing.T, first, second func(*v1alpha1.BenchmarkRun), changes ...func(*v1alpha1.BenchmarkRun),
) (*v1alpha1.BenchmarkComparison, *comparisonPlan, *ComparisonObserved) {
	t.Helper()
	return firstRound(t, sliced, first, second, changes...)
}

func firstRound(
	t *testing.T, of func(*v1alpha1.BenchmarkComparison), first, second func(*v1alpha1.BenchmarkRun),
	changes ...func(*v1alpha1.BenchmarkRun),
) (*v1alpha1.BenchmarkComparison, *comparisonPlan, *ComparisonObserved) {
	t.Helper()
	s := testutil.Pair(of)
	p := planOfComparison(t, s)
	seen := &ComparisonObserved{ComparisonRuns: membersOf(p), Checked: true, Lane: Lane{Holder: ptr.To(HolderOfComparison(s))}}
	seen.begin(s, p, 0, append(changes, first)...)
	if second != nil {
		current := seen.Current
		seen.begin(s, p, 1, second)
		seen.Current = append(current, seen.Current...)
	}
	return s, p, seen
}

// All variants measure the same trial at the same time, when all of them are ready.
func TestTurnsTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		first, second func(*v1alpha1.BenchmarkRun)
		want          map[int]int
	}{
		"one is missing":         {waits(0), nil, map[int]int{}},
		"one's server starts":    {waits(0), measures(0), map[int]int{}},
		"both wait":              {waits(0), waits(0), map[int]int{0: 1, 1: 1}},
		"one still measures":     {waits(1), measures(0), map[int]int{}},
		"both have measured one": {waits(1), waits(1), map[int]int{0: 2, 1: 2}},
		"all are measured":       {waits(2), measures(2), map[int]int{0: 3, 1: 3}},
	} {
		s, p, seen := slicedRound(t, tc.first, tc.second)
		if diff := cmp.Diff(tc.want, newComparisonSituation(s, p, seen, now).turns()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The second run of the first round is made as soon as the first one's server has a node, on which it starts, too.
func TestSecondRunInSlices(t *testing.T) {
	s, p, seen := slicedRound(t, measures(0), nil)
	if d := NextOfComparison(s, p, seen, now); d.Action != (Wait{}) {
		t.Errorf("beside a server without a node: %+v", d)
	}
	starts := func(r *v1alpha1.BenchmarkRun) { r.Status.Environment.DatabaseNode = "worker" }
	for name, first := range map[string]func(*v1alpha1.BenchmarkRun){"that starts": starts, "that is idle": waits(0)} {
		s, p, seen = slicedRound(t, first, nil)
		if d, ok := NextOfComparison(s, p, seen, now).Action.(CreateMember); !ok || d.DatabaseNode != "worker" || d.LoaderNodes != "" {
			t.Errorf("beside a server %s: %+v", name, d)
		}
	}
	s, p, seen = slicedRound(t, measures(0), nil)
	s.Spec.Template.Spec.Placement = v1alpha1.PlacementAny
	if d, ok := NextOfComparison(s, p, seen, now).Action.(CreateMember); !ok || d.DatabaseNode != "" {
		t.Errorf("where any node will do: %+v", d)
	}
}

// A round is not given up before the run that was disturbed has said why.
func TestDisturbedRunSaysWhy(t *testing.T) {
	s, p, seen := slicedRound(t, measures(0), waits(1), invalidated)
	if d := NextOfComparison(s, p, seen, now); strings.Contains(d.Message, "disturbed") {
		t.Errorf("%+v", d)
	}
	if got := newComparisonSituation(s, p, seen, now).disturbedRound(); len(got.Attempts) > 0 {
		t.Errorf("%+v", got)
	}
}

// A round of which a slice was invalidated begins again: that is written down first, then all runs go. Too often is too often.
func TestDisturbedRound(t *testing.T) {
	s, p, seen := slicedRound(t, waits(0), waits(1), invalidated)
	limit := int(v1alpha1.DefaultMaxInvalid)
	for attempt := 1; attempt <= limit; attempt++ {
		seen.Current[0].UID = "attempt-" + strconv.Itoa(attempt)
		seen.Members[0].Run.UID = types.UID(seen.Current[0].UID)
		d := NextOfComparison(s, p, seen, now)
		if d.Action != (Wait{}) || d.Failure != nil || !strings.Contains(d.Message, "Throttled") {
			t.Fatalf("attempt %d: %+v", attempt, d)
		}
		s.Status = StatusOfComparison(s, p, seen, d, now)
		if got := s.Status.Disturbed; got.Round != 1 || len(got.Attempts) != attempt {
			t.Fatalf("attempt %d: %+v", attempt, got)
		}
		if _, ok := NextOfComparison(s, p, seen, now).Action.(RemoveMember); !ok {
			t.Errorf("attempt %d: its runs stay", attempt)
		}
	}
	for i := range 2 {
		seen.Members[i].Run.DeletionTimestamp = ptr.To(ago(time.Second))
	}
	if d := NextOfComparison(s, p, seen, now); d.Action != (Wait{}) {
		t.Errorf("its runs are being deleted: %+v", d)
	}
	seen.Current[0].UID = "once-more"
	seen.Members[0].Run.UID = "once-more"
	if d := NextOfComparison(s, p, seen, now); d.Failure == nil || d.Failure.Reason != v1alpha1.ReasonTooManyInvalid {
		t.Errorf("after %d attempts: %+v", limit, d)
	}
}

// Each round may be disturbed as often as any other.
func TestDisturbedRoundsAreCountedAlone(t *testing.T) {
	s, p, seen := slicedRound(t, waits(0), waits(1), invalidated)
	s.Status.Disturbed = v1alpha1.DisturbedRound{Round: 7, Attempts: []string{"a", "b", "c"}}
	want := v1alpha1.DisturbedRound{Round: 1, Attempts: []string{"u"}}
	if diff := cmp.Diff(want, newComparisonSituation(s, p, seen, now).disturbedRound()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A run is told whose observer gives the turns, and which place it has.
func TestSlicesOf(t *testing.T) {
	s, p, seen := slicedRound(t, waits(0), waits(0))
	seen.Current[0].UID, seen.Current[1].UID = "first", "second"
	seen.Members[0].Run.UID, seen.Members[1].Run.UID = "first", "second"
	s.Status = StatusOfComparison(s, p, seen, Decision{Action: Wait{}}, now)
	s.Spec.SliceMilliseconds = ptr.To[int32](200)
	for place := range 2 {
		a, named := AlternationOf(seen.Members[place].Run, s)
		want := &Alternation{Trials: 1, Runs: 2, Slices: &trial.Slices{
			First: seen.Members[0].Run.Name, FirstUID: "first", Variants: 2, Place: place, Milliseconds: 200,
		}}
		if diff := cmp.Diff(want, a); diff != "" || !named {
			t.Errorf("run %d: named %t, (-want +got):\n%s", place, named, diff)
		}
	}
}

// startTogether lets a run begin a trial that it measures in slices.
func (w *turnsWorld) startTogether(r *world, a trial.Attempt) {
	w.t.Helper()
	if a.Number != 1 && w.calm() {
		w.t.Errorf("%s measures trial %d again", r.run.Name, a.Trial.Number)
	}
	round := strings.TrimRight(r.run.Name, "abcdefghijklmnopqrstuvwxyz") // s-r1-
	for _, o := range w.runs {
		if o == r || !strings.HasPrefix(o.run.Name, round) {
			continue
		}
		done := int(ptr.Deref(o.run.Status.Trials.Measured, 0))
		if w.calm() && (done < a.Trial.Number-1 || done > a.Trial.Number || o.finished()) {
			w.t.Errorf("%s measures trial %d, and %s has measured %d", r.run.Name, a.Trial.Number, o.run.Name, done)
		}
	}
	r.start(a)
}

// Whatever goes wrong: all variants measure the same trial at the same time, a round in which one was disturbed counts for nothing,
// and the comparison comes to an end.
func TestSlicesByChance(t *testing.T) {
	byChance(t, sliced, func(w *turnsWorld) {
		for _, r := range w.runs {
			complete := statuses(r.run.Status.Conditions)[v1alpha1.ConditionComplete] != ""
			if n := ptr.Deref(r.run.Status.Trials.Invalidated, 0); complete && n > 0 && r.run.DeletionTimestamp == nil {
				w.t.Errorf("%s counts, and %d of its attempts were invalidated", r.run.Name, n)
			}
		}
	})
}
