// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report"
)

// Two runs of one name are distinguished by the last parts of their paths, if these differ.
func TestCompareNamesFiles(t *testing.T) {
	_, r := measuredRun(t, "main", 1)
	_, again := measuredRun(t, "main", 1)
	again.Run.UID = "another"
	dir := t.TempDir()
	for name, of := range map[string]*report.Report{"a.json": r, "b.json": again, "sub/a.json": again} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), resultsJSON(t, of), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	header := func(before, after string) string { return before + "  " + after + "  ratio" }
	for other, want := range map[string]string{
		"b.json": header("a.json", "b.json"), "sub/a.json": header(dir+"/a.json", dir+"/sub/a.json"),
	} {
		if code, out, errOut := plugin(t, "compare", dir+"/a.json", dir+"/"+other, "--allow-undecided"); code != ExitFine ||
			!strings.Contains(out, want) {
			t.Errorf("exit code %d, want %q in\n%s%s", code, want, out, errOut)
		}
	}
}

func TestCalled(t *testing.T) {
	for _, tc := range []struct{ a, b, wantA, wantB reference }{
		{reference{name: "./old/"}, reference{name: "new"}, reference{name: "old"}, reference{name: "new"}},
		{reference{name: "run/a"}, reference{name: "a.tgz"}, reference{name: "run/a"}, reference{name: "a.tgz"}},
		{
			reference{name: "/y/s.tgz", variant: "eager"},
			reference{name: "/x/s.tgz", variant: "lazy"},
			reference{name: "s.tgz:eager"},
			reference{name: "s.tgz:lazy"},
		},
		{reference{name: "/x/"}, reference{name: "/y/x"}, reference{name: "/x/"}, reference{name: "/y/x"}},
		{
			reference{name: "/x/s/", variant: "a"},
			reference{name: "/y/s/", variant: "b"},
			reference{name: "s:a"},
			reference{name: "s:b"},
		},
	} {
		if a, b := called(&tc.a, &tc.b); a != tc.wantA.name || b != tc.wantB.name {
			t.Errorf("%s and %s are called %s and %s", tc.a.text(), tc.b.text(), a, b)
		}
	}
}

func TestIsPath(t *testing.T) {
	for name, want := range map[string]bool{
		"commit-size": false, "run/commit-size": false, "comparison/x": false, "brun/x": false, "a.b": false,
		"./x": true, "../x": true, "/x": true, "x/": true, "run/": true, "out/x": true, "x.json": true, "out/x.json": true, ".": true,
		"x.tgz": true,
	} {
		if got := isPath(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
