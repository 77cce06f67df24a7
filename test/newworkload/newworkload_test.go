// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package newworkload shows what a new workload costs: it adds one to the source by an overlay, without touching a file, and
// takes it through the whole chain.
package newworkload

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// edit is a file that is added, or one that gets lines before others.
type edit struct {
	// file in the repository, and what it is added from; empty if it exists.
	file, from string
	// lines by what they are put before.
	lines map[string]string
}

// edits are all files with code that a workload touches. A sample and a page of documentation come on top; deep copies, the
// types of sweeps and points, and the CRD are generated. docs/architecture.md states the count.
var edits = []edit{
	{file: "api/v1alpha1/workload_example_types.go", from: "testdata/workload_example_types.go.txt"},
	{file: "internal/workload/example/example.go", from: "testdata/example.go.txt"},
	{file: "api/v1alpha1/workload_types.go", lines: map[string]string{
		"\t// custom runs any program in any image.\n": "\t// example inserts numbers.\n\t// +optional\n" +
			"\tExample *ExampleWorkload `json:\"example,omitempty\"`\n\n",
	}},
	{file: "internal/workload/registry/registry.go", lines: map[string]string{
		"\t\"github.com/benchrun-dev/benchrun/internal/workload/iibench\"\n": "\t\"github.com/benchrun-dev/benchrun/internal/workload/example\"\n",
		"\tiibench.Definition,\n": "\texample.Definition,\n",
	}},
}

func TestNewWorkload(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, e := range edits {
		overlay.Replace[filepath.Join(root, e.file)] = e.edited(t, root)
	}
	overlay.Replace[filepath.Join(root, points)] = generated(t, root, overlay.Replace)
	encoded, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-tags=newworkload", "-run=^TestChain$", "-v",
		"-overlay="+file, ".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestChain") {
		t.Errorf("%v\n%s", err, out)
	}
}

// points are the types of sweeps and points, which are generated.
const points = "api/v1alpha1/zz_generated.points.go"

// generated is where the types of sweeps and points are, of the API with the new workload.
func generated(t *testing.T, root string, replaced map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	files, err := filepath.Glob(filepath.Join(root, "api/v1alpha1/*_types.go"))
	if err != nil {
		t.Fatal(err)
	}
	sources := maps.Clone(replaced)
	for _, file := range files {
		sources[file] = cmp.Or(sources[file], file)
	}
	for name, path := range sources {
		text, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(name, "_types.go") {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(name)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", "run", root+"/hack/points", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(folder, filepath.Base(points))
}

// edited is where the file's new content is.
func (e edit) edited(t *testing.T, root string) string {
	t.Helper()
	path := filepath.Join(root, e.file)
	if e.from != "" {
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s exists", e.file)
		}
		path = e.from
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for before, lines := range e.lines {
		if strings.Count(text, before) != 1 {
			t.Fatalf("%s has %q %d times", e.file, before, strings.Count(text, before))
		}
		text = strings.Replace(text, before, lines+before, 1)
	}
	path = filepath.Join(t.TempDir(), filepath.Base(e.file))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
