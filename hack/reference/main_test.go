// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestPage: the page in the repository is that of the commands, and names no folder of a machine.
func TestPage(t *testing.T) {
	want := must.Get(os.ReadFile("../../docs/reference/kubectl.md"))(t)
	must.Same(t, "docs/reference/kubectl.md is not up to date: run `make docs-reference`", string(want), string(page()))
	if home, err := os.UserHomeDir(); err == nil && strings.Contains(string(want), home) {
		t.Error("the page names a folder of whoever made it")
	}
}
