// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package podutil_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestImageNames(t *testing.T) {
	for image, want := range map[string]string{
		"mariadb":                          "mirror.example.com/hub/mariadb",
		"mariadb:11.8":                     "mirror.example.com/hub/mariadb:11.8",
		"mariadb@sha256:0123":              "mirror.example.com/hub/mariadb@sha256:0123",
		"library/mariadb:11.8":             "mirror.example.com/hub/library/mariadb:11.8",
		"quay.io/mariadb:11.8":             "quay.io/mariadb:11.8",
		"registry:5000/mariadb:11.8":       "registry:5000/mariadb:11.8",
		"localhost/mariadb:11.8":           "localhost/mariadb:11.8",
		"mirror.example.com/hub/mariadb:1": "mirror.example.com/hub/mariadb:1",
		"mirror.example.com/hub/deep/er":   "mirror.example.com/hub/deep/er",
		"":                                 "",
	} {
		for _, registry := range []string{"mirror.example.com/hub", "mirror.example.com/hub/"} {
			if got := (podutil.Images{Registry: registry}).Name(image); got != want {
				t.Errorf("%q is %q with %s, want %q", image, got, registry, want)
			}
		}
		if got := (podutil.Images{}).Name(image); got != image {
			t.Errorf("%q is %q without a registry", image, got)
		}
	}
}

// The name that an image was pinned with is not completed again.
func TestImageNameOfFullName(t *testing.T) {
	mirror := podutil.Images{Registry: "mirror"}
	if got := mirror.Name(mirror.Name("mariadb:1")); got != "mirror/mariadb:1" {
		t.Errorf("named twice, it is %s", got)
	}
}

func TestServerImage(t *testing.T) {
	installed := podutil.Images{Databases: map[string]string{"MariaDB": "mariadb:11.4"}, Registry: "mirror"}
	for name, tc := range map[string]struct {
		images                  podutil.Images
		requested, engine, want string
	}{
		"asked for":                      {installed, "mariadb:10.11", "MariaDB", "mirror/mariadb:10.11"},
		"the installation's":             {installed, "", "MariaDB", "mirror/mariadb:11.4"},
		"the installation's, not for it": {installed, "", "MySQL", "mirror/engine:1"},
		"the engine's":                   {podutil.Images{Registry: "mirror"}, "", "MariaDB", "mirror/engine:1"},
		"the engine's, nothing set":      {podutil.Images{}, "", "MariaDB", "engine:1"},
	} {
		if got := tc.images.Server(tc.requested, tc.engine, "engine:1"); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestComplete(t *testing.T) {
	spec := &corev1.PodSpec{
		InitContainers: []corev1.Container{{Image: "loader:1"}}, Containers: []corev1.Container{{Image: "mariadb:11.8"}},
	}
	podutil.Images{Registry: "mirror", PullSecrets: []string{"shared", "both"}}.Complete(spec, []string{"mine", "both"})
	want := &corev1.PodSpec{
		InitContainers: []corev1.Container{{Image: "mirror/loader:1"}}, Containers: []corev1.Container{{Image: "mirror/mariadb:11.8"}},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "mine"}, {Name: "both"}, {Name: "shared"}},
	}
	must.Same(t, "Pod", want, spec)
}

// Only the digest of an image's own repository can be pulled: that of a loaded image is of its configuration, or of a name that
// kind has made up.
func TestByDigest(t *testing.T) {
	const digest = "@sha256:0123"
	for _, tc := range []struct{ image, ran, want string }{
		{"mariadb:11.8", "docker.io/library/mariadb" + digest, "docker.io/library/mariadb" + digest},
		{"mariadb/server", "docker.io/mariadb/server" + digest, "docker.io/mariadb/server" + digest},
		{"registry:5000/loader:1", "registry:5000/loader" + digest, "registry:5000/loader" + digest},
		{"registry:5000/loader", "docker-pullable://registry:5000/loader" + digest, "registry:5000/loader" + digest},
		{"loader@sha256:0123", "docker.io/library/loader" + digest, "docker.io/library/loader" + digest},
		{"localhost/loader:1", "docker.io/library/import-2026-01-02" + digest, "localhost/loader:1"},
		{"loader:1", "sha256:0123", "loader:1"},
		{"loader:1", "quay.io/library/loader" + digest, "loader:1"},
		{"loader:1", "", "loader:1"},
		{"", "docker.io/library/" + digest, ""},
	} {
		if got := podutil.ByDigest(tc.image, tc.ran); got != tc.want {
			t.Errorf("%q that ran as %q is %q, want %q", tc.image, tc.ran, got, tc.want)
		}
	}
}
