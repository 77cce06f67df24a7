// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aead.dev/minisign"
	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// unpacked is an archive of a layout as a folder.
func unpacked(t *testing.T, archive string) layout.Path {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%s: %s", err, out)
	}
	path, err := layout.FromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// manifests of a layout, or of an index in one.
func manifests(t *testing.T, index v1.ImageIndex, err error) []v1.Descriptor {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	return m.Manifests
}

// Each image is for both architectures, runs the right program as nobody, and says what it is. A node that gets the archive knows
// it by tag and by digest.
func TestReleaseImages(t *testing.T) {
	path := unpacked(t, filepath.Join(released(t), "benchrun-images.tar"))
	root, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(root); err != nil {
		t.Error(err)
	}
	names := map[string][]string{}
	for _, d := range manifests(t, root, nil) {
		ref := d.Annotations["org.opencontainers.image.ref.name"]
		names[d.Digest.String()] = append(names[d.Digest.String()], ref, d.Annotations["io.containerd.image.name"])
		if ref == "" {
			continue
		}
		index, err := root.ImageIndex(d.Digest)
		for _, m := range manifests(t, index, err) {
			i, err := index.Image(m.Digest)
			if err != nil {
				t.Fatal(err)
			}
			checkImage(t, ref, m.Platform.String(), i)
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
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
	}
}

func checkImage(t *testing.T, name, platform string, i v1.Image) {
	t.Helper()
	c, err := i.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
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

// What Docker loads is the image of that architecture.
func TestReleaseForDocker(t *testing.T) {
	folder := released(t)
	for _, arch := range architectures {
		for _, i := range images {
			tag := "localhost/benchrun/" + i.name + ":v1.2.3"
			loaded, err := tarball.ImageFromPath(filepath.Join(folder, "benchrun-images_linux_"+arch+".tar"), ref(t, tag))
			if err != nil {
				t.Fatal(err)
			}
			if err := validate.Image(loaded); err != nil {
				t.Errorf("%s for %s: %v", tag, arch, err)
			}
			checkImage(t, i.name, "linux/"+arch, loaded)
		}
	}
}

// Provenance lists every file that the checksums list but itself, with the same digests, the commit and the packages.
func TestReleaseProvenance(t *testing.T) {
	folder := released(t)
	text, err := os.ReadFile(filepath.Join(folder, provenanceFile))
	if err != nil {
		t.Fatal(err)
	}
	var s statement
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	want, err := sumsOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	delete(want, provenanceFile)
	got := map[string]string{}
	for _, subject := range s.Subject {
		got[subject.Name] = subject.Digest["sha256"]
	}
	if diff := cmp.Diff(map[string]string(want), got); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
	dependencies := s.Predicate.BuildDefinition.ResolvedDependencies
	if len(dependencies) != 5 || dependencies[0].Digest["gitCommit"] != strings.Repeat("ab", 20) || dependencies[1].Digest["sha256"] != "89ab" {
		t.Errorf("made of %+v", dependencies)
	}
}

// The signature is of the checksums, by the key that was given, with a password or without. A wrong password is an error.
func TestReleaseIsSigned(t *testing.T) {
	folder := t.TempDir()
	sums := filepath.Join(folder, "SHA256SUMS")
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := private.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := minisign.EncryptKey("secret", private)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sums, []byte("0123  file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "key")
	for name, tc := range map[string]struct {
		key      []byte
		password string
		fails    bool
	}{
		"without a password": {key: plain},
		"with a password":    {key: encrypted, password: "secret"},
		"wrong password":     {key: encrypted, password: "wrong", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("MINISIGN_PASSWORD", tc.password)
			if err := os.WriteFile(file, tc.key, 0o600); err != nil {
				t.Fatal(err)
			}
			err := version(folder).sign(file)
			if tc.fails || err != nil {
				if !tc.fails || err == nil {
					t.Errorf("signing: %v", err)
				}
				return
			}
			signature, err := os.ReadFile(filepath.Join(folder, signatureFile))
			if err != nil {
				t.Fatal(err)
			}
			if !minisign.Verify(public, []byte("0123  file\n"), signature) || minisign.Verify(public, []byte("4567  file\n"), signature) {
				t.Errorf("the signature is not of the checksums: %s", signature)
			}
		})
	}
}
