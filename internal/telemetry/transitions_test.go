// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

var now = time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)

// conditions of an object with that reason of Ready, and conditions that are true.
func conditions(reason string, isTrue ...string) []metav1.Condition {
	list := []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: "message of " + reason}}
	for _, c := range isTrue {
		list = append(list, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: reason, Message: "message of " + reason})
	}
	return list
}

// attempts of trials 1, 2 and so on, each of three seconds and a second after the one before: o counts, x is disturbed, f failed.
func attempts(kinds string) []*result.Record {
	var list []*result.Record
	start := now.Add(-time.Hour)
	for i, kind := range kinds {
		r := testutil.Record(i+1, 1, nil, 1000)
		r.Summary.Identity.Started, r.Summary.Identity.Ended = start, start.Add(3*time.Second)
		start = start.Add(4 * time.Second)
		switch kind {
		case 'x':
			r.Outcome, r.Cause, r.Message = result.OutcomeInvalidated, result.CauseEvicted, "drained"
		case 'f':
			r.Outcome, r.Cause, r.Message = result.OutcomeFailed, result.CauseSQL, "syntax"
		}
		list = append(list, r)
	}
	return list
}

// statusAfter is the status of a run that counts the attempts up to a trial.
func statusAfter(run *v1alpha1.BenchmarkRun, trial int, list []metav1.Condition) v1alpha1.BenchmarkRunStatus {
	s := v1alpha1.BenchmarkRunStatus{Conditions: list}
	if trial > 0 {
		s.Records.ConfigMap = plan.AttemptName(run, trial, 1)
	}
	return s
}

// lines are what the log says of transitions.
func lines(transitions []Transition) []string {
	var list []string
	for i := range transitions {
		list = append(list, strings.TrimSuffix(fmt.Sprintln(transitions[i].KeysAndValues()...), "\n"))
	}
	return list
}

func TestTransitionsOfARun(t *testing.T) {
	measuring, complete := conditions("Measuring"), conditions("Complete", v1alpha1.ConditionComplete, v1alpha1.ConditionFinished)
	failed := conditions("Publishing", v1alpha1.ConditionFailed)
	failed[1].Reason, failed[1].Message = "Rejected", "quota"
	const attempt = "run ns/r trial %d attempt 1 from Started to %s"
	accepted := func(trial int) string { return fmt.Sprintf(attempt, trial, "Accepted") }
	starts := func(trial int) string {
		return fmt.Sprintf("run ns/r trial %d attempt 1 from Pending to Started", trial)
	}
	for name, tc := range map[string]struct {
		counted int
		started string
		old     []metav1.Condition
		current []metav1.Condition
		records string
		want    []string
	}{
		"nothing":             {},
		"a first status":      {current: measuring, want: []string{"run ns/r from Pending to Measuring reason Measuring message message of Measuring"}},
		"another message":     {old: measuring, current: func() []metav1.Condition { c := conditions("Measuring"); c[0].Message = "x"; return c }()},
		"one more":            {counted: 1, old: measuring, current: measuring, records: "oo", want: []string{accepted(2)}},
		"none":                {counted: 2, old: measuring, current: measuring, records: "oo"},
		"the records unknown": {counted: 5, old: measuring, current: measuring, records: "oo"},
		"of all kinds": {
			old: measuring, current: measuring, records: "oxf",
			want: []string{
				accepted(1), fmt.Sprintf(attempt, 2, "Invalidated reason Evicted message drained"),
				fmt.Sprintf(attempt, 3, "Failed reason SQL message syntax"),
			},
		},
		"started":        {counted: 1, started: "r-t2-a1", old: measuring, current: measuring, records: "o", want: []string{starts(2)}},
		"started before": {counted: 1, started: "r-t1-a1", old: measuring, current: measuring, records: "o"},
		"recorded, and the next started": {
			started: "r-t2-a1", old: measuring, current: measuring, records: "o", want: []string{accepted(1), starts(2)},
		},
		"started and recorded": {
			started: "r-t2-a1", old: measuring, current: measuring, records: "oo", want: []string{accepted(1), starts(2), accepted(2)},
		},
		"the end": {
			counted: 1, old: measuring, current: complete, records: "oo",
			want: []string{accepted(2), "run ns/r from Measuring to Complete reason Complete message message of Complete"},
		},
		"failed":               {old: measuring, current: failed, want: []string{"run ns/r from Measuring to Failed reason Rejected message quota"}},
		"failed, and finished": {old: failed, current: append(conditions("Rejected", v1alpha1.ConditionFinished), failed[1])},
	} {
		run := testutil.MakeRun("r", "ns").Obj()
		old := statusAfter(run, tc.counted, tc.old)
		old.Attempt.Name, run.Status.Attempt.Name = "r-t1-a1", tc.started
		run.Status.Conditions = tc.current
		must.Same(t, name, tc.want, lines(OfRun(run, &old, attempts(tc.records))))
	}
}

// A pause is not dead time, and neither is the difference between two clocks.
func TestDeadTime(t *testing.T) {
	admitted := func(at time.Time) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)}}
	}
	for name, tc := range map[string]struct {
		change     func(last, next *result.Record)
		conditions []metav1.Condition
		want       string
	}{
		"a second":            {conditions: admitted(now.Add(-2 * time.Hour)), want: "1s"},
		"of a run at its end": {want: "1s"},
		"the lane was lost":   {conditions: admitted(now), want: "-"},
		"clocks differ":       {change: func(last, _ *result.Record) { last.Summary.Identity.Ended = now }, want: "-"},
		"no summary":          {change: func(last, _ *result.Record) { last.Summary = nil }, want: "-"},
		"no end":              {change: func(last, _ *result.Record) { last.Summary.Identity.Ended = time.Time{} }, want: "-"},
	} {
		list := attempts("oo")
		if tc.change != nil {
			tc.change(list[0], list[1])
		}
		got := "-"
		if dead := deadTime(list[0], list[1], tc.conditions); dead != nil {
			got = dead.String()
		}
		must.Same(t, name, tc.want, got)
	}
}
