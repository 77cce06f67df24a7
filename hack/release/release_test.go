// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// released is a folder with what is published, made of two copies of this test's own program.
func released(t *testing.T) string {
	t.Helper()
	t.Chdir("../..")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for platform, name := range map[string]string{"linux-amd64": "kubectl-benchrun", "windows-arm64": "kubectl-benchrun.exe"} {
		dir := filepath.Join(folder, "plugin", platform)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := release("v1.2.3", folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// The programs that people have can read what is published, and its checksums fit.
func TestRelease(t *testing.T) {
	folder := released(t)
	for _, command := range []string{
		"sha256sum --strict -c SHA256SUMS",
		"test \"$(tar -tzf kubectl-benchrun_linux_amd64.tar.gz | sort | tr '\\n' ' ')\" = 'LICENSE kubectl-benchrun '",
		"mkdir x && tar -xzf kubectl-benchrun_linux_amd64.tar.gz -C x && test -x x/kubectl-benchrun",
	} {
		c := exec.CommandContext(t.Context(), "sh", "-c", command)
		c.Dir = folder
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
	archive, err := zip.OpenReader(filepath.Join(folder, "kubectl-benchrun_windows_arm64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if len(archive.File) != 2 || archive.File[0].Name != "kubectl-benchrun.exe" || archive.File[0].Mode().Perm() != 0o755 {
		t.Errorf("the archive has %v", archive.File)
	}
}

// The manifest for krew has every platform, with the checksum of its archive.
func TestReleaseForKrew(t *testing.T) {
	folder := released(t)
	text, err := os.ReadFile(filepath.Join(folder, "benchrun.krew.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var plugin krewPlugin
	if err := yaml.UnmarshalStrict(text, &plugin); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if len(plugin.Spec.Platforms) != 2 || plugin.Spec.Version != "v1.2.3" {
		t.Errorf("%s", text)
	}
	got := map[string]string{}
	for _, p := range plugin.Spec.Platforms {
		if line := p.SHA256 + "  " + filepath.Base(p.URI); !bytes.Contains(sums, []byte(line)) {
			t.Errorf("SHA256SUMS lacks %q", line)
		}
		got[p.Selector.MatchLabels["os"]+"-"+p.Selector.MatchLabels["arch"]] = p.URI + " " + p.Bin
	}
	const at = "https://github.com/benchrun-dev/benchrun/releases/download/v1.2.3/kubectl-benchrun_"
	if diff := cmp.Diff(map[string]string{
		"linux-amd64":   at + "linux_amd64.tar.gz kubectl-benchrun",
		"windows-arm64": at + "windows_arm64.zip kubectl-benchrun.exe",
	}, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

// The bill of materials names what the program was compiled from.
func TestReleaseBill(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(released(t), "benchrun.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BOMFormat string
		Metadata  struct {
			Component struct{ Name, Version, PURL string }
		}
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal(text, &bill); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, c := range bill.Components {
		found = found || c.Name == "sigs.k8s.io/yaml" && c.Version != "" && c.PURL == "pkg:golang/sigs.k8s.io/yaml@"+c.Version
	}
	of := bill.Metadata.Component
	if bill.BOMFormat != "CycloneDX" || !found || of.Name != "benchrun" || of.Version != "v1.2.3" || !strings.HasSuffix(of.PURL, "@v1.2.3") {
		t.Errorf("%s", text)
	}
}

// Who releases again gets the same bytes: the checksums do not list themselves, and no file has a time.
func TestReleaseIsTheSameEachTime(t *testing.T) {
	folder := released(t)
	read := func() map[string]string {
		files := map[string]string{}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				text, err := os.ReadFile(filepath.Join(folder, e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				files[e.Name()] = result.NamedDigest(text)
				if e.Name() == result.SumsFile {
					files[e.Name()] = string(text)
				}
			}
		}
		return files
	}
	first := read()
	if err := release("v1.2.3", folder); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, read()); diff != "" || len(first) != 5 {
		t.Errorf("%d files; the second time (-first +second):\n%s", len(first), diff)
	}
}

func TestReleaseNeedsPrograms(t *testing.T) {
	if err := release("v1.2.3", t.TempDir()); err == nil {
		t.Error("a folder without programs is released")
	}
}
