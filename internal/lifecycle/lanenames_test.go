// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"
)

// Who waits is not told who is in another namespace, and where the administrator finds it; its own namespace has names.
func TestPositionNamesNobodyElse(t *testing.T) {
	me := Holder{Kind: RunKind, Namespace: "ns", Name: "run"}
	run, suite := Holder{Kind: RunKind, Namespace: "tenant", Name: "secret"}, Holder{Kind: SuiteKind, Namespace: "tenant", Name: "secret"}
	near, odd := Holder{Kind: RunKind, Namespace: "ns", Name: "near"}, ParseHolder("tenant secret")
	const lease = "s/default.lane.benchrun.dev"
	for name, tc := range map[string]struct {
		lane Lane
		want string
	}{
		"a run":   {Lane{Holder: &run}, "waiting for a run of another namespace, which holds lane default (Lease " + lease + "); position 1 of 2"},
		"a suite": {Lane{Holder: &suite}, "waiting for a suite of another namespace, which holds lane default (Lease " + lease + "); position 1 of 2"},
		"near":    {Lane{Holder: &near}, "waiting for run ns/near, which holds lane default; position 1 of 2"},
		"foreign": {
			Lane{Holder: &run, Foreign: true},
			"waiting for a run of another installation, which holds lane default (Lease " + lease + "); position 1 of 2",
		},
		"no holder that we know": {
			Lane{Holder: &odd, Foreign: true},
			"waiting for a holder that is no run and no suite of another installation, which holds lane default (Lease " + lease + "); position 1 of 2",
		},
		"next": {Lane{Line: []Holder{suite, me}}, "waiting for a suite of another namespace, which is next in lane default; position 2 of 2"},
	} {
		tc.lane.Lease, tc.lane.Anonymous = lease, true
		if tc.lane.Line == nil {
			tc.lane.Line = []Holder{me, suite}
		}
		if got := tc.lane.position("default", me); got != tc.want {
			t.Errorf("%s: %s\nwant %s", name, got, tc.want)
		}
		tc.lane.Anonymous = false
		if got := tc.lane.position("default", me); name != "near" && !strings.Contains(got, "secret") {
			t.Errorf("%s: with names: %s", name, got)
		}
	}
}
