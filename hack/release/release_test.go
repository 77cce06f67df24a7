// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// packages are what the script lists of Debian's packages.
var packages = strings.Repeat("89ab", 16) + "  pkg:deb/debian/ca-certificates@2023?arch=all\n"

// released is a folder with both steps' files, made from files that stand for what hack/release.sh compiles and unpacks.
func released(t *testing.T, registry string) release {
	t.Helper()
	t.Chdir(root)
	r := release{
		version: "v1.2.3", revision: strings.Repeat("ab", 20), created: time.Unix(1700000000, 0).UTC(), registry: registry,
		folder: t.TempDir(),
	}
	files := map[string][]byte{
		"kubectl-benchrun_linux_amd64.tar.gz": []byte("linux"), "kubectl-benchrun_windows_arm64.tar.gz": []byte("windows"),
		"build/packages": []byte(packages),
	}
	for _, arch := range architectures {
		for _, layer := range []string{"manager", "loader", "sysbench", "ca-certificates"} {
			files["build/"+layer+"-"+arch+".tar"] = archived(t, layer, layer+" for "+arch)
		}
	}
	for name, content := range files {
		path := filepath.Join(r.folder, filepath.FromSlash(name))
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o600)))
	}
	must.Do(t, errors.Join(r.writeImages(), describe(t, r)))
	return r
}

// describe the files so far.
func describe(t *testing.T, r release) error {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(root, "hack/release/describe.sh"), r.folder)
	command.Env = append(os.Environ(), "VERSION="+r.version, "REVISION="+r.revision, "REGISTRY="+r.registry)
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// root is the folder of the repository.
var root = func() string {
	path, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return path
}()

// archived is a tar archive with one file.
func archived(t *testing.T, name, content string) []byte {
	t.Helper()
	var text bytes.Buffer
	tw := tar.NewWriter(&text)
	err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))})
	if err == nil {
		_, err = io.WriteString(tw, content)
	}
	must.Do(t, errors.Join(err, tw.Close()))
	return text.Bytes()
}

// A second release has the same bytes.
func TestReleaseIsReproducible(t *testing.T) {
	read := func(folder string) map[string]string {
		files := map[string]string{}
		err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(folder, path))
			files[path] = result.Digest(text)
			return err
		})
		must.Do(t, err)
		return files
	}
	first := released(t, "")
	must.Same(t, "the second time", read(first.folder), read(released(t, "").folder))
	sums := must.Get(os.ReadFile(filepath.Join(first.folder, result.SumsFile)))(t)
	must.Do(t, describe(t, first))
	again, err := os.ReadFile(filepath.Join(first.folder, result.SumsFile))
	if diff := cmp.Diff(string(sums), string(again)); diff != "" || err != nil {
		t.Errorf("described again: %v (-first +second):\n%s", err, diff)
	}
}

// The workflow uploads every file, also one without a dot in its name: without SHA256SUMS, its signature is worth nothing.
func TestReleaseIsUploadedWhole(t *testing.T) {
	workflow := must.Get(os.ReadFile(filepath.Join(root, ".github/workflows/release.yaml")))(t)
	if !regexp.MustCompile(`(?m)gh release create .* dist/\*$`).Match(workflow) {
		t.Error("the workflow does not upload dist/*")
	}
}

func TestReleaseNeedsWhatTheScriptMakes(t *testing.T) {
	t.Chdir(root)
	r := release{version: "v1.2.3", folder: t.TempDir()}
	if err := r.writeImages(); err == nil {
		t.Error("a folder without layers has images")
	}
	if err := describe(t, r); err == nil {
		t.Error("a folder without archives of the plugin has a manifest for krew")
	}
}

// sumsOf are the checksums of a release, which fit its files.
func sumsOf(t *testing.T, folder string) result.Sums {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(folder, result.SumsFile)))(t)
	sums := must.Get(result.ParseSums(text))(t)
	for name, sum := range sums {
		must.Same(t, name, sum, result.Digest(must.Get(os.ReadFile(filepath.Join(folder, name)))(t)))
	}
	return sums
}

// The manifest for krew has every platform, with the checksum of its archive.
func TestReleaseForKrew(t *testing.T) {
	folder := released(t, "").folder
	text := must.Get(os.ReadFile(filepath.Join(folder, "benchrun.krew.yaml")))(t)
	type platform struct {
		Selector         struct{ MatchLabels map[string]string }
		URI, SHA256, Bin string
	}
	var plugin struct {
		Spec struct {
			Version   string
			Platforms []platform
		}
	}
	must.Do(t, yaml.Unmarshal(text, &plugin))
	sums, got := sumsOf(t, folder), map[string]string{}
	for _, p := range plugin.Spec.Platforms {
		must.Same(t, "checksum of "+p.URI, sums[filepath.Base(p.URI)], p.SHA256)
		got[p.Selector.MatchLabels["os"]+"-"+p.Selector.MatchLabels["arch"]] = p.URI + " " + p.Bin
	}
	const at = "https://github.com/benchrun-dev/benchrun/releases/download/v1.2.3/kubectl-benchrun_"
	if diff := cmp.Diff(map[string]string{
		"linux-amd64":   at + "linux_amd64.tar.gz kubectl-benchrun",
		"windows-arm64": at + "windows_arm64.tar.gz kubectl-benchrun.exe",
	}, got); diff != "" || plugin.Spec.Version != "v1.2.3" {
		t.Errorf("version %s, platforms (-want +got):\n%s", plugin.Spec.Version, diff)
	}
}

// Provenance lists every file that the checksums list except itself, with the same digests, the commit, and each package once.
func TestReleaseProvenance(t *testing.T) {
	folder := released(t, "").folder
	text := must.Get(os.ReadFile(filepath.Join(folder, "provenance.intoto.json")))(t)
	type artifact struct {
		Name, URI string
		Digest    map[string]string
	}
	var s struct {
		Subject   []artifact
		Predicate struct {
			BuildDefinition struct{ ResolvedDependencies []artifact }
		}
	}
	must.Do(t, json.Unmarshal(text, &s))
	want, got := sumsOf(t, folder), result.Sums{}
	delete(want, "provenance.intoto.json")
	for _, subject := range s.Subject {
		got[subject.Name] = subject.Digest["sha256"]
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 4 {
		t.Errorf("%d subjects (-want +got):\n%s", len(got), diff)
	}
	must.Same(t, "made from", []artifact{
		{URI: "git+https://github.com/benchrun-dev/benchrun", Digest: map[string]string{"gitCommit": strings.Repeat("ab", 20)}},
		{URI: "pkg:deb/debian/ca-certificates@2023?arch=all", Digest: map[string]string{"sha256": strings.Repeat("89ab", 16)}},
	}, s.Predicate.BuildDefinition.ResolvedDependencies)
}

// readLayout reads a valid layout and what its index has.
func readLayout(t *testing.T, r release, name string) (v1.ImageIndex, []v1.Descriptor) {
	t.Helper()
	index := must.Get(layout.ImageIndexFromPath(r.built(name)))(t)
	must.Do(t, validate.Index(index))
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
			must.Same(t, ref+": artifact type, which not every tool copies", "", m.ArtifactType)
		}
	}
	must.Same(t, "images", len(images), len(names))
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
	must.Same(t, "labels of "+name, map[string]string{
		"org.opencontainers.image.title":       "benchrun " + name,
		"org.opencontainers.image.description": "Reproducible database benchmarks on Kubernetes",
		"org.opencontainers.image.source":      "https://github.com/benchrun-dev/benchrun",
		"org.opencontainers.image.revision":    strings.Repeat("ab", 20),
		"org.opencontainers.image.version":     "v1.2.3",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.created":     "2023-11-14T22:13:20Z",
	}, c.Config.Labels)
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
			must.Same(t, "it is called", []string{"localhost/benchrun/" + i.name + ":v1.2.3"}, saved[k].RepoTags)
			for _, file := range append(saved[k].Layers, saved[k].Config) {
				must.Get(os.Stat(r.built(name, file)))(t)
			}
			checkImage(t, i.name, "linux/"+arch, index, list[k].Digest)
		}
	}
}

// install.yaml has every image by its digest, in a registry that cannot exist or in the one that was named. So has the chart.
func TestReleaseInstall(t *testing.T) {
	for _, registry := range []string{"", "registry.example.com:5000/me"} {
		r := released(t, registry)
		text := must.Get(os.ReadFile(filepath.Join(r.folder, "install.yaml")))(t)
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
		must.Same(t, "images", names, got)
		var chart chartRelease
		text = must.Get(os.ReadFile(r.built("release.yaml")))(t)
		if err := yaml.Unmarshal(text, &chart); err != nil || chart.Registry != registry || !maps.Equal(chart.Digests, digests(t, r)) {
			t.Errorf("the chart has %+v: %v", chart, err)
		}
	}
}
