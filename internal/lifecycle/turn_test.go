// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

const bounded = "the maximum of this installation (--max-turn)"

// A run whose turn is over ends, although it makes progress, or asked for as much; what it has measured is recorded first.
func TestTurnOfARun(t *testing.T) {
	for name, tc := range map[string]struct {
		seen      Observed
		requested *int32
		ends      bool
	}{
		"between two attempts":       {seen: Observed{Records: records(1), Instances: []Instance{instanceOf(1, "u")}}, ends: true},
		"in an attempt":              {seen: Observed{Attempts: []Attempt{attemptOf(1, 1, loading)}, Instances: []Instance{instanceOf(1, "u")}}, ends: true},
		"asked for as much":          {seen: Observed{Records: records(1), Instances: []Instance{instanceOf(1, "u")}}, requested: ptr.To[int32](3600), ends: true},
		"an attempt to be recorded":  {seen: Observed{Attempts: []Attempt{attemptOf(1, 1, vanished)}}},
		"results that are published": {seen: Observed{Records: records(1, 2)}},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 2)
			run.Spec.DeadlineSeconds, run.Status.StartTime = tc.requested, ptr.To(ago(time.Hour))
			tc.seen.MaxTurn = time.Hour
			if d := next(t, run, &tc.seen, now.Add(-time.Second)); d.Failure != nil {
				t.Errorf("ended before its turn was over: %v", d.Failure)
			}
			d := next(t, run, &tc.seen, now)
			if ended := d.Failure != nil && strings.Contains(d.Failure.Message, bounded); ended != tc.ends {
				t.Errorf("decided %+v with %+v", d.Action, d.Failure)
			}
			if got := statusOf(t, run, &tc.seen, now.Add(-time.Minute)).Deadline; got == nil || got.After(now) {
				t.Errorf("its deadline is %s, want at most %s", got, now)
			}
		})
	}
}

// The time for which a run was suspended is not of its turn.
func TestTurnWithoutPauses(t *testing.T) {
	run := oneAxis(1, 2)
	run.Status.StartTime, run.Status.SuspendedSeconds = ptr.To(ago(time.Hour)), ptr.To[int64](60)
	seen := &Observed{Records: records(1), Blockers: Blockers{MaxTurn: time.Hour}, Instances: []Instance{instanceOf(1, "u")}}
	if d := next(t, run, seen, now.Add(59*time.Second)); d.Failure != nil {
		t.Errorf("ended early: %v", d.Failure)
	}
	if d := next(t, run, seen, now.Add(time.Minute)); d.Failure == nil {
		t.Error("its turn has no end")
	}
}

func TestTurnOfAComparison(t *testing.T) {
	s := testutil.Pair(testutil.FixedRounds(2))
	p := planOfComparison(t, s)
	s.Status.StartTime = ptr.To(ago(time.Hour))
	seen := measuredRuns(s, p, 1)
	seen.MaxTurn = time.Hour
	if d := NextOfComparison(s, p, seen, now.Add(-time.Second)); d.Failure != nil {
		t.Errorf("ended before its turn was over: %v", d.Failure)
	}
	if d := NextOfComparison(s, p, seen, now); d.Failure == nil || !strings.Contains(d.Failure.Message, bounded) {
		t.Errorf("decided %+v", d)
	}
}

// One that asks for more than a turn does not begin. One that has begun, under a longer bound, goes on to the end of its turn;
// and a run of a comparison has no turn of its own.
func TestTurnRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		requested *int32
		change    func(*v1alpha1.BenchmarkRun)
		most      time.Duration
		refused   bool
	}{
		"more":                    {requested: ptr.To[int32](61), most: time.Minute, refused: true},
		"as much":                 {requested: ptr.To[int32](60), most: time.Minute},
		"nothing":                 {most: time.Minute},
		"no bound":                {requested: ptr.To[int32](61)},
		"has begun":               {requested: ptr.To[int32](61), most: time.Minute, change: func(r *v1alpha1.BenchmarkRun) { r.Status.StartTime = ptr.To(ago(0)) }},
		"belongs to a comparison": {requested: ptr.To[int32](61), most: time.Minute, change: ofComparison("s", "uid")},
	} {
		run := oneAxis(1, 2)
		run.Spec.DeadlineSeconds = tc.requested
		if tc.change != nil {
			tc.change(run)
		}
		f := RunTurnRefused(run, tc.most)
		if refused := f != nil; refused != tc.refused {
			t.Errorf("%s: %+v", name, f)
		}
		if f != nil && !strings.Contains(f.Message, "must be at most 60") {
			t.Errorf("%s: it says %q", name, f.Message)
		}
	}
	s := testutil.Pair(func(s *v1alpha1.BenchmarkComparison) { s.Spec.DeadlineSeconds = ptr.To[int32](61) })
	if ComparisonTurnRefused(s, time.Minute) == nil || ComparisonTurnRefused(s, 0) != nil {
		t.Error("of a comparison")
	}
}
