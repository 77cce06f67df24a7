// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// damaged is a file that a test writes, and the command that reads it.
type damaged struct {
	content   []byte
	path      string
	arguments []string
}

// filesToDamage are the results of a run and of a comparison.
func filesToDamage(t *testing.T) []damaged {
	t.Helper()
	_, a := measuredRun(t, "main", 1)
	_, b := measuredRun(t, "new", 1)
	comparison, err := os.ReadFile(comparisonFile)
	if err != nil {
		t.Fatal(err)
	}
	run, copied := file(t, b), filepath.Join(t.TempDir(), "comparison.json")
	return []damaged{
		{resultsJSON(t, b), run, []string{"compare", file(t, a), run}},
		{comparison, copied, []string{"compare", copied}},
		{comparison, copied, []string{"compare", copied + ":lazy", copied + ":same"}},
	}
}

// stride is 1 if each place is damaged. With -short, as the race detector runs, it is every tenth.
func stride() int {
	if testing.Short() {
		return 10
	}
	return 1
}

// A file that is cut off, anywhere, or empty, is an error and never an answer.
func TestCompareOfPrefixes(t *testing.T) {
	for _, d := range filesToDamage(t) {
		last := bytes.LastIndexByte(d.content, '}')
		for cut := 0; cut <= last; cut += stride() * (1 + last/100) {
			for _, end := range []int{cut, last - cut} {
				if err := os.WriteFile(d.path, d.content[:end], 0o600); err != nil {
					t.Fatal(err)
				}
				if code, out, _ := plugin(t, d.arguments...); code != ExitError {
					t.Fatalf("%v: the first %d of %d bytes: exit code %d\n%s", d.arguments, end, len(d.content), code, out)
				}
			}
		}
	}
}

// Whatever is missing in a file, the command ends with one of its exit codes, and does not crash. If an attempt is
// missing it is an error.
func TestCompareOfFilesWithHoles(t *testing.T) {
	for _, d := range filesToDamage(t) {
		var tree any
		if err := json.Unmarshal(d.content, &tree); err != nil {
			t.Fatal(err)
		}
		tried := 0
		holes("", tree, func(what string) {
			if tried++; tried%stride() != 0 {
				return
			}
			text, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(d.path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, errOut := plugin(t, d.arguments...)
			isAttempt := strings.HasPrefix(what, ".attempts") && strings.Count(what, ".") <= 2
			if (code == ExitError) != (out == "") || isAttempt && code != ExitError || strings.Contains(errOut, "goroutine") {
				t.Errorf("%v without %s: exit code %d\n%s%s", d.arguments, what, code, out, errOut)
			}
		})
		if tried < 100 {
			t.Errorf("only %d holes can be made", tried)
		}
	}
}

// holes removes each field of a document, and sets it to null, one at a time; of lists, it empties the first two members.
func holes(path string, node any, check func(what string)) {
	switch node := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			value := node[name]
			holes(path+"."+name, value, check)
			delete(node, name)
			check(path + "." + name)
			node[name] = nil
			check(path + "." + name)
			node[name] = value
		}
	case []any:
		for i, value := range node[:min(2, len(node))] {
			holes(fmt.Sprintf("%s.%d", path, i), value, check)
			node[i] = nil
			check(fmt.Sprintf("%s.%d", path, i))
			node[i] = value
		}
	}
}
