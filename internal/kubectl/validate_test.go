// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// run is the shortest run that is valid, with more in its specification.
func runWith(more string) string {
	return "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: a}\nspec:\n  workload: {type: CommitSize, commitSize: {rows: 100}}\n" +
		"  " + more + "\n"
}

// TestSamplesAreValid: every file of config/samples, without a cluster.
func TestSamplesAreValid(t *testing.T) {
	code, out, errs := runMain(t, "", "validate", "-R", "-f", "../../config/samples")
	if code != ExitFine || errs != "" {
		t.Errorf("exit code %d: %s\n%s", code, errs, out)
	}
	for _, line := range []string{
		"config/samples/commit-size.yaml: BenchmarkRun commit-size: valid: 6 points × 6 repetitions = 36 trials; deadline: 7h20m",
		"durable-or-not.yaml: BenchmarkRun durable-or-not: valid: at most 20 rounds × 2 variants at 1 point = 20 trials; alternation: Slices; deadline: ",
		"insert-benchmark.yaml: BenchmarkRun insert-benchmark: valid: at most 7 rounds × 3 variants at 1 chain of ",
		"comparison-same-twice.yaml: BenchmarkRun same-twice: valid: at most 20 rounds × 2 variants at 1 point = ", "; all variants are equal (an A/A test); alternation: ",
		"own-data.yaml: ConfigMap own-data-schema: skipped: not a run",
		"publications/004-commit-size.yaml: BenchmarkRun commit-size-to-16384: valid",
	} {
		must.Has(t, out, line)
	}
	if n := strings.Count(out, ": valid: "); n < 25 {
		t.Errorf("%d were valid", n)
	}
}

// TestRefused: each problem is one line with file, kind, name, path and message.
func TestRefused(t *testing.T) {
	variants := runWith("database: {}\n  variants: [{name: one}, {name: two, %}]")
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"unknown fields": {
			runWith("database: {variable: {}}\n  repetitions: 3"),
			[]string{
				`BenchmarkRun a: spec.database.variable: unknown field "spec.database.variable"`,
				`BenchmarkRun a: spec.repetitions: unknown field "spec.repetitions"`,
			},
		},
		"unknown metadata": {
			strings.Replace(runWith("database: {}"), "{name: a}", "{name: a, label: {}}", 1),
			[]string{`metadata.label: unknown field "metadata.label"`},
		},
		"a field that is missing": {runWith(""), []string{"BenchmarkRun a: spec.database: Required value", "some validation rules were not checked"}},
		"a bound":                 {runWith("database: {}\n  seed: -1"), []string{"spec.seed: Invalid value: -1: spec.seed in body should be greater than or equal to 0"}},
		"a rule": {
			runWith("database: {settings: {bufferPoolSize: 2Gi}, resources: {limits: {memory: 2Gi}}}"),
			[]string{"spec: Invalid value: settings.bufferPoolSize must be below resources.limits.memory"},
		},
		"the operator": {
			strings.Replace(runWith("database: {}\n  sweep: {mode: OneFactor}"), "rows: 100", "rows: 100, points: [{rowsPerCommit: 1}]", 1),
			[]string{"BenchmarkRun a: spec: sweep.mode OneFactor goes with workload.commitSize.sweep: points are measured as they are listed"},
		},
		"a name": {
			strings.Replace(runWith("database: {}"), "name: a", "name: A_b", 1),
			[]string{"BenchmarkRun A_b: metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain", "a run's name has at most 40 characters"},
		},
		"a variant": {
			strings.Replace(variants, "%", "workload: {commitSize: {rowsPerCommit: 101}}", 1),
			[]string{"BenchmarkRun a: spec.variants[two]: spec.workload.commitSize: Invalid value: rowsPerCommit must not be above rows"},
		},
		"a variant twice": {
			strings.Replace(variants, "%", "database: {}}, {name: two", 1), []string{"spec.variants[2]: Duplicate value: {\"name\":\"two\"}"},
		},
		"fields without a value": {
			runWith("database: {settings: {flushLogAtTrxCommit: }, variables: {max_connections: '300', skip_innodb_doublewrite: }}"),
			[]string{
				"spec.database.settings.flushLogAtTrxCommit: no value: write one, or leave the field out",
				`spec.database.variables[skip_innodb_doublewrite]: no value: write one, as in "ON" or ""`,
			},
		},
		"a variant's field without a value": {
			strings.Replace(variants, "%", "database: {variables: {skip_innodb_doublewrite: }, settings: }", 1),
			[]string{
				"spec.variants[1].database.settings: no value: write one, or leave the field out",
				`spec.variants[1].database.variables[skip_innodb_doublewrite]: no value: write one, as in "ON" or ""`,
			},
		},
		"a pasted option file": {
			runWith("database:\n      variables:\n        innodb-buffer-pool-instances: 8\n        Innodb_Log_Buffer_Size: 48MB\n" +
				"        key_buffer_size: 1.5M\n        'sort_buffer_size': '2M # per thread'\n        \"'join_buffer_size'\": \"'2M'\"\n" +
				"        skip-name-resolve:\n        innodb_file_per_table: ON\n        max_connections: 300\n        datadir: /x"),
			[]string{
				"spec.database.variables[skip-name-resolve]: no value: write one, as in \"ON\" or \"\"",
				"spec.database.variables[skip-name-resolve]: write skip_name_resolve: a name is in lower case and with underscores",
				"spec.database.variables[innodb-buffer-pool-instances]: a number, not a text, without quotation marks: write \"8\"",
				"spec.database.variables[innodb-buffer-pool-instances]: write innodb_buffer_pool_instances: a name is in lower case",
				"spec.database.variables[Innodb_Log_Buffer_Size]: write innodb_log_buffer_size: ",
				"spec.database.variables[Innodb_Log_Buffer_Size]: write \"48M\" in place of \"48MB\"",
				"spec.database.variables[key_buffer_size]: write \"1536K\" in place of \"1.5M\"",
				"spec.database.variables[sort_buffer_size]: write \"2M\" in place of \"2M # per thread\"",
				"spec.database.variables['join_buffer_size']: write join_buffer_size: ",
				"spec.database.variables['join_buffer_size']: write \"2M\" in place of \"'2M'\"",
				"spec.database.variables[innodb_file_per_table]: a truth value, not a text, without quotation marks: write \"ON\"",
				"spec.database.variables[max_connections]: a number, not a text, without quotation marks: write \"300\"",
				"spec.database.variables: Invalid value: datadir: reserved for the operator",
			},
		},
		"CPU without quotation marks": {
			runWith("database: {resources: {requests: {cpu: 0.25}}}"),
			[]string{"spec.database.resources.requests[cpu]: a number, not a text, without quotation marks: write \"0.25\""},
		},
		"set twice":       {runWith("database: {}\n  database: {}"), []string{`key "database" already set in map`}},
		"no object":       {"- 1\n", []string{"it is not a Kubernetes object"}},
		"no kind":         {"a: 1\n", []string{"apiVersion or kind is missing"}},
		"a later version": {strings.Replace(runWith("database: {}"), "v1alpha1", "v9", 1), []string{"apiVersion: benchrun.dev/v9 is unknown; use benchrun.dev/v1alpha1"}},
		"the second one": {
			runWith("database: {}") + "---\n" + runWith("database: {}\n  seed: -1"), []string{"BenchmarkRun a: valid: 1 point × 6 repetitions = 6 trials", "spec.seed"},
		},
		"nothing": {"---\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runMain(t, tc.text, "validate", "-f", "-")
			if code != ExitError || !strings.HasPrefix(errs, "error: ") {
				t.Errorf("exit code %d, %s", code, errs)
			}
			if lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n"); tc.want != nil && len(lines) != len(tc.want) {
				t.Errorf("%d lines, want %d:\n%s", len(lines), len(tc.want), out)
			}
			for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
				if line != "" && !strings.HasPrefix(line, "-: ") {
					t.Errorf("%q does not begin with its file", line)
				}
			}
			must.Has(t, out, tc.want...)
		})
	}
}

// A name that the API server is to make is valid if it can make one.
func TestGeneratedName(t *testing.T) {
	for prefix, valid := range map[string]bool{"nightly-": true, "Nightly-": false, strings.Repeat("n", 36): false} {
		text := strings.Replace(runWith("database: {}"), "name: a", "generateName: "+prefix, 1)
		code, out, errs := runMain(t, text, "validate", "-f", "-")
		if (code == ExitFine) != valid || !strings.Contains(out, "BenchmarkRun "+prefix+"(no name): ") {
			t.Errorf("%s: exit code %d, %s%s", prefix, code, out, errs)
		}
	}
}

// TestPrecision: the repetitions of a run with a target are bounds.
func TestPrecision(t *testing.T) {
	_, out, _ := runMain(t, runWith("database: {}\n  trials: {precision: {targetRelativeCIPercent: 2}}"), "validate", "-f", "-")
	must.Has(t, out, "1 point × 6 to 12 repetitions = at most 12 trials")
}

// TestFolders: only manifests are read, and folders below only with -R.
func TestFolders(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "below")
	must.Do(t, os.Mkdir(below, 0o700))
	for file, text := range map[string]string{
		filepath.Join(top, "a.yaml"): runWith("database: {}"), filepath.Join(top, "notes.txt"): "nothing of ours",
		filepath.Join(below, "b.yml"): runWith("database: {}"),
	} {
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for want, arguments := range map[int][]string{1: {"-f", top}, 2: {"-R", "-f", top}} {
		code, out, errs := runMain(t, "", append([]string{"validate"}, arguments...)...)
		if code != ExitFine || strings.Count(out, "\n") != want {
			t.Errorf("%v: exit code %d, %s%s", arguments, code, out, errs)
		}
	}
	if code, _, errs := runMain(t, "", "validate", "-f", filepath.Join(below, "..", "below", "none")); code != ExitError || !strings.Contains(errs, "no such file") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

// A run in stages has as many trials as chains, whatever the number of stages that each of them measures.
func TestValidateStages(t *testing.T) {
	text := "apiVersion: benchrun.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {name: a}\nspec:\n  database: {}\n  trials: {repetitions: 4}\n" +
		"  workload: {type: IIBench, iiBench: {stages: [{name: l.i0, insert: {rows: 1000}}, {name: rest, rest: {}}, {name: l.x, createIndexes: 1}]}}\n"
	const want = "BenchmarkRun a: valid: 1 chain of 2 stages × 4 repetitions = 4 trials; deadline: "
	if code, out, errs := runMain(t, text, "validate", "-f", "-"); code != ExitFine || !strings.Contains(out, want) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	text = strings.Replace(text, "createIndexes: 1", "query: {by: SecondaryRange, seconds: 1}", 1)
	if code, out, _ := runMain(t, text, "validate", "-f", "-"); code == ExitFine || !strings.Contains(out, "stage l.x: query.by SecondaryRange needs a stage with createIndexes") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
