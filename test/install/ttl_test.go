//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"slices"
	"strings"
	"testing"
)

// The chart states after how long finished runs are deleted. 0 reaches the manager: without the flag they would be deleted.
func TestEnvtestDefaultTTL(t *testing.T) {
	for name, tc := range map[string]struct{ set, want string }{
		"default":        {want: "--default-ttl=720h"},
		"shorter":        {set: "--set=defaultTTL=1h30m", want: "--default-ttl=1h30m"},
		"none, a number": {set: "--set=defaultTTL=0", want: "--default-ttl=0"},
		"none, a text":   {set: "--set-string=defaultTTL=0", want: "--default-ttl=0"},
	} {
		objects, err := helm(t, append(slices.Clone(images), slices.DeleteFunc([]string{tc.set}, func(s string) bool { return s == "" })...)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		args := deployment(t, objects).Spec.Template.Spec.Containers[0].Args
		given := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return !strings.HasPrefix(a, "--default-ttl") })
		if !slices.Equal(given, []string{tc.want}) {
			t.Errorf("%s: arguments are %v, want %s", name, given, tc.want)
		}
	}
	for _, value := range []string{"30d", "1", "-1h", ""} {
		if _, err := helm(t, append(slices.Clone(images), "--set=defaultTTL="+value)...); err == nil {
			t.Errorf("defaultTTL=%s is accepted", value)
		}
	}
}
