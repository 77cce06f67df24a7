// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

// Golden compares with testdata/name; with -update it writes that file.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must.Do(t, os.MkdirAll("testdata", 0o755))
		must.Do(t, os.WriteFile(path, got, 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; if it should be so: go test -update):\n%s", path, diff)
	}
}

// YAML is objects as `kubectl get -o yaml` would show them, with "---" between them.
func YAML[T any](t *testing.T, objects ...T) []byte {
	t.Helper()
	var parts [][]byte
	for _, object := range objects {
		text := must.Get(yaml.Marshal(object))(t)
		parts = append(parts, text)
	}
	return bytes.Join(parts, []byte("---\n"))
}

// Step is what the reader of a tutorial does next: saves a file, or types commands.
type Step struct {
	// File is the name of the file to save, with its content; empty if there are commands.
	File, Content string
	Commands      string
}

var steps = regexp.MustCompile("(?s)(?:Save this as `([^`]+)`[^\n]*:\n\n```ya?ml\n(.*?)```|```bash\n(.*?)```)")

// Steps of a tutorial, in their order.
func Steps(tutorial string) []Step {
	var all []Step
	for _, step := range steps.FindAllStringSubmatch(tutorial, -1) {
		all = append(all, Step{File: step[1], Content: step[2], Commands: step[3]})
	}
	return all
}
