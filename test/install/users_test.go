//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"slices"
	"testing"
)

// The Pods of runs ask for the users of their images, but on OpenShift, which the chart knows by its API, and where the
// administrator says so.
func TestEnvtestUsersOfPods(t *testing.T) {
	const openShift = "--api-versions=security.openshift.io/v1"
	for _, tc := range []struct {
		args []string
		want bool
	}{
		{nil, false},
		{[]string{openShift}, true},
		{[]string{openShift, "--set=podUsers=Image"}, false},
		{[]string{"--set=podUsers=Cluster"}, true},
	} {
		objects, err := helm(t, slices.Concat(images, tc.args)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(deployment(t, objects).Spec.Template.Spec.Containers[0].Args, "--cluster-users"); got != tc.want {
			t.Errorf("%v: the manager has the flag: %t", tc.args, got)
		}
	}
	if _, err := helm(t, append(slices.Clone(images), "--set=podUsers=Root")...); err == nil {
		t.Error("users that nobody knows are accepted")
	}
}
