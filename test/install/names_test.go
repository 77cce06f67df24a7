//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"slices"
	"testing"
)

// What is in other namespaces is not named unless the administrator says so.
func TestEnvtestOtherNamespacesAreNotNamed(t *testing.T) {
	for value, named := range map[string]bool{"": false, "false": false, "true": true} {
		args := slices.Clone(images)
		if value != "" {
			args = append(args, "--set=nameOtherNamespaces="+value)
		}
		objects, err := helm(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Contains(deployment(t, objects).Spec.Template.Spec.Containers[0].Args, "--name-other-namespaces")
		if got != named {
			t.Errorf("nameOtherNamespaces=%s: the manager has the flag: %t", value, got)
		}
	}
	if _, err := helm(t, append(slices.Clone(images), "--set=nameOtherNamespaces=some")...); err == nil {
		t.Error("a value that is no boolean is accepted")
	}
}
