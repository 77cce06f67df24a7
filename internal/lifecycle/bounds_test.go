// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func rows(value string) v1alpha1.PointSelector {
	return v1alpha1.PointSelector{Parameters: map[string]v1alpha1.SelectedValue{"rowsPerCommit": v1alpha1.SelectedText(value)}}
}

// tenfold says that the second point is ten times the first, and publishes a factor of eight.
func tenfold() v1alpha1.Claims {
	return v1alpha1.Claims{{
		Name: "tenfold", Statement: "ten times as fast", Ratio: &v1alpha1.RatioClaim{Of: rows("2"), To: rows("1"), AtLeast: "10"},
		Published: []v1alpha1.PublishedFigure{{Of: rows("1"), Value: "100"}, {Of: rows("2"), Value: "800"}},
	}}
}

// claimedRun has two points and the claims, and four records of each point, as many as four claims take: the second is so many
// times the first.
func claimedRun(factor float64, claims ...v1alpha1.Claim) (*v1alpha1.BenchmarkRun, *Observed) {
	run := oneAxis(2, 4)
	run.Spec.Claims = claims
	seen := new(Observed)
	for trial := range 8 {
		value := 1000 * (1 + 0.001*float64(trial%4))
		if trial >= 4 {
			value *= factor
		}
		r := testutil.Record(trial+1, 1, nil, value)
		r.Summary.Metrics = append(r.Summary.Metrics,
			result.Metric{Name: "innodbFsyncsPerTransaction", Value: 1, Unit: "fsyncs/transaction", Better: "lower"})
		r.Fingerprint = &result.Fingerprint{FdatasyncMicros: result.FsyncLatency{Calls: 300, Median: 131}}
		seen.Records = append(seen.Records, r)
	}
	return run, seen
}

// A claim that needs a slower disk than there is has no other verdict.
func TestStatusOfClaimWithoutPremise(t *testing.T) {
	claim := tenfold()[0]
	claim.Needs = v1alpha1.ClaimNeeds{FdatasyncMicros: v1alpha1.LeastNumber{AtLeast: 5000}}
	run, seen := claimedRun(3, claim)
	status := statusOf(t, run, seen, now)
	got := status.Claims[0]
	const want = "needs an fdatasync of at least 5 ms, and here it takes 0.131 ms (median); without that: 3× "
	if got.Verdict != v1alpha1.ClaimPremiseMissing || !strings.HasPrefix(got.Detail, want) || status.Claimed != "1 without its premise" {
		t.Errorf("%q: %+v", status.Claimed, got)
	}
}

func TestStatusOfClaims(t *testing.T) {
	run, seen := claimedRun(3, append(tenfold(), v1alpha1.Claim{
		Name: "faster", Ratio: &v1alpha1.RatioClaim{Of: rows("2"), To: rows("1"), AtLeast: "1.5"},
	}, v1alpha1.Claim{
		Name: "unknown", Metric: "x", Ratio: &v1alpha1.RatioClaim{Of: rows("2"), To: rows("1"), AtLeast: "1.5"},
	}, v1alpha1.Claim{
		Name: "other", Metric: "innodbFsyncsPerTransaction", NoDifference: &v1alpha1.NoDifferenceClaim{Of: rows("2"), To: rows("1"), WithinPercent: 5},
	})...)
	status := statusOf(t, run, seen, now)
	want := []v1alpha1.ClaimStatus{
		{
			Name: "tenfold", Verdict: v1alpha1.ClaimDoesNotHold, Published: v1alpha1.ClaimDoesNotHold,
			Detail: "3× (3–3×; claimed: at least 10×); published: 8×",
		},
		{Name: "faster", Verdict: v1alpha1.ClaimHolds, Detail: "3× (3–3×; claimed: at least 1.5×)"},
		{Name: "unknown", Verdict: v1alpha1.ClaimCannotSay, Detail: "no metric named x was measured"},
		{
			Name: "other", Verdict: v1alpha1.ClaimCannotSay,
			Detail: "1× (1–1×; claimed: equal within 5%); no difference is said after 10 trials, and there are 4",
		},
	}
	must.Same(t, "claims", want, status.Claims)
	if status.Claimed != "1 holds, 1 does not hold, 2 undecided" {
		t.Errorf("together: %s", status.Claimed)
	}
	seen.Records = seen.Records[:1]
	if status := statusOf(t, run, seen, now); status.Claims[0].Verdict != v1alpha1.ClaimCannotSay {
		t.Errorf("after one trial: %+v", status.Claims)
	}
	if status := statusOf(t, run, &Observed{}, now); status.Claims != nil || status.Claimed != "" {
		t.Errorf("before the first: %+v", status.Claims)
	}
}
