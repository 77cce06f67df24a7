// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// status has counts, and conditions that are true.
func status(measured, invalidated int32, conditions ...string) v1alpha1.BenchmarkRunStatus {
	s := v1alpha1.BenchmarkRunStatus{Trials: v1alpha1.TrialCounts{Measured: &measured, Invalidated: &invalidated}}
	for _, t := range conditions {
		s.Conditions = append(s.Conditions, metav1.Condition{
			Type: t, Status: metav1.ConditionTrue, Reason: "Reason" + t, Message: "message of " + t,
		})
	}
	return s
}

// attempts of trials 1, 2 and so on: o counts, x is disturbed, p is a pilot.
func attempts(outcomes string) *lifecycle.Observed {
	seen := &lifecycle.Observed{}
	for i, o := range outcomes {
		r := &result.Record{Trial: i + 1, Attempt: 1, Outcome: result.OutcomeAccepted}
		switch o {
		case 'x':
			r.Outcome, r.Cause, r.Message = result.OutcomeInvalidated, result.CauseEvicted, "drained"
		case 'p':
			r.Outcome = result.OutcomePilot
		}
		seen.Records = append(seen.Records, r)
	}
	return seen
}

func TestAnnouncements(t *testing.T) {
	evicted := func(trial string) announcement {
		return announcement{corev1.EventTypeWarning, "AttemptInvalidated", "Measure", "trial " + trial + ", attempt 1: Evicted: drained"}
	}
	normal := func(condition, action string) announcement {
		return announcement{corev1.EventTypeNormal, "Reason" + condition, action, "message of " + condition}
	}
	noLonger := status(0, 0)
	noLonger.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionDatabaseReady, Status: metav1.ConditionFalse}}
	failed := normal(v1alpha1.ConditionFailed, "Finish")
	failed.kind = corev1.EventTypeWarning
	cases := map[string]struct {
		old, status v1alpha1.BenchmarkRunStatus
		records     string
		want        []announcement
	}{
		"nothing":          {},
		"a first status":   {status: status(0, 0)},
		"admitted":         {status: status(0, 0, v1alpha1.ConditionAdmitted), want: []announcement{normal(v1alpha1.ConditionAdmitted, "Admit")}},
		"database answers": {status: status(0, 0, v1alpha1.ConditionDatabaseReady), want: []announcement{normal(v1alpha1.ConditionDatabaseReady, "Provide")}},
		"as before": {
			old: status(1, 1, v1alpha1.ConditionDatabaseReady), status: status(1, 1, v1alpha1.ConditionDatabaseReady), records: "ox",
		},
		"no longer": {old: status(0, 0, v1alpha1.ConditionDatabaseReady), status: noLonger},
		"once more": {old: noLonger, status: status(0, 0, v1alpha1.ConditionDatabaseReady), want: []announcement{normal(v1alpha1.ConditionDatabaseReady, "Provide")}},
		"suspended": {status: status(0, 0, v1alpha1.ConditionSuspended), want: []announcement{normal(v1alpha1.ConditionSuspended, "Suspend")}},
		"complete, told once": {
			old:    status(1, 0, v1alpha1.ConditionDatabaseReady),
			status: status(2, 0, v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionComplete, v1alpha1.ConditionFinished, v1alpha1.ConditionReady), records: "oo",
			want: []announcement{normal(v1alpha1.ConditionComplete, "Finish")},
		},
		"failed": {
			status: status(0, 0, v1alpha1.ConditionFailed, v1alpha1.ConditionFinished, v1alpha1.ConditionStalled), want: []announcement{failed},
		},
		"measured":                         {old: status(0, 0), status: status(1, 0), records: "o"},
		"disturbed":                        {old: status(1, 0), status: status(1, 1), records: "ox", want: []announcement{evicted("2")}},
		"disturbed again":                  {old: status(1, 1), status: status(1, 2), records: "xox", want: []announcement{evicted("3")}},
		"several since":                    {old: status(1, 1), status: status(2, 3), records: "xoxox", want: []announcement{evicted("3"), evicted("5")}},
		"after pilots":                     {old: status(1, 0), status: status(1, 1), records: "popx", want: []announcement{evicted("4")}},
		"by the first status":              {status: status(0, 1), records: "x", want: []announcement{evicted("1")}},
		"records are behind":               {old: status(3, 0), status: status(0, 1), records: "x"},
		"disturbed too often, in an order": {old: status(0, 0), status: status(0, 1, v1alpha1.ConditionFailed), records: "x", want: []announcement{evicted("1"), failed}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := announcements(&tc.old, &tc.status, attempts(tc.records))
			must.Same(t, "announcements", tc.want, got, cmp.AllowUnexported(announcement{}))
		})
	}
}

// The API server refuses an event with more than 1,024 bytes of text.
func TestAnnouncementsAreCut(t *testing.T) {
	for _, offset := range []string{"", "x"} {
		s := status(0, 1, v1alpha1.ConditionFailed)
		s.Conditions[0].Message = offset + strings.Repeat("ü", 2000)
		seen := attempts("x")
		seen.Records[0].Message = s.Conditions[0].Message
		list := announcements(&v1alpha1.BenchmarkRunStatus{}, &s, seen)
		if len(list) != 2 {
			t.Errorf("%d announcements", len(list))
		}
		for _, a := range list {
			if n := len(a.message); n > 1024 || n < 1023 || !utf8.ValidString(a.message) {
				t.Errorf("%s has %d bytes", a.reason, n)
			}
		}
	}
}
