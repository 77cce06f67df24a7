// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestUpToDate: the file in the repository is that of the types beside it.
func TestUpToDate(t *testing.T) {
	folder := "../../api/v1alpha1"
	want := must.Get(generate(folder))(t)
	if have, err := os.ReadFile(filepath.Join(folder, output)); err != nil || string(have) != string(want) {
		t.Errorf("%s is not up to date: run `make generate` (%v)", output, err)
	}
}

func TestRefusesMarkers(t *testing.T) {
	for markers, want := range map[string]string{
		"// +benchrun:sweep\n":                                 "Rows: write // +benchrun:sweep=what",
		"// +benchrun:sweep=sizes\n// +benchrun:sweep:min=1\n": `marker "// +benchrun:sweep:min=1" is none of`,
		"// +benchrun:sweep:max=2\n":                           "Rows: write // +benchrun:sweep=what",
	} {
		folder := t.TempDir()
		source := "package v1alpha1\n\ntype AWorkload struct {\n// rows to insert.\n" + markers + "Rows int64 `json:\"rows\"`\n}\n"
		must.Write(t, filepath.Join(folder, "a_types.go"), source)
		must.Refused(generate(folder))(t, want)
	}
}
