// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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

// TestAgain: a run that is repeated asks for the same, and has nothing else of the first one.
func TestAgain(t *testing.T) {
	run := testutil.MakeRun("sizes", "ns").Sweep(1, 16).With(func(run *v1alpha1.BenchmarkRun) {
		run.Spec.Suspend = ptr.To(true)
		run.Labels = map[string]string{v1alpha1.LabelKueueQueue: "q", v1alpha1.LabelComparison: "s", "mine": "x"}
		run.Annotations = map[string]string{v1alpha1.AnnotationSharedInstance: "1"}
		run.Status.Headline = "fast"
	}).Obj()
	of := runSubject{run}
	again := repeated(of, nil)
	again.object().SetName("sizes-2")
	object, err := manifestFor(again)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"name": "sizes-2", "namespace": "ns", "labels": map[string]any{v1alpha1.LabelKueueQueue: "q"}}
	if d := cmp.Diff(want, object.Object["metadata"]); d != "" || object.Object["status"] != nil {
		t.Error(d, object.Object["status"])
	}
	var out bytes.Buffer
	if err := compareDigests(&out, of, again); err != nil || !strings.HasPrefix(out.String(), "specification: v2:sha256:") ||
		!strings.HasSuffix(out.String(), ", same as sizes\n") {
		t.Error(out.String(), err)
	}
	out.Reset()
	if err := compareDigests(&out, of, repeated(of, ptr.To[int64](7))); err != nil || !strings.Contains(out.String(), "the measurements are not the same") {
		t.Error(out.String(), err)
	}
	comparison := comparisonSubject{testutil.MakeComparison("pair", "ns", "a", "b").Obj()}
	out.Reset()
	if err := compareDigests(&out, comparison, repeated(comparison, nil)); err != nil || strings.Count(out.String(), ", same as pair\n") != 2 ||
		!strings.Contains(out.String(), "specification of variant b: v2:sha256:") {
		t.Error(out.String(), err)
	}
}

func TestFreeName(t *testing.T) {
	long := strings.Repeat("a", 40)
	for name, want := range map[string]string{"sizes": "sizes-4", "other": "other-2", long: long[:38] + "-2"} {
		of := testutil.MakeRun(name, "ns").Obj()
		cl := fakeCluster(testutil.MakeRun("sizes-2", "ns").Obj(), testutil.MakeRun("sizes-3", "ns").Obj())
		if got, err := freeName(t.Context(), cl, of); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
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
