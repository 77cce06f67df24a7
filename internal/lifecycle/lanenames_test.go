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
