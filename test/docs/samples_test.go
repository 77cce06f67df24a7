// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// side is one of the runs of a publication, or a variant of its comparison, by its place in the file, with what it says otherwise
// than another one.
type side struct {
	run, than int
	differs   []string
}

// publications are all of them, without "-small" unless that compares something else: what their sides are compared in. It must
// be all that they differ in.
var publications = map[string][]side{
	"000-file-list-inserts": {{1, 0, []string{"database.settings.bufferPoolSize", "database.settings.logFileSize"}}},
	"001-innodb-bulk-insert": {
		{1, 0, []string{"database.image", "workload.tprochLoad.uniqueChecks"}},
		{2, 0, []string{"database.image"}},
		{1, 2, []string{"workload.tprochLoad.uniqueChecks"}},
	},
	"001-innodb-bulk-insert-small": {
		{1, 0, []string{"workload.tprochLoad.uniqueChecks"}}, {2, 1, []string{"database.image"}},
	},
	"002-tpcc-four-configurations": {
		{1, 0, []string{
			"database.hostTuning.ioScheduler", "database.hostTuning.swappiness",
			"database.settings.bufferPoolSize", "database.settings.logFileSize", "database.storage.storageClassName",
			"database.variables.innodb_buffer_pool_instances", "database.variables.innodb_flush_method",
			"database.variables.innodb_stats_on_metadata", "database.variables.query_cache_size", "database.variables.query_cache_type",
		}},
		{2, 1, []string{"database.storage.storageClassName"}},
		{3, 1, []string{
			"database.engine", "database.image", "database.settings.binaryLog", "database.variables.innodb_buffer_pool_chunk_size",
			"database.variables.query_cache_size", "database.variables.query_cache_type",
		}},
		{4, 1, []string{"database.settings.binaryLog"}},
	},
	"003-iibench-contest": nil,
	"004-commit-size":     {{1, 0, []string{"workload.commitSize.rows", "workload.commitSize.sweep.rowsPerCommit"}}},
}

// notSmall are what only the full size of a publication varies: a small cluster has a new server, a pool of one chunk, and nobody
// who allows that its nodes are tuned.
var notSmall = []string{
	"database.variables.innodb_buffer_pool_instances", "database.variables.innodb_buffer_pool_chunk_size",
	"database.hostTuning.swappiness", "database.hostTuning.ioScheduler",
}

// A comparison's sides differ in what they say, and in nothing else.
func TestSidesOfPublications(t *testing.T) {
	files := tracked(t, "config/samples/publications/*.yaml")
	const published = 5
	if len(files) != 2*published {
		t.Errorf("%d files, %d publications in two sizes", len(files), published)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			full, small := strings.CutSuffix(name, "-small")
			sides, known := publications[name]
			if !known {
				sides, known = publications[full]
			}
			runs := append(runsOf(t, file), variantsOf(t, file)...)
			compared := map[int]bool{0: true}
			for _, s := range sides {
				compared[s.run] = true
			}
			if !known || len(runs) != len(compared) {
				t.Fatalf("%d runs, %d of them are compared", len(runs), len(compared))
			}
			for _, s := range sides {
				want := slices.DeleteFunc(slices.Clone(s.differs), func(path string) bool { return small && slices.Contains(notSmall, path) })
				got := differences(runs[s.run], runs[s.than])
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("run %d differs from run %d (-said +found):\n%s", s.run, s.than, diff)
				}
			}
		})
	}
}

// runsOf are the specifications of a file's runs, by path.
func runsOf(t *testing.T, file string) []map[string]string {
	t.Helper()
	var runs []map[string]string
	for document := range strings.SplitSeq(read(t, file), "\n---\n") {
		var object struct {
			Kind string         `json:"kind"`
			Spec map[string]any `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if object.Kind != "BenchmarkRun" {
			continue
		}
		delete(object.Spec, "suspend") // they run one after the other
		delete(object.Spec, "claims")  // they say nothing of what is measured
		delete(object.Spec, "plots")
		delete(object.Spec, "tables")
		runs = append(runs, flattened(object.Spec))
	}
	return runs
}

// variantsOf are the specifications of the variants of a file's comparison, by path; none if it has no comparison.
func variantsOf(t *testing.T, file string) []map[string]string {
	t.Helper()
	var comparison v1alpha1.BenchmarkComparison
	if err := yaml.Unmarshal([]byte(read(t, file)), &comparison); err != nil || comparison.Kind != "BenchmarkComparison" {
		return nil
	}
	var variants []map[string]string
	for i := range comparison.Spec.Variants {
		text, err := yaml.Marshal(plan.MemberRun(&comparison, plan.Member{Round: 1, Variant: i}).Spec)
		if err != nil {
			t.Fatal(err)
		}
		var spec map[string]any
		if err := yaml.Unmarshal(text, &spec); err != nil {
			t.Fatal(err)
		}
		variants = append(variants, flattened(spec))
	}
	return variants
}

// flattened are the values of a specification by their paths.
func flattened(spec map[string]any) map[string]string {
	values := map[string]string{}
	flatten(values, "", spec)
	if values["database.resources.limits.memory"] == "" {
		// The default depends on it.
		values["database.resources"] = "for a buffer pool of " + values["database.settings.bufferPoolSize"]
	}
	return values
}

// flatten writes the values of a tree by their paths.
func flatten(into map[string]string, path string, value any) {
	below, isMap := value.(map[string]any)
	if !isMap {
		into[path] = fmt.Sprint(value)
		return
	}
	for name, v := range below {
		flatten(into, strings.TrimPrefix(path+"."+name, "."), v)
	}
}

// differences are the paths at which two specifications differ, sorted.
func differences(a, b map[string]string) []string {
	var paths []string
	for path, value := range a {
		if other, found := b[path]; !found || other != value {
			paths = append(paths, path)
		}
	}
	for path := range b {
		if _, found := a[path]; !found {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

var repetitions = regexp.MustCompile(`(?m)\brepetitions: (\d+)(}?)( *#.*)?$`)

// A sample either has enough trials for an interval of the median, or says why it has one: what lies between looks like an
// interval and is none.
func TestRepetitionsOfSamples(t *testing.T) {
	for _, file := range tracked(t, "config/samples/*.yaml") { // and below
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		stated := repetitions.FindAllStringSubmatch(read(t, file), -1)
		if len(stated) != len(runsOf(t, file)) {
			t.Errorf("%s: %d runs, %d of them say how often they repeat", file, len(runsOf(t, file)), len(stated))
		}
		for _, match := range stated {
			if n, err := strconv.Atoi(match[1]); err != nil || n < 6 && (n > 1 || match[3] == "") {
				t.Errorf("%s: %q: use 6, or 1 with a comment", file, match[0])
			}
		}
	}
}
