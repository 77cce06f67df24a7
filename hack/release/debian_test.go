// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"sigs.k8s.io/yaml"
)

func ref(t *testing.T, tag string) *name.Tag {
	t.Helper()
	r, err := name.NewTag(tag)
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

// install.yaml has every image by the digest that is in the layout, in a registry that cannot exist or in the one that was named.
func TestReleaseInstall(t *testing.T) {
	const mine = "registry.example.com:5000/me"
	unnamed := released(t)
	named := version(t.TempDir())
	named.registry = mine
	prepare(t, named.folder)
	if err := named.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	for want, folder := range map[string]string{"unset.invalid": unnamed, mine: named.folder} {
		text, err := os.ReadFile(filepath.Join(folder, "install.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(text, []byte("apiVersion: v1\nkind: Namespace\n")) {
			t.Errorf("it does not begin with the namespace: %.100s", text)
		}
		index, err := unpacked(t, filepath.Join(folder, "benchrun-images.tar")).ImageIndex()
		var names []string
		for _, d := range manifests(t, index, err) {
			if of := d.Annotations["org.opencontainers.image.ref.name"]; of != "" {
				names = append(names, want+"/"+of+"@"+d.Digest.String())
			}
		}
		var got []string
		for _, found := range regexp.MustCompile(`[^\s=]+@sha256:[0-9a-f]{64}`).FindAll(text, -1) {
			got = append(got, string(found))
		}
		slices.Sort(names)
		slices.Sort(got)
		if !slices.Equal(names, got) {
			t.Errorf("images are %v, want %v", got, names)
		}
	}
}

// The chart is versioned, knows the digests of the images, and is the same in its archive as in its layout.
func TestReleaseChart(t *testing.T) {
	folder := released(t)
	dir := t.TempDir()
	packed := filepath.Join(folder, "benchrun-1.2.3.tgz")
	if out, err := exec.CommandContext(t.Context(), "tar", "-xzf", packed, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%s: %s", err, out)
	}
	read := func(path string, into any) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, "benchrun", path))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	var chart struct{ Name, Version, AppVersion, KubeVersion string }
	read("Chart.yaml", &chart)
	if chart.Name != "benchrun" || chart.Version != "1.2.3" || chart.AppVersion != "v1.2.3" || chart.KubeVersion == "" {
		t.Errorf("the chart is %+v", chart)
	}
	var of chartRelease
	read("files/release.yaml", &of)
	index, err := unpacked(t, filepath.Join(folder, "benchrun-images.tar")).ImageIndex()
	for _, d := range manifests(t, index, err) {
		if n := d.Annotations["org.opencontainers.image.ref.name"]; n != "" && of.Digests[n] != d.Digest.String() {
			t.Errorf("the chart has %s as %s, and the layout as %s", n, of.Digests[n], d.Digest)
		}
	}
	if len(of.Digests) != len(images) || of.Registry != "" {
		t.Errorf("the chart is of %+v", of)
	}
	checkChartLayout(t, folder, packed)
}

func checkChartLayout(t *testing.T, folder, packed string) {
	t.Helper()
	path := unpacked(t, filepath.Join(folder, "benchrun-chart.tar"))
	index, err := path.ImageIndex()
	all := manifests(t, index, err)
	if len(all) != 1 || all[0].Annotations["org.opencontainers.image.ref.name"] != "chart" {
		t.Fatalf("the layout has %+v", all)
	}
	text, err := path.Bytes(all[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Config, Layer struct{ MediaType, Digest string }
		Layers        []struct{ MediaType, Digest string }
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	sum, err := digest(packed)
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Config.MediaType != chartConfig || len(manifest.Layers) != 1 || manifest.Layers[0].MediaType != chartLayer ||
		!strings.HasSuffix(manifest.Layers[0].Digest, sum) {
		t.Errorf("the artifact is %s", text)
	}
}
