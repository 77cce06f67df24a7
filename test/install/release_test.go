//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The chart of a release knows the digests of its images, and needs the registry alone. Who names another image or tag gets that.
func TestEnvtestChartOfARelease(t *testing.T) {
	chart := filepath.Join(t.TempDir(), "benchrun")
	if err := os.CopyFS(chart, os.DirFS(filepath.Join(root, "charts", "benchrun"))); err != nil {
		t.Fatal(err)
	}
	digest := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	release := "digests: {manager: " + digest("a") + ", loader: " + digest("b") + ", loader-sysbench: " + digest("c") + "}\n"
	const registry = "--set=registry=example.com:5000/mine"
	for name, tc := range map[string]struct {
		release                   string
		args                      []string
		manager, loader, sysbench string
	}{
		"registry": {
			release,
			[]string{registry},
			"example.com:5000/mine/manager:0.1.0@" + digest("a"),
			"example.com:5000/mine/loader:0.1.0@" + digest("b"), "example.com:5000/mine/loader-sysbench:0.1.0@" + digest("c"),
		},
		"registry of the release": {
			"registry: example.com/theirs\n" + release, nil, "example.com/theirs/manager:0.1.0@" + digest("a"),
			"example.com/theirs/loader:0.1.0@" + digest("b"), "example.com/theirs/loader-sysbench:0.1.0@" + digest("c"),
		},
		"other tag and repository": {
			release,
			[]string{registry, "--set=image.tag=dev", "--set=loader.image.repository=example.com/other"},
			"example.com:5000/mine/manager:dev", "example.com/other:0.1.0", "example.com:5000/mine/loader-sysbench:0.1.0@" + digest("c"),
		},
		"no release, one digest": {
			"",
			[]string{registry, "--set=image.digest=" + digest("d")},
			"example.com:5000/mine/manager:0.1.0@" + digest("d"),
			"example.com:5000/mine/loader:0.1.0", "example.com:5000/mine/loader-sysbench:0.1.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(chart, "files", "release.yaml"), []byte(tc.release), 0o600); err != nil {
				t.Fatal(err)
			}
			objects, err := helmChart(t, chart, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			c := deployment(t, objects).Spec.Template.Spec.Containers[0]
			if c.Image != tc.manager {
				t.Errorf("the manager is %s, want %s", c.Image, tc.manager)
			}
			for _, want := range []string{"--loader-image=" + tc.loader, "--sysbench-image=" + tc.sysbench} {
				if !slices.Contains(c.Args, want) {
					t.Errorf("arguments are %v, want %s", c.Args, want)
				}
			}
		})
	}
	for _, wrong := range []string{"image.digest=sha256:0123", "loader.image.digest=latest", "registry=https://example.com", "registry=example.com/"} {
		if _, err := helm(t, append(slices.Clone(images), "--set="+wrong)...); err == nil || !strings.Contains(err.Error(), "does not match pattern") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
