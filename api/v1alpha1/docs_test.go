//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// yamlBlock is YAML for Benchrun. That of other programs, for example workflows, is in blocks of yml.
var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestEnvtestDocs asks a real API server, and then the operator, to take every YAML block of the documentation: a run, or a
// part of a run's spec.
func TestEnvtestDocs(t *testing.T) {
	blocks := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			blocks++
			if err := firstSight(t, documented(t, block[1])); err != nil {
				t.Errorf("%s: %v in\n%s", page, err, block[1])
			}
		}
	}
	if blocks < 20 {
		t.Errorf("%d blocks of YAML were found: is the documentation elsewhere?", blocks)
	}
}

// documented is the run that a block shows. What is no run of its own completes the shortest one.
func documented(t *testing.T, block string) *unstructured.Unstructured {
	t.Helper()
	shown := parsed(t, block)
	if shown.GetKind() != "" {
		return parsed(t, "metadata: {namespace: default}", block)
	}
	run := parsed(t, minimal)
	if _, has := shown.Object["workload"]; has {
		unstructured.RemoveNestedField(run.Object, "spec", "workload")
	}
	merge(run.Object, map[string]any{"spec": shown.Object})
	return run
}

// pages are the README and everything in docs.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"../../README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
