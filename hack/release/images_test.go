// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// readLayout reads a valid layout and what its index has.
func readLayout(t *testing.T, r release, name string) (v1.ImageIndex, []v1.Descriptor) {
	t.Helper()
	index := must.Get(layout.ImageIndexFromPath(r.built(name)))(t)
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	return index, manifests(t, index)
}

func manifests(t *testing.T, index v1.ImageIndex) []v1.Descriptor {
	t.Helper()
	m := must.Get(index.IndexManifest())(t)
	return m.Manifests
}

// digests of the images by their names.
func digests(t *testing.T, r release) map[string]string {
	t.Helper()
	found := map[string]string{}
	_, list := readLayout(t, r, "images")
	for _, d := range list {
		if ref := d.Annotations["org.opencontainers.image.ref.name"]; ref != "" {
			found[ref] = d.Digest.String()
		}
	}
	return found
}

// Each image is for both architectures, runs the right program as nobody, and is labelled. A node that gets the archive knows it
// by tag and by digest.
func TestReleaseImages(t *testing.T) {
	root, list := readLayout(t, released(t, ""), "images")
	names := map[string][]string{}
	for _, d := range list {
		ref, digest := d.Annotations["org.opencontainers.image.ref.name"], d.Digest.String()
		names[digest] = append(names[digest], ref, d.Annotations["io.containerd.image.name"])
		if ref == "" {
			continue
		}
		index := must.Get(root.ImageIndex(d.Digest))(t)
		for _, m := range manifests(t, index) {
			checkImage(t, ref, m.Platform.String(), index, m.Digest)
			if m.ArtifactType != "" {
				t.Errorf("%s has the artifact type %s, which not every tool copies", ref, m.ArtifactType)
			}
		}
	}
	if len(names) != len(images) {
		t.Errorf("%d images", len(names))
	}
	for digest, got := range names {
		want := []string{got[0], "localhost/benchrun/" + got[0] + ":v1.2.3", "", "localhost/benchrun/" + got[0] + "@" + digest}
		must.Same(t, "names", want, got)
	}
}

func checkImage(t *testing.T, name, platform string, index v1.ImageIndex, digest v1.Hash) {
	t.Helper()
	i := must.Get(index.Image(digest))(t)
	c := must.Get(i.ConfigFile())(t)
	program := "/" + strings.TrimSuffix(name, "-sysbench")
	layers := map[string]int{"manager": 1, "loader": 2, "loader-sysbench": 3}[name]
	if c.OS+"/"+c.Architecture != platform || c.Config.User != "65532:65532" || !slices.Equal(c.Config.Entrypoint, []string{program}) ||
		len(c.RootFS.DiffIDs) != layers {
		t.Errorf("%s for %s is for %s/%s: %+v", name, platform, c.OS, c.Architecture, c.Config)
	}
	if diff := cmp.Diff(map[string]string{
		"org.opencontainers.image.title":       "benchrun " + name,
		"org.opencontainers.image.description": "Reproducible database benchmarks on Kubernetes",
		"org.opencontainers.image.source":      "https://github.com/benchrun-dev/benchrun",
		"org.opencontainers.image.revision":    strings.Repeat("ab", 20),
		"org.opencontainers.image.version":     "v1.2.3",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.created":     "2023-11-14T22:13:20Z",
	}, c.Config.Labels); diff != "" {
		t.Errorf("labels of %s (-want +got):\n%s", name, diff)
	}
}

// What Docker loads are the images of that architecture.
func TestReleaseForDocker(t *testing.T) {
	r := released(t, "")
	for _, arch := range architectures {
		name := "images_linux_" + arch
		index, list := readLayout(t, r, name)
		text := must.Get(os.ReadFile(r.built(name, "manifest.json")))(t)
		var saved []savedImage
		if err := json.Unmarshal(text, &saved); err != nil || len(saved) != len(images) || len(list) != len(images) {
			t.Fatalf("%d images are saved, %d are in the layout: %v", len(saved), len(list), err)
		}
		for k, i := range images {
			if want := []string{"localhost/benchrun/" + i.name + ":v1.2.3"}; !slices.Equal(saved[k].RepoTags, want) {
				t.Errorf("it is called %v, want %v", saved[k].RepoTags, want)
			}
			for _, file := range append(saved[k].Layers, saved[k].Config) {
				if _, err := os.Stat(r.built(name, file)); err != nil {
					t.Error(err)
				}
			}
			checkImage(t, i.name, "linux/"+arch, index, list[k].Digest)
		}
	}
}

// install.yaml has every image by its digest, in a registry that cannot exist or in the one that was named. So has the chart.
func TestReleaseInstall(t *testing.T) {
	for _, registry := range []string{"", "registry.example.com:5000/me"} {
		r := released(t, registry)
		text, err := os.ReadFile(filepath.Join(r.folder, "install.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(text, []byte("apiVersion: v1\nkind: Namespace\n")) {
			t.Errorf("it does not begin with the namespace: %.100s", text)
		}
		place := registry
		if place == "" {
			place = "unset.invalid"
		}
		var names, got []string
		for name, digest := range digests(t, r) {
			names = append(names, place+"/"+name+"@"+digest)
		}
		for _, found := range regexp.MustCompile(`[^\s=]+@sha256:[0-9a-f]{64}`).FindAll(text, -1) {
			got = append(got, string(found))
		}
		slices.Sort(names)
		slices.Sort(got)
		if !slices.Equal(names, got) {
			t.Errorf("images are %v, want %v", got, names)
		}
		var chart chartRelease
		if text, err = os.ReadFile(r.built("release.yaml")); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, &chart); err != nil || chart.Registry != registry || !maps.Equal(chart.Digests, digests(t, r)) {
			t.Errorf("the chart has %+v: %v", chart, err)
		}
	}
}
