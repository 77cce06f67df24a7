// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cost shows what a parameter, a workload and an engine cost: it adds each to the source by an overlay, without touching a
// file, and takes it through the whole chain.
package cost

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// change of the source. What is generated of it comes on top: deep copies, the types of sweeps and points, and the CRD. So do a
// sample and a page of documentation.
type change struct {
	// added are the new files, and what is in them.
	added map[string]string
	// edited are the other files that are touched: old texts, each of which is there once, and new ones in turns.
	edited map[string][]string
}

// changes by the tag of the test that goes through the chain. docs/architecture.md states the numbers of their files.
var changes = map[string]change{
	"newparameter": {edited: map[string][]string{
		"api/v1alpha1/workload_commitsize_types.go": {
			"\t// sweep of values to measure. Unset: those above.\n",
			"\t// spare rows.\n\t// +optional\n\t// +benchrun:sweep=numbers of spare rows\n\tSpare int64 `json:\"spare,omitempty\"`\n\n" +
				"\t// sweep of values to measure. Unset: those above.\n",
		},
		"internal/workload/commitsize/commitsize.go": {
			"\tRowsPerCommit int64 `json:\"rowsPerCommit\"`\n",
			"\tRowsPerCommit int64 `json:\"rowsPerCommit\"`\n\tSpare int64 `json:\"spare,omitempty\"`\n",
		},
	}},
	"newworkload": {
		added: map[string]string{
			"api/v1alpha1/workload_example_types.go": "testdata/workload_example_types.go.txt",
			"internal/workload/example/example.go":   "testdata/workload.go.txt",
		},
		edited: map[string][]string{
			"api/v1alpha1/workload_types.go": {
				"\t// custom runs any program in any image.\n", "\t// example inserts numbers.\n\t// +optional\n" +
					"\tExample *ExampleWorkload `json:\"example,omitempty\"`\n\n\t// custom runs any program in any image.\n",
			},
			"internal/workload/registry/registry.go": {
				"\t\"github.com/benchrun-dev/benchrun/internal/workload/iibench\"\n",
				"\t\"github.com/benchrun-dev/benchrun/internal/workload/example\"\n\t\"github.com/benchrun-dev/benchrun/internal/workload/iibench\"\n",
				"\tiibench.Definition,\n", "\texample.Definition,\n\tiibench.Definition,\n",
			},
		},
	},
	"newengine": {
		added: map[string]string{"internal/engine/example/example.go": "testdata/engine.go.txt"},
		edited: map[string][]string{
			"internal/engine/engine.go": {
				"internal/engine/base\"\n", "internal/engine/base\"\n\t\"github.com/benchrun-dev/benchrun/internal/engine/example\"\n",
				"MySQL, PostgreSQL}", "MySQL, PostgreSQL, &example.Engine}",
			},
			"api/v1alpha1/database_types.go": {
				"Enum=MariaDB;MySQL;PostgreSQL\n", "Enum=MariaDB;MySQL;PostgreSQL;Example\n",
				"\tEngineMySQL Engine = \"MySQL\"\n",
				"\tEngineMySQL Engine = \"MySQL\"\n\t// EngineExample is Example Server.\n\tEngineExample Engine = \"Example\"\n",
			},
		},
	},
}

// TestCost takes the costliest of the changes through the chain if it is to be short: each compiles most of the source anew. Of the
// others it is known then that what they change is there.
func TestCost(t *testing.T) {
	for tag, c := range changes {
		t.Run(tag, func(t *testing.T) {
			encoded := must.Get(json.Marshal(map[string]any{"Replace": c.overlay(t)}))(t)
			if testing.Short() && tag != "newworkload" {
				return
			}
			out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-vet=off", "-tags="+tag, "-run=^TestChain$", "-v",
				"-overlay="+write(t, "overlay.json", string(encoded)), ".").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestChain") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// overlay has where the files are that are added and edited, and the generated types of sweeps and points.
func (c change) overlay(t *testing.T) map[string]string {
	t.Helper()
	root := must.Get(filepath.Abs("../.."))(t)
	replace := map[string]string{}
	for file, from := range c.added {
		path := filepath.Join(root, file)
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s exists", file)
		}
		replace[path] = filepath.Join(root, "test/cost", from)
	}
	for file, texts := range c.edited {
		path := filepath.Join(root, file)
		replace[path] = edit(t, path, texts)
	}
	replace[filepath.Join(root, points)] = generated(t, root, replace)
	return replace
}

// edit is where the file is with the new texts in place of the old ones.
func edit(t *testing.T, path string, texts []string) string {
	t.Helper()
	content := must.Get(os.ReadFile(path))(t)
	for i := 0; i < len(texts); i += 2 {
		if n := strings.Count(string(content), texts[i]); n != 1 {
			t.Fatalf("%s has %q %d times", path, texts[i], n)
		}
	}
	return write(t, filepath.Base(path), strings.NewReplacer(texts...).Replace(string(content)))
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Write(t, path, text)
	return path
}

// points are the types of sweeps and points, which are generated.
const points = "api/v1alpha1/zz_generated.points.go"

// generated is where the types of sweeps and points are, of the API with the change.
func generated(t *testing.T, root string, replaced map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	files := must.Get(filepath.Glob(filepath.Join(root, "api/v1alpha1/*_types.go")))(t)
	sources := maps.Clone(replaced)
	for _, file := range files {
		sources[file] = cmp.Or(sources[file], file)
	}
	for name, path := range sources {
		text, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(name, "_types.go") {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(name)), text, 0o600)
		}
		must.Do(t, err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "run", root+"/hack/points", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(folder, filepath.Base(points))
}

var (
	required = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+|\S+\.\S+) (v\S+)`)
	replaced = regexp.MustCompile(`(?m)^(?:replace )?\s*(\S+) => (\S+) (v\S+)`)
)

// versions are those that a go.mod chooses, each module's.
func versions(t *testing.T, file string) map[string]string {
	t.Helper()
	content := must.Get(os.ReadFile(file))(t)
	found := map[string]string{}
	for _, match := range required.FindAllStringSubmatch(string(content), -1) {
		found[match[1]] = match[2]
	}
	for _, match := range replaced.FindAllStringSubmatch(string(content), -1) {
		found[match[1]] = match[3]
	}
	return found
}

// The programs of a node import much that the operator imports. Of equal versions it compiles once, of different ones twice:
// seven minutes of processor time. No other behaviour depends on it.
func TestTheNodesProgramsShareTheOperatorsModules(t *testing.T) {
	operator, node := versions(t, "../../go.mod"), versions(t, "../../hack/node-image/go.mod")
	if len(operator) < 50 || len(node) < 100 {
		t.Fatalf("%d and %d modules were found", len(operator), len(node))
	}
	for module, version := range operator {
		if other, ok := node[module]; ok && other != version {
			t.Errorf("%s is %s for the operator and %s for the node: go get one of them to the higher one", module, version, other)
		}
	}
}
