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

// TestEnvtestInsertSamples shows each sample of BulkInsert and IIBench to a real API server.
func TestEnvtestInsertSamples(t *testing.T) {
	for _, name := range []string{
		"bulk-insert.yaml", "iibench.yaml",
		"publications/000-file-list-inserts.yaml", "publications/000-file-list-inserts-small.yaml",
		"publications/003-iibench-contest.yaml", "publications/003-iibench-contest-small.yaml",
	} {
		data, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", name))
		if err != nil {
			t.Fatal(err)
		}
		for text := range strings.SplitSeq(string(data), "\n---\n") {
			object := parsed(t, text, "metadata: {namespace: default}")
			if err := dryRun(t, object); err != nil {
				t.Errorf("%s is refused: %v", name, err)
			}
		}
	}
}
