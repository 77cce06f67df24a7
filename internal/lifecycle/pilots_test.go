// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// piloted is a run at two points whose trials last five seconds at least.
func piloted() *v1alpha1.BenchmarkRun {
	run := oneAxis(2, 2)
	run.Spec.Trials.MinSeconds = ptr.To[int32](5)
	return run
}

// pilotRecord is the record of a pilot of the point of a trial.
func pilotRecord(number, attempt int, point string, rows int64) *result.Record {
	r := testutil.Record(number, attempt, map[string]string{"rowsPerCommit": point}, 800)
	r.Outcome, r.Rows = result.OutcomePilot, rows
	return r
}

func accepted(rows, micros int64) trial.Verdict {
	summary := testutil.Record(1, 1, nil, 800).Summary
	summary.Totals.Rows, summary.Totals.Micros = rows, micros
	return trial.Verdict{Stage: trial.StageEnded, Outcome: result.OutcomeAccepted, Summary: summary}
}

func TestPilot(t *testing.T) {
	run := piloted()
	seen := &Observed{Instances: []Instance{instanceOf(1, "db-pod")}}
	decided := func() Decision { return next(t, run, seen, now) }
	started := func() trial.Attempt {
		t.Helper()
		start, ok := decided().Action.(StartAttempt)
		if !ok {
			t.Fatalf("decision %s", describe(decided()))
		}
		return start.Attempt
	}
	if a := started(); !a.Pilot || a.Number != 1 || a.Rows != 0 {
		t.Errorf("first attempt: %+v, want a pilot", a)
	}
	if got, want := decided().Message, "trial 1 of 4 (rowsPerCommit=1), pilot: finding how many rows take trials.minSeconds"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	// The trials of that point have the rows that were decided first, those of the other point need a pilot of their own.
	seen.Records = []*result.Record{pilotRecord(1, 1, "1", 4400)}
	if a := started(); a.Pilot || a.Number != 2 || a.Rows != 4400 {
		t.Errorf("after the pilot: %+v, want the trial with 4400 rows", a)
	}
	one, two := map[string]string{"rowsPerCommit": "1"}, map[string]string{"rowsPerCommit": "2"}
	seen.Records = append(seen.Records, testutil.Record(1, 2, one, 800))
	if a := started(); a.Pilot || a.Trial.Number != 2 || a.Number != 1 || a.Rows != 4400 {
		t.Errorf("in the second round: %+v, want 4400 rows", a)
	}
	seen.Records = append(seen.Records, testutil.Record(2, 1, one, 800))
	if a := started(); !a.Pilot || a.Trial.Number != 3 {
		t.Errorf("at the second point: %+v, want a pilot", a)
	}
	seen.Records = append(seen.Records, pilotRecord(3, 1, "2", 9000), testutil.Record(3, 2, two, 800))
	if a := started(); a.Pilot || a.Trial.Number != 4 || a.Rows != 9000 {
		t.Errorf("in its second round: %+v, want 9000 rows", a)
	}
	if s := newSituation(run, planOf(t, run), seen, now); s.Measured != 3 || s.Invalidated != 0 || s.Planned != 4 {
		t.Errorf("%d of %d trials measured, %d invalidated; pilots must not count", s.Measured, s.Planned, s.Invalidated)
	}
}

// An attempt reports the headline of the plan first.
func TestAttemptHasTheMetric(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.Metric = "commitP99Micros"
	seen := &Observed{Instances: []Instance{instanceOf(1, "db-pod")}}
	if start, ok := next(t, run, seen, now).Action.(StartAttempt); !ok || start.Attempt.Metric != run.Spec.Metric {
		t.Errorf("%+v", start)
	}
}

// A pilot that was disturbed is made again, and one that failed ends the run as any other attempt does.
func TestPilotThatIsDisturbed(t *testing.T) {
	run := piloted()
	seen := &Observed{
		Instances: []Instance{instanceOf(1, "db-pod")},
		Records:   []*result.Record{disturbed(1, 1, result.OutcomeInvalidated, result.CauseEvicted)},
	}
	start, ok := next(t, run, seen, now).Action.(StartAttempt)
	if !ok || !start.Attempt.Pilot || start.Attempt.Number != 2 {
		t.Errorf("%+v, want the pilot as attempt 2", start)
	}
	seen.Records[0].Outcome = result.OutcomeFailed
	if d := next(t, run, seen, now); d.Failure == nil {
		t.Errorf("%s, want the end of the run", describe(d))
	}
}

// The pilot's own warm-up is the instance's.
func TestPilotWarmsUp(t *testing.T) {
	run := piloted()
	run.Spec.Trials.PrimeSeconds = ptr.To[int32](30)
	seen := &Observed{Instances: []Instance{instanceOf(1, "db-pod")}}
	for i, want := range []bool{true, false} {
		start, ok := next(t, run, seen, now).Action.(StartAttempt)
		if !ok || start.Attempt.Prime != want {
			t.Errorf("attempt %d: %+v, want a warm-up: %t", i+1, start, want)
		}
		seen.Records = []*result.Record{pilotRecord(1, 1, "1", 4400)}
	}
}

func TestRecordOfPilot(t *testing.T) {
	run := piloted()
	a := attemptOf(1, 1)
	a.Verdict = accepted(4000, 5_000_000)
	s := newSituation(run, planOf(t, run), &Observed{}, now)
	if got := s.recording(a); got.Rows != 4400 || got.Attempt.Verdict.Outcome != result.OutcomePilot {
		t.Errorf("%d rows, %s; want 4400 by a pilot", got.Rows, got.Attempt.Verdict.Outcome)
	}
	s.seen.Records = []*result.Record{pilotRecord(1, 1, "1", 4400)}
	if got := s.recording(a); got.Rows != 0 || got.Attempt.Verdict.Outcome != result.OutcomeAccepted {
		t.Errorf("%d rows, %s; want a trial that counts", got.Rows, got.Attempt.Verdict.Outcome)
	}
	a.Verdict.Outcome, s.seen.Records = result.OutcomeInvalidated, nil
	if got := s.recording(a); got.Rows != 0 || got.Attempt.Verdict.Outcome != result.OutcomeInvalidated {
		t.Errorf("%d rows, %s; want an attempt that does not count", got.Rows, got.Attempt.Verdict.Outcome)
	}
}

func TestEnoughRows(t *testing.T) {
	for _, tc := range []struct {
		requested, rows, micros int64
		want                    int64
	}{
		{100, 4000, 5_000_000, 4400},
		{100, 4001, 5_000_000, 4500}, // rounded up
		{100, 7, 5_000_000, 100},
		{1, 7, 5_000_000, 8},
		{10_000, 4000, 5_000_000, 10_000}, // what is asked for lasts longer
		{100, 4000, 5_500_000, 4000},      // clients that ended late
		{100, 4000, 0, 100},
		{100, 990_000_000, 5_000_000, 1_000_000_000}, // the most that can be asked for
	} {
		if got := enoughRows(tc.requested, result.Totals{Rows: tc.rows, Micros: tc.micros}, 5); got != tc.want {
			t.Errorf("enoughRows(%d, %d rows in %d µs) = %d, want %d", tc.requested, tc.rows, tc.micros, got, tc.want)
		}
	}
}
