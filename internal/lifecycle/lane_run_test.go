// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// Only an installation's lanes can be asked for, by runs and comparisons alike. What has begun goes on.
func TestLaneRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		lane    string
		lanes   []string
		started bool
		refused bool
	}{
		"any":               {"mine", nil, false, false},
		"the only one":      {"default", []string{"default"}, false, false},
		"one of two":        {"disks", []string{"default", "disks"}, false, false},
		"a tenant's own":    {"mine", []string{"default", "disks"}, false, true},
		"begun before that": {"mine", []string{"default"}, true, false},
	} {
		run := testutil.MakeRun("r", "ns").Obj()
		run.Spec.Lane = tc.lane
		comparison := testutil.Pair()
		comparison.Spec.Template.Spec.Lane = tc.lane
		if tc.started {
			run.Status.StartTime, comparison.Status.StartTime = ptr.To(metav1.NewTime(now)), ptr.To(metav1.NewTime(now))
		}
		for field, got := range map[string]*Failure{
			"spec.lane": RunLaneRefused(run, tc.lanes), "spec.template.spec.lane": ComparisonLaneRefused(comparison, tc.lanes),
		} {
			if (got != nil) != tc.refused {
				t.Errorf("%s: %s: %v", name, field, got)
			}
			want := field + " is mine, but the lanes of this installation are: default, disks; use one of them, or ask an administrator " +
				"for another (--lanes)"
			if got != nil && (got.Message != want || got.Reason != v1alpha1.ReasonInvalidSpecification) {
				t.Errorf("%s: %s: %s", name, got.Reason, got.Message)
			}
		}
	}
	member := testutil.MakeRun("r", "ns").With(func(r *v1alpha1.BenchmarkRun) {
		r.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: ComparisonKind, Name: "c", UID: "u", Controller: ptr.To(true),
		}}
		r.Spec.Lane = "mine"
	}).Obj()
	if got := RunLaneRefused(member, []string{"default"}); got != nil {
		t.Errorf("a run of a comparison: %v", got)
	}
}

// Who waits is not told who is in another namespace, and where the administrator finds it; its own namespace has names.
func TestPositionNamesNobodyElse(t *testing.T) {
	me := Holder{Kind: RunKind, Namespace: "ns", Name: "run"}
	run, comparison := Holder{Kind: RunKind, Namespace: "tenant", Name: "secret"}, Holder{Kind: ComparisonKind, Namespace: "tenant", Name: "secret"}
	near, odd := Holder{Kind: RunKind, Namespace: "ns", Name: "near"}, ParseHolder("tenant secret")
	const lease = "s/default.lane.benchrun.dev"
	for name, tc := range map[string]struct {
		lane Lane
		want string
	}{
		"a run":        {Lane{Holder: &run}, "waiting for a run of another namespace, which holds lane default (Lease " + lease + "); next in the queue"},
		"a comparison": {Lane{Holder: &comparison}, "waiting for a comparison of another namespace, which holds lane default (Lease " + lease + "); next in the queue"},
		"near":         {Lane{Holder: &near}, "waiting for run ns/near, which holds lane default; next in the queue"},
		"foreign": {
			Lane{Holder: &run, Foreign: true},
			"waiting for a run of another installation, which holds lane default (Lease " + lease + "); next in the queue",
		},
		"no holder that we know": {
			Lane{Holder: &odd, Foreign: true},
			"waiting for an unrecognized holder of another installation, which holds lane default (Lease " + lease + "); next in the queue",
		},
	} {
		tc.lane.Lease, tc.lane.Anonymous, tc.lane.Next = lease, true, me
		if got := tc.lane.turn("default", me).Message; got != tc.want {
			t.Errorf("%s: %s\nwant %s", name, got, tc.want)
		}
		tc.lane.Anonymous = false
		if got := tc.lane.turn("default", me).Message; name != "near" && !strings.Contains(got, "secret") {
			t.Errorf("%s: with names: %s", name, got)
		}
	}
}
