// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"slices"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A claim without its premise is not judged, whatever the numbers say, and is not worth another round.
func TestPremises(t *testing.T) {
	disk := v1alpha1.ClaimNeeds{FdatasyncMicros: v1alpha1.LeastNumber{AtLeast: 5000}}
	cpus := v1alpha1.ClaimNeeds{CPUsOfDatabase: v1alpha1.LeastNumber{AtLeast: 5}}
	both := v1alpha1.ClaimNeeds{FdatasyncMicros: disk.FdatasyncMicros, CPUsOfDatabase: cpus.CPUsOfDatabase}
	fast, slow := place{median: 131, cpus: 2}, place{median: 6000, cpus: 8}
	for name, c := range map[string]struct {
		needs v1alpha1.ClaimNeeds
		at    []place
		want  string // empty: the verdict stays
	}{
		"needs nothing":      {v1alpha1.ClaimNeeds{}, []place{fast}, ""},
		"a slow disk":        {disk, []place{slow}, ""},
		"a limited disk":     {disk, []place{{median: 131, mean: 9000}}, ""},
		"a fast disk":        {disk, []place{fast}, "needs an fdatasync of at least 5 ms, and here it takes 0.131 ms (median); without that: 3×"},
		"unknown disk":       {disk, []place{{cpus: 8}}, "needs an fdatasync of at least 5 ms, which was not measured here; without that: 3×"},
		"enough CPUs":        {cpus, []place{slow}, ""},
		"too few CPUs":       {cpus, []place{fast}, "needs at least 5 CPUs for the database, and here it has 2 CPUs; without that: 3×"},
		"unknown CPUs":       {cpus, []place{{median: 131}}, "needs at least 5 CPUs for the database, whose number is not known here; without that: 3×"},
		"both":               {both, []place{slow}, ""},
		"neither":            {both, []place{fast}, "needs an fdatasync of at least 5 ms, and here it takes 0.131 ms (median); needs at least 5 CPUs for the database, and here it has 2 CPUs; without that: 3×"},
		"one variant of two": {cpus, []place{slow, fast}, "needs at least 5 CPUs for the database, and here it has 2 CPUs; without that: 3×"},
		"not measured":       {both, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, verdict := range []claims.Verdict{claims.Holds, claims.DoesNotHold, claims.CannotSay} {
				judged := []claims.Judgement{{Verdict: verdict, Detail: "3×"}}
				checkPremises(v1alpha1.Claims{{Needs: c.needs}}, judged, func(int) []place { return c.at })
				j := judged[0]
				if c.want == "" && (j.Verdict != verdict || j.Detail != "3×") {
					t.Errorf("%s is %s: %s", verdict, j.Verdict, j.Detail)
				}
				if c.want != "" && (j.Verdict != claims.PremiseMissing || j.Detail != c.want || !j.Settled) {
					t.Errorf("%s is %s, settled %t: %q", verdict, j.Verdict, j.Settled, j.Detail)
				}
			}
		})
	}
}

// A comparison looks at the servers of the variants that a claim names.
func TestPlacesOfClaim(t *testing.T) {
	s := testutil.Pair(testutil.FixedRounds(6))
	c := measured(t, s, 12)
	onVolumes(c)
	for i := range c.Variants {
		c.Variants[i].Run.Spec.Database.Provisioner = v1alpha1.ProvisionerExternal // no limit of ours
	}
	for i := range c.Sides {
		c.Sides[i].Environment.CPUs = 4
	}
	durable, lazy := place{median: 250, mean: 9870, cpus: 4}, place{median: 250, mean: 260, cpus: 4}
	for variant, want := range map[string][]place{"durable": {durable}, "lazy": {lazy}, "": {durable, lazy}} {
		of := v1alpha1.PointSelector{Variant: variant}
		for kind, claim := range map[string]*v1alpha1.Claim{
			"value": {Value: &v1alpha1.ValueClaim{Of: of}}, "ratio": {Ratio: &v1alpha1.RatioClaim{Of: of, To: of}},
			"best": {BestAt: &v1alpha1.BestAtClaim{Among: of}}, "order": {Monotonic: &v1alpha1.MonotonicClaim{Among: of}},
		} {
			if got := c.placesOf(claim); !slices.Equal(got, want) {
				t.Errorf("%s of %q: %+v, want %+v", kind, variant, got, want)
			}
			if got := measured(t, s, 0).placesOf(claim); len(got) > 0 {
				t.Errorf("nothing is measured, but %+v", got)
			}
		}
	}
}

// Before anything is measured it is unknown whether the premise is there.
func TestPremiseOfRunBeforeItsMeasurements(t *testing.T) {
	run := testutil.MakeRun("r", "ns").Obj()
	run.Spec.Claims = v1alpha1.Claims{{
		Name: "slow", Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("16"), To: testutil.AtRows("1"), AtLeast: "10"},
		Needs: v1alpha1.ClaimNeeds{FdatasyncMicros: v1alpha1.LeastNumber{AtLeast: 5000}},
	}}
	points := []stats.Point{{Parameters: map[string]string{"rowsPerCommit": "1"}}, {Parameters: map[string]string{"rowsPerCommit": "16"}}}
	if j := claimsOfRun(run, points)[0]; j.Verdict != claims.CannotSay || j.Settled {
		t.Errorf("%s, settled %t: %s", j.Verdict, j.Settled, j.Detail)
	}
}
