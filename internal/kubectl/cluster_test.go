//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

var (
	api         client.WithWatch
	environment *envtest.Environment
)

func TestMain(m *testing.M) {
	os.Exit(testutil.RunWithEnvironment(m, func(e *envtest.Environment, c client.WithWatch) { api, environment = c, e }))
}

// kubeconfig for these credentials, in a file.
func kubeconfig(t *testing.T, content []byte) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must.Do(t, os.WriteFile(file, content, 0o600))
	return []string{"--kubeconfig", file, "--cache-dir", t.TempDir()}
}

// inNamespace returns how to call the plugin in a new namespace, and its name.
func inNamespace(t *testing.T) (func(stdin string, arguments ...string) (int, string, string), string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "plugin-"}}
	must.Do(t, api.Create(t.Context(), ns))
	flags := append(kubeconfig(t, environment.KubeConfig), "-n", ns.Name)
	return func(stdin string, arguments ...string) (int, string, string) {
		t.Helper()
		return runMain(t, stdin, append(arguments, flags...)...)
	}, ns.Name
}

// TestEnvtestRun creates and completes runs, and has the API server refuse mistakes.
func TestEnvtestRun(t *testing.T) {
	plugin, ns := inNamespace(t)
	pair := strings.Replace(runWith("database: {}\n  variants: [{name: one}, {name: two}]"), "name: a", "name: pair", 1)
	for _, tc := range []struct {
		name, stdin string
		arguments   string
		code        int
		out, errs   string
	}{
		{"an unknown field", runWith("database: {}\n  repetitions: 3"), "run -f -", ExitError, "", `strict decoding error: unknown field "spec.repetitions"`},
		{"a rule", runWith("database: {}\n  seed: -1"), "run -f -", ExitError, "", "spec.seed: Invalid value: -1"},
		{"two runs", runWith("database: {}") + "---\n" + pair, "run -f -", ExitFine, "benchmarkrun.benchrun.dev/a created\nbenchmarkrun.benchrun.dev/pair created\n", ""},
		{"the same again", runWith("database: {}"), "run -f -", ExitError, "", "BenchmarkRun a already exists: use another name"},
		{"changed", runWith("database: {}"), "run -f - b --set workload.commitSize.sweep.rowsPerCommit=1,16 -o name", ExitFine, "benchmarkrun.benchrun.dev/b\n", ""},
		{"explained", "", "explain b", ExitFine, "is the operator running?", ""},
		{"a label's name", "", "logs b --trial 1", ExitError, "", "has no Pod and no record"},
	} {
		code, out, errs := plugin(tc.stdin, strings.Fields(tc.arguments)...)
		if code != tc.code || !strings.Contains(out, tc.out) || !strings.Contains(errs, tc.errs) || tc.out == "" && out != "" {
			t.Errorf("%s: exit code %d\n%s%s", tc.name, code, out, errs)
		}
	}
	before := append(kubeconfig(t, environment.KubeConfig), "-n", ns, "watch", "")
	_, out, _ := runMain(t, "", append([]string{"__complete"}, before...)...)
	for _, name := range []string{"b", "pair"} { // anywhere: the order depends on the second in which each was created
		if !slices.Contains(strings.Split(out, "\n"), name) {
			t.Errorf("%s is not completed: %s", name, out)
		}
	}
	var run v1alpha1.BenchmarkRun
	must.Do(t, api.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "b"}, &run))
	if got := run.Spec.Workload.CommitSize.Sweep.RowsPerCommit; len(got) != 2 || got[1] != 16 {
		t.Errorf("rowsPerCommit is %v", got)
	}
}
