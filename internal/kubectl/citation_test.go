// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/bundle"
)

// exportedAs is a bundle of a finished run with a citation, and what it says of itself.
func exportedAs(t *testing.T, cite *bundle.Citation) (path string, m *bundle.Manifest) {
	t.Helper()
	cl := clusterWith(finishedRun(t, "commit-size", 1)...)
	s, err := find(t.Context(), cl, "bench", "commit-size")
	if err != nil {
		t.Fatal(err)
	}
	if path, err = export(t.Context(), cl, s, cite, filepath.Join(t.TempDir(), "b.tgz"), false); err != nil {
		t.Fatal(err)
	}
	b, err := openBundle(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	return path, b.Manifest
}

func TestExportCitation(t *testing.T) {
	path, m := exportedAs(t, &bundle.Citation{Authors: []string{"Doe, Jane", "The Laboratory"}, Title: "One: two", License: "CC-BY-4.0"})
	var got map[string]any
	if err := yaml.Unmarshal(fileIn(t, path, "commit-size/"+bundle.CitationFile), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"cff-version": "1.2.0", "type": "dataset", "title": "One: two", "license": "CC-BY-4.0",
		"message": "If you use these measurements, cite them as below.", "date-released": m.Finished.UTC().Format("2006-01-02"),
		"authors": []any{
			map[string]any{"family-names": "Doe", "given-names": "Jane"}, map[string]any{"name": "The Laboratory"},
		},
		"identifiers": []any{map[string]any{
			"type": "other", "value": m.ResultsDigest, "description": "digest of results/results.json, as Benchrun has recorded it",
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without a license none is named.
func TestExportCitationWithoutLicense(t *testing.T) {
	path, _ := exportedAs(t, &bundle.Citation{Authors: []string{"x"}})
	if text := string(fileIn(t, path, "commit-size/"+bundle.CitationFile)); strings.Contains(text, "license") {
		t.Errorf("%s", text)
	}
}
