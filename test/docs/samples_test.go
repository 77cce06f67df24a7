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
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// side is one of the runs of a publication, or a variant of one, by its name, with what it says otherwise than another
// one, and in which of the variables that matter most their servers differ.
type side struct {
	name, than string
	differs    []string
	effective  []string
}

// publications are all of them, without "-small" unless that compares something else: what their sides are compared in. It must
// be all that they differ in.
var publications = map[string][]side{
	"000-file-list-inserts": {{
		"5gib-buffer", "default-config", []string{"database.settings.bufferPoolSize", "database.settings.redoLogSize"}, poolAndLog,
	}},
	"000-file-list-inserts-small": {{
		"large-buffer", "default-config",
		[]string{"database.settings.bufferPoolSize", "database.settings.redoLogSize", "workload.bulkInsert.points"},
		poolAndLog,
	}},
	"001-innodb-bulk-insert": {
		{"bulk", "bulk-off", []string{"workload.tprochLoad.uniqueChecks"}, nil},
		{"unique-off", "without", []string{"workload.tprochLoad.uniqueChecks"}, nil},
		{"bulk-off", "without", []string{"database.image"}, nil},
		{"bulk", "unique-off", []string{"database.image"}, nil},
	},
	"001-innodb-bulk-insert-small": {{"bulk", "bulk-off", []string{"workload.tprochLoad.uniqueChecks"}, nil}},
	"002-tpcc-four-configurations": {
		{"t2", "t1", []string{
			"database.hostTuning.ioScheduler", "database.hostTuning.swappiness",
			"database.settings.bufferPoolSize", "database.settings.redoLogSize", "database.storage.storageClassName",
			"database.variables.innodb_buffer_pool_chunk_size", "database.variables.innodb_buffer_pool_instances",
			"database.variables.innodb_stats_on_metadata", "database.variables.query_cache_limit",
			"database.variables.query_cache_size", "database.variables.query_cache_type",
		}, poolAndLog},
		{"t3", "t2", []string{"database.storage.storageClassName"}, nil},
		{"t4", "t2", []string{
			"database.engine", "database.image", "database.settings.binaryLog",
			"database.variables.innodb_adaptive_hash_index", "database.variables.innodb_change_buffering",
			"database.variables.innodb_io_capacity", "database.variables.innodb_log_buffer_size",
			"database.variables.innodb_log_files_in_group", "database.variables.query_cache_size",
			"database.variables.query_cache_type", "database.variables.table_open_cache",
		}, []string{"binary log"}},
		{"t2-no-log", "t2", []string{"database.settings.binaryLog"}, []string{"binary log"}},
	},
	"003-iibench-contest": nil,
	"004-commit-size": {{
		"commit-size-to-16384", "commit-size-to-1024", []string{"workload.commitSize.rows", "workload.commitSize.sweep.rowsPerCommit"}, nil,
	}},
	"004-commit-size-small": {{
		"commit-size-to-16384-small", "commit-size-to-1024-small", []string{"workload.commitSize.sweep.rowsPerCommit"}, nil,
	}},
}

// poolAndLog are what the sizes of a variant's settings change.
var poolAndLog = []string{"buffer pool", "redo log"}

// notSmall are what only the full size of a publication varies: a small cluster has new servers, whose defaults it keeps, pools of
// one chunk, redo logs of one file, and no administrator who allows that its nodes are tuned.
var notSmall = []string{
	"database.variables.innodb_buffer_pool_instances", "database.variables.innodb_buffer_pool_chunk_size",
	"database.variables.innodb_log_files_in_group", "database.variables.innodb_adaptive_hash_index",
	"database.variables.innodb_change_buffering", "database.variables.innodb_io_capacity",
	"database.variables.innodb_log_buffer_size", "database.variables.table_open_cache",
	"database.hostTuning.swappiness", "database.hostTuning.ioScheduler",
}

// The sides of a publication differ in what they say, and in nothing else: neither in what they ask for nor in what a server of theirs
// has of it.
func TestSidesOfPublications(t *testing.T) {
	files := tracked(t, "config/samples/publications/*.yaml")
	const published = 5
	must.Same(t, "files of the publications in two sizes", 2*published, len(files))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			full, small := strings.CutSuffix(name, "-small")
			sides, known := publications[name]
			if !known {
				sides, known = publications[full]
			}
			runs := specsOf(t, file)
			compared := map[string]bool{}
			for _, s := range sides {
				compared[s.name], compared[s.than] = true, true
			}
			if !known || len(runs) != max(1, len(compared)) {
				t.Fatalf("%d runs, %d of them are compared", len(runs), len(compared))
			}
			for _, s := range sides {
				want := slices.DeleteFunc(slices.Clone(s.differs), func(path string) bool { return small && slices.Contains(notSmall, path) })
				of, than := runs[s.name], runs[s.than]
				if diff := cmp.Diff(want, differences(flattened(t, &of), flattened(t, &than)), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s differs from %s (-said +found):\n%s", s.name, s.than, diff)
				}
				found := differences(effective(t, &of.Database), effective(t, &than.Database))
				if diff := cmp.Diff(s.effective, found, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("the server of %s differs from that of %s (-said +found):\n%s", s.name, s.than, diff)
				}
			}
		})
	}
}

// flattened are the values of a specification by their paths, without claims, which say nothing of what is measured.
func flattened(t *testing.T, spec *v1alpha1.BenchmarkRunSpec) map[string]string {
	t.Helper()
	text := must.Get(yaml.Marshal(spec))(t)
	var tree map[string]any
	must.Do(t, yaml.Unmarshal(text, &tree))
	delete(tree, "claims")
	values := map[string]string{}
	flatten(values, "", tree)
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

var repetitions = regexp.MustCompile(`(?m)\b(?:repetitions|rounds: {atMost): (\d+)(, .*}|}?)( *#.*)?$`)

// A sample either has enough trials for an interval of the median, or says why it has one: what lies between looks like an
// interval and is none. The rounds of variants are enough unless it says otherwise.
func TestRepetitionsOfSamples(t *testing.T) {
	for _, file := range tracked(t, "config/samples/*.yaml") { // and below
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		for document := range strings.SplitSeq(read(t, file), "\n---\n") {
			match := repetitions.FindStringSubmatch(document)
			if match == nil {
				if strings.Contains("\n"+document, "\nkind: BenchmarkRun\n") && !strings.Contains(document, "\n  variants:\n") {
					t.Errorf("%s: a run does not say how often it repeats", file)
				}
				continue
			}
			if n, err := strconv.Atoi(match[1]); err != nil || n < 6 && (n > 1 || match[3] == "") {
				t.Errorf("%s: %q: use 6, or 1 with a comment", file, match[0])
			}
		}
	}
}

// The cluster of `make demo` runs every sample. Of those that need another server than it has, the header says how it comes there.
func TestSamplesSayWhichImagesTheyNeed(t *testing.T) {
	const demo = "mariadb:11.8"
	images := regexp.MustCompile(`image: "?((?:mariadb|mysql):[0-9.]+)`)
	found := 0
	for _, file := range tracked(t, "config/samples/*.yaml") {
		if strings.Contains(file, "/publications/") {
			continue // each has a page that says what it takes
		}
		text := read(t, file)
		header, _, _ := strings.Cut(text, "apiVersion:")
		for _, match := range images.FindAllStringSubmatch(text, -1) {
			found++
			if match[1] != demo && !regexp.MustCompile(`hack/cluster\.sh up [^\n]*`+regexp.QuoteMeta(match[1])+`\b`).MatchString(header) {
				t.Errorf("%s needs %s, which its header does not name", file, match[1])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d images were found", found)
	}
}
