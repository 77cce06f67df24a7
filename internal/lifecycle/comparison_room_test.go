// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
)

// automatic is a comparison that measures in slices where there is room for them.
func automatic(s *v1alpha1.BenchmarkComparison) {
	alternating(s)
	s.Spec.Alternation, s.Spec.TrialsPerRound = v1alpha1.AlternateAutomatic, nil
	s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}}
}

// crowded is one whose load has several connections, which take turns trial by trial.
func crowded(s *v1alpha1.BenchmarkComparison) {
	automatic(s)
	s.Spec.Template.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadBulkInsert, BulkInsert: &v1alpha1.BulkInsertWorkload{
		Rows: 1000, RowsPerStatement: 10, StatementsPerTransaction: 1, Concurrency: 4, Table: "Narrow", Tables: 1, StorageEngine: "InnoDB",
	}}
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
		"trials, for a while":  {crowded, says(room, 10*time.Second), v1alpha1.AlternateTrials},
		"trials, for too long": {crowded, says(room, time.Minute), v1alpha1.AlternateRuns},
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
	s, p, seen := firstRound(t, crowded, waits(0), nil)
	if p.Alternation != v1alpha1.AlternateTrials {
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
