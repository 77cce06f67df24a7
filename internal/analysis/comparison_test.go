// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestSharedDatabase(t *testing.T) {
	s := testutil.Pair(testutil.FixedRounds(2))
	p := planOfComparison(t, s)
	shared := func() *ComparisonRuns {
		runs := measuredRuns(s, p, 3)
		for _, m := range runs.Members[:3] {
			plan.Share(m.Run, plan.Served{})
			m.Run.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkComparison", Name: s.Name, UID: s.UID, Controller: ptr.To(true),
			}}
			m.Measured.Servers = []string{"pod"}
		}
		return runs
	}
	same, replaced := shared(), shared()
	replaced.Members[2].Measured.Servers = []string{"another"}
	for want, runs := range map[string]*ComparisonRuns{
		"all runs used one database server":                                same,
		"the runs shared a database, whose server was replaced: 2 servers": replaced,
		"": measuredRuns(s, p, 3),
	} {
		if got := SharedDatabase(OfComparison(s, p, runs, Verdicts{}).Servers); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
