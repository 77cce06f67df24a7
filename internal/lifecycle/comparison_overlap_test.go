// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/hosttuning"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

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
		"a node that is to be restored": {Remains{Tuned: []*hosttuning.Record{{}}, Pods: []corev1.Pod{pod("gone", soon)}}, Working},
	} {
		if got := tc.remains.Left(sets.New[types.UID]("now"), sets.New[types.UID]("kept"), now); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
