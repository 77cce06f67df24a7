// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package newengine shows what a new engine costs: it adds one to the source by an overlay, without touching a file, and takes it
// through the whole chain.
package newengine

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// added is the file that an engine adds, and where this one is.
const added, example = "internal/engine/example.go", "testdata/example.go.txt"

// edited are the other files with code that an engine touches, with the old and the new text of each place. The CRD is generated.
// docs/architecture.md states the count.
var edited = map[string][]string{
	"internal/engine/engine.go": {"{&MariaDB, &MySQL}", "{&MariaDB, &MySQL, &Example}"},
	"api/v1alpha1/database_types.go": {
		"Enum=MariaDB;MySQL\n", "Enum=MariaDB;MySQL;Example\n",
		"\tEngineMySQL Engine = \"MySQL\"\n",
		"\tEngineMySQL Engine = \"MySQL\"\n\t// EngineExample is Example Server.\n\tEngineExample Engine = \"Example\"\n",
	},
}

func TestNewEngine(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{filepath.Join(root, added): filepath.Join(root, "test/newengine", example)}
	if _, err := os.Stat(filepath.Join(root, added)); err == nil {
		t.Fatalf("%s exists", added)
	}
	for file, texts := range edited {
		replace[filepath.Join(root, file)] = edit(t, filepath.Join(root, file), texts)
	}
	encoded, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-tags=newengine", "-run=^TestChain$", "-v",
		"-overlay="+write(t, "overlay.json", string(encoded)), ".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestChain") {
		t.Errorf("%v\n%s", err, out)
	}
}

// edit is where the file is with the new texts in place of the old ones.
func edit(t *testing.T, path string, texts []string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(texts); i += 2 {
		if n := strings.Count(string(content), texts[i]); n != 1 {
			t.Fatalf("%s has %q %d times", path, texts[i], n)
		}
	}
	return write(t, filepath.Base(path), strings.NewReplacer(texts...).Replace(string(content)))
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
