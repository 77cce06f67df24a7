// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// The programs that people have can read it: tar and sha256sum.
func TestSumsAreThoseOfSha256sum(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.tgz")
	if err := os.WriteFile(path, archive(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"tar", "-xzf", path, "-C", dir}, {"sh", "-c", "cd " + dir + "/commit-size && sha256sum --strict -c SHA256SUMS"},
	} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v: %s", command, err, out)
		}
	}
}

// The description has the entities that RO-Crate 1.1 requires, and all that they refer to.
func TestCrate(t *testing.T) {
	var text []byte
	files := map[string]bool{"./": true, "https://w3id.org/ro/crate/1.1": true, "#measurement": true, "#benchrun": true}
	for _, e := range entries(t, archive(t)) {
		name := strings.TrimPrefix(e.header.Name, "commit-size/")
		if name == bundle.CrateFile {
			text = e.data
		}
		files[name] = true
	}
	var crate struct {
		Context string           `json:"@context"`
		Graph   []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal(text, &crate); err != nil {
		t.Fatal(err)
	}
	byID := map[string]map[string]any{}
	for _, e := range crate.Graph {
		byID[e["@id"].(string)] = e
		for property, value := range e {
			refs, many := value.([]any)
			if !many {
				refs = []any{value}
			}
			for _, ref := range refs {
				if to, ok := ref.(map[string]any); ok && !files[to["@id"].(string)] {
					t.Errorf("%s of %s refers to %s, which is not there", property, e["@id"], to["@id"])
				}
			}
		}
	}
	for _, property := range []string{"name", "description", "datePublished", "license", "hasPart"} {
		if byID["./"][property] == nil {
			t.Errorf("the root has no %s", property)
		}
	}
	if crate.Context != "https://w3id.org/ro/crate/1.1/context" || byID[bundle.CrateFile]["@type"] != "CreativeWork" {
		t.Errorf("the descriptor is %v", byID[bundle.CrateFile])
	}
	for _, e := range entries(t, archive(t)) {
		name := strings.TrimPrefix(e.header.Name, "commit-size/")
		if name == bundle.CrateFile || name == bundle.SumsFile {
			continue
		}
		if f := byID[name]; f["contentSize"] != strconv.Itoa(len(e.data)) || f["sha256"] != result.Digest(e.data) {
			t.Errorf("%s is described as %v", name, f)
		}
		if !e.header.ModTime.Equal(manifest(nil).Finished) || e.header.Mode != 0o644 {
			t.Errorf("%s has the time %s and the mode %o", name, e.header.ModTime, e.header.Mode)
		}
	}
	if m := byID["#measurement"]; m["startTime"] != "2026-01-02T03:04:05Z" || m["endTime"] != "2026-01-02T03:09:05Z" {
		t.Errorf("the measurement is %v", m)
	}
	if got := len(byID["./"]["hasPart"].([]any)); got != 8 {
		t.Errorf("%d files are described, want 8", got)
	}
}
