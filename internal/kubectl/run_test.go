// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// TestDryRun prints a run without a cluster, and refuses one that is not valid.
func TestDryRun(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	sizes := []string{"run", "sizes", "--workload", "CommitSize", "--set", "workload.commitSize.rows=10000", "--dry-run=client"}
	for name, tc := range map[string]struct {
		stdin     string
		arguments []string
		code      int
		out, errs string
	}{
		"from flags": {"", append(sizes, "--set", "workload.commitSize.sweep.rowsPerCommit=1,16", "-o", "yaml"), ExitFine, `apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata:
  name: sizes
spec:
  database: {}
  workload:
    commitSize:
      rows: 10000
      sweep:
        rowsPerCommit:
        - 1
        - 16
    type: CommitSize
`, ""},
		"its name": {"", append(sizes, "-o", "name"), ExitFine, "benchmarkrun.benchrun.dev/sizes\n", ""},
		"in words": {"", sizes, ExitFine, "benchmarkrun.benchrun.dev/sizes created (dry run)\n", ""},
		"a rule": {
			"", append(sizes, "--set", "workload.commitSize.rowsPerCommit=10001"), ExitError, "",
			"BenchmarkRun sizes: spec.workload.commitSize: Invalid value: rowsPerCommit must not be above rows\nerror: BenchmarkRun sizes is not valid\n",
		},
		"a file": {runWith("database: {}"), []string{"run", "-f", "-", "--dry-run=client"}, ExitFine, "benchmarkrun.benchrun.dev/a created (dry run)\n", ""},
		"an unknown field": {
			runWith("databse: {}"),
			[]string{"run", "-f", "-", "--dry-run=client"},
			ExitError, "",
			"BenchmarkRun a: spec.databse: unknown field \"spec.databse\"\nerror: BenchmarkRun a is not valid\n",
		},
		"more than runs": {
			runWith("database: {}") + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: sql}}\n",
			[]string{"run", "-f", "-"},
			ExitError, "",
			"error: - also contains ConfigMap sql, which is neither a run nor a comparison: create everything with `kubectl apply -f -`, then use " +
				"`kubectl benchrun watch NAME`\n",
		},
		"nothing": {"---\n", []string{"run", "-f", "-"}, ExitError, "", "error: there are no runs or comparisons in the file\n"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runMain(t, tc.stdin, tc.arguments...)
			if code != tc.code || out != tc.out || errs != tc.errs {
				t.Errorf("exit code %d\n%s%s\nwant %d\n%s%s", code, out, errs, tc.code, tc.out, tc.errs)
			}
		})
	}
}

// TestCompletion: names of runs and comparisons, those given already left out; and a script for kubectl.
func TestCompletion(t *testing.T) {
	cl := fakeCluster(testutil.MakeRun("sizes", "ns").Obj(), testutil.MakeComparison("pair", "ns", "a", "b").Obj(), testutil.MakeRun("far", "other").Obj())
	command := new(cobra.Command)
	command.SetContext(t.Context())
	if d := cmp.Diff([]string{"pair", "sizes"}, named(command, client.Reader(cl), "ns", nil)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"sizes"}, named(command, cl, "ns", []string{"pair"})); d != "" {
		t.Error(d)
	}
	if code, out, errs := runMain(t, "", "__complete", "run", "--dry-run", ""); code != ExitFine || !strings.HasPrefix(out, "none\nclient\nserver\n") {
		t.Error(code, out, errs)
	}
	code, out, _ := runMain(t, "", "completion", "kubectl")
	if code != ExitFine || !strings.HasPrefix(out, "#!/bin/sh\n") || !strings.Contains(out, "kubectl benchrun __complete \"$@\"") {
		t.Error(code, out)
	}
}

// A file's comparison under another name, with other fields: those of a variant by its name.
func TestRunChanged(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	const file = `apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {name: gate}
spec:
  template: {spec: {database: {image: "mariadb:11.8"}, workload: {type: CommitSize, commitSize: {}}}}
  variants: [{name: base}, {name: new, database: {settings: {flushLogAtTrxCommit: 0}}}]
`
	const set, run = "variants.new.database.image=mariadb:12", "database.image=mariadb:12"
	for name, tc := range map[string]struct {
		stdin     string
		arguments []string
		code      int
		says      string
	}{
		"another name":      {file, []string{"pr-7"}, ExitFine, "name: pr-7\n"},
		"of a variant":      {file, []string{"--set", set}, ExitFine, "image: mariadb:12\n      settings:\n        flushLogAtTrxCommit: 0\n    name: new\n"},
		"of the comparison": {file, []string{"--set", "spec.maxRounds=8"}, ExitFine, "maxRounds: 8\n"},
		"of a run":          {runWith("database: {}"), []string{"b", "--set", run}, ExitFine, "image: mariadb:12\n"},
		"a variant that is not there": {
			file,
			[]string{"--set", "variants.nwe.database.image=x"},
			ExitError,
			`--set variants.nwe.database.image=x: spec.variants has no element "nwe"; it has base, new`,
		},
		"a variant and nothing of it": {file, []string{"--set", "variants.new=x"}, ExitError, "spec.variants.new has no value of its own"},
		"no field of a variant":       {file, []string{"--set", "variants.new.img=x"}, ExitError, `spec.variants.new has no field "img"; it has database, name`},
		"a field of a run":            {file, []string{"--set", run}, ExitError, `spec has no field "database"`},
		"two":                         {file + "---\n" + runWith("database: {}"), []string{"x"}, ExitError, "NAME and --set take a file with one run or comparison, but there are 2"},
		"a workload":                  {file, []string{"--workload", "CommitSize"}, ExitError, "with -f FILE, use --set"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runMain(t, tc.stdin, append([]string{"run", "-f", "-", "--dry-run=client", "-o", "yaml"}, tc.arguments...)...)
			if code != tc.code || !strings.Contains(out+errs, tc.says) {
				t.Errorf("exit code %d\n%s%s\nwant %d, %q", code, out, errs, tc.code, tc.says)
			}
		})
	}
}
