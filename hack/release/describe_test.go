// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// sumsOf are the checksums of a release, which fit its files.
func sumsOf(t *testing.T, folder string) result.Sums {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(folder, result.SumsFile)))(t)
	sums := must.Get(result.ParseSums(text))(t)
	for name, sum := range sums {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err != nil || result.Digest(text) != sum {
			t.Errorf("%s is not %s: %v", name, sum, err)
		}
	}
	return sums
}

// The manifest for krew has every platform, with the checksum of its archive.
func TestReleaseForKrew(t *testing.T) {
	folder := released(t, "").folder
	text := must.Get(os.ReadFile(filepath.Join(folder, krewFile)))(t)
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
		if sums[filepath.Base(p.URI)] != p.SHA256 {
			t.Errorf("%s has the checksum %s, and not %s", p.URI, sums[filepath.Base(p.URI)], p.SHA256)
		}
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
	text := must.Get(os.ReadFile(filepath.Join(folder, provenanceFile)))(t)
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
	delete(want, provenanceFile)
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
