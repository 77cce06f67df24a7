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
	"testing"

	"sigs.k8s.io/yaml"
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
	if len(archive.File) != 2 || archive.File[0].Name != "kubectl-benchrun.exe" {
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
	for _, p := range plugin.Spec.Platforms {
		if line := p.SHA256 + "  " + filepath.Base(p.URI); !bytes.Contains(sums, []byte(line)) {
			t.Errorf("SHA256SUMS lacks %q", line)
		}
	}
}

// The bill of materials names what the program was compiled from.
func TestReleaseBill(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(released(t), "benchrun.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BOMFormat  string
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal(text, &bill); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, c := range bill.Components {
		found = found || c.Name == "sigs.k8s.io/yaml" && c.Version != "" && c.PURL == "pkg:golang/sigs.k8s.io/yaml@"+c.Version
	}
	if bill.BOMFormat != "CycloneDX" || !found {
		t.Errorf("%s", text)
	}
}

func TestReleaseNeedsPrograms(t *testing.T) {
	if err := release("v1.2.3", t.TempDir()); err == nil {
		t.Error("a folder without programs is released")
	}
}
