// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/bundle"
)

// cited is a bundle with a citation, by the names of its files.
func cited(t *testing.T, c *bundle.Citation) map[string][]byte {
	t.Helper()
	m := manifest([]byte("{}"))
	m.Citation = c
	var b bytes.Buffer
	w, err := bundle.NewWriter(&b, m, []byte("kind: BenchmarkRun\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add("results/results.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle.Read(bytes.NewReader(b.Bytes())); err != nil {
		t.Errorf("the bundle cannot be read: %v", err)
	}
	files := map[string][]byte{}
	for _, e := range entries(t, b.Bytes()) {
		files[strings.TrimPrefix(e.header.Name, m.Name+"/")] = e.data
	}
	return files
}

func TestCitationInCrate(t *testing.T) {
	files := cited(t, &bundle.Citation{Authors: []string{"Doe, Jane", "The Laboratory"}, License: "CC-BY-4.0"})
	var crate struct {
		Graph []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal(files[bundle.CrateFile], &crate); err != nil {
		t.Fatal(err)
	}
	described := map[string]map[string]any{}
	for _, e := range crate.Graph {
		described[e["@id"].(string)] = e
	}
	if data := described["./"]; data["license"] != "CC-BY-4.0" || len(data["author"].([]any)) != 2 {
		t.Errorf("the data are %v", data)
	}
	if described["#author-1"]["name"] != "Jane Doe" || described["#author-2"]["@type"] != "Organization" {
		t.Errorf("authors: %v, %v", described["#author-1"], described["#author-2"])
	}
}

// A title is taken as it is.
func TestCitationTitle(t *testing.T) {
	m := manifest([]byte("{}"))
	if got := m.Title(); got != "commit-size: 12510 rows/s at rowsPerCommit=1024" {
		t.Errorf("%q", got)
	}
	if m.Citation = (&bundle.Citation{Authors: []string{"x"}, Title: "Commit sizes"}); m.Title() != "Commit sizes" {
		t.Errorf("%q", m.Title())
	}
}

func TestCitationCheck(t *testing.T) {
	for says, c := range map[string]bundle.Citation{
		"":                       {Authors: []string{"Doe, Jane", "The Laboratory"}, License: "CC-BY-4.0"},
		"at least one author":    {Title: "x"},
		`author "Doe," must be`:  {Authors: []string{"Doe,"}},
		`author " " must be`:     {Authors: []string{" "}},
		`license "as you like"`:  {Authors: []string{"x"}, License: "as you like"},
		`author ", Jane" must b`: {Authors: []string{", Jane"}},
	} {
		got := ""
		if err := c.Check(); err != nil {
			got = err.Error()
		}
		if (says == "") != (got == "") || !strings.Contains(got, says) {
			t.Errorf("%+v: %q, want %q", c, got, says)
		}
	}
}
