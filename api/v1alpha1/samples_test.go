//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvtestSamples asks a real API server to take every sample, strictly.
func TestEnvtestSamples(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../config/samples/*.yaml", "../../config/samples/publications/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%d files like %s, %v", len(found), pattern, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			object := parsed(t, "metadata: {namespace: default}", document)
			if kind := object.GetKind(); kind != "BenchmarkRun" && kind != "BenchmarkComparison" {
				continue // what a run needs besides, for example a ConfigMap with a script
			}
			if err := dryRun(t, object); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
