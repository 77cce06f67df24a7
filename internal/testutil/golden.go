// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

// Golden compares with testdata/name; with -update it writes that file.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; if it should be so: go test -update):\n%s", path, diff)
	}
}

// YAML is objects as `kubectl get -o yaml` would show them, with "---" between them.
func YAML[T any](t *testing.T, objects ...T) []byte {
	t.Helper()
	var parts [][]byte
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, text)
	}
	return bytes.Join(parts, []byte("---\n"))
}
