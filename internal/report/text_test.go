// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestClaimLines(t *testing.T) {
	got := claimLines([]claims.Judgement{
		{Name: "slow", Statement: "ten times", Verdict: claims.PremiseMissing, Detail: "needs a disk; without that: 3×"},
		{Name: "log", Verdict: claims.Holds, Detail: "1×", Published: claims.CannotSay, PublishedDetail: "no figure of t2-no-log"},
		{Name: "best", Verdict: claims.CannotSay, Detail: "1×", Published: claims.DoesNotHold, PublishedDetail: "0.90×"},
	})
	want := []string{
		`slow, "ten times", **premise missing**: needs a disk; without that: 3×`,
		"log **holds**: 1×; the published data cannot say: no figure of t2-no-log",
		"best **cannot say**: 1×; in the published data it does not hold: 0.90×",
		"each end of these intervals holds at 95% confidence, across all claims",
	}
	must.Same(t, "lines", want, got)
}

// A claim that was not judged has neither failed nor passed.
func TestClaimCases(t *testing.T) {
	for _, c := range claimCases("run", []claims.Judgement{{Verdict: claims.CannotSay}, {Verdict: claims.PremiseMissing}}) {
		if c.Skipped == nil || c.Failure != nil {
			t.Errorf("%+v", c)
		}
	}
}

func TestTuned(t *testing.T) {
	r := Report{Run: Run{HostTuning: []v1alpha1.HostTuningStatus{
		{
			Node: "a", Disk: "sda", Restored: ptr.To(true),
			Before: v1alpha1.HostSettings{Swappiness: "60", IOScheduler: "mq-deadline", TransparentHugePages: "madvise"},
			After:  v1alpha1.HostSettings{Swappiness: "1", IOScheduler: "none", TransparentHugePages: "never"},
		},
		{Node: "b", Before: v1alpha1.HostSettings{Swappiness: "60"}, After: v1alpha1.HostSettings{Swappiness: "0"}, Message: "it is off"},
	}}}
	want := []string{
		"node a: swappiness 1 instead of 60, I/O scheduler of sda none instead of mq-deadline, " +
			"transparent huge pages never instead of madvise; restored afterwards",
		"node b: swappiness 0 instead of 60; NOT RESTORED: it is off",
	}
	must.Same(t, "lines", want, r.tuned())
}
