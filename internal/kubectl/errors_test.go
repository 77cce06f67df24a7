// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// answer of an API server by path; everything else does not exist.
type answer struct {
	code int
	body any
}

func serve(t *testing.T, answers map[string]answer) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, known := answers[r.URL.Path]
		if !known {
			found = answer{http.StatusNotFound, status(http.StatusNotFound, metav1.StatusReasonNotFound, "not found")}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(found.code)
		_ = json.NewEncoder(w).Encode(found.body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func status(code int32, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}
}

// apiKinds are answers of an API server that knows Benchrun.
func apiKinds(more map[string]answer) map[string]answer {
	all := bare()
	maps.Copy(all, map[string]answer{
		"/apis": {http.StatusOK, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{{
			Name: "benchrun.dev", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "benchrun.dev/v1alpha1", Version: "v1alpha1"}},
		}}}},
		"/apis/benchrun.dev/v1alpha1": {http.StatusOK, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "benchrun.dev/v1alpha1",
			APIResources: []metav1.APIResource{
				{Name: "benchmarkruns", SingularName: "benchmarkrun", Namespaced: true, Kind: "BenchmarkRun"},
			},
		}},
	})
	maps.Copy(all, more)
	return all
}

// bare are answers of an API server that has nothing but its own kinds.
func bare() map[string]answer {
	group := metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}
	return map[string]answer{
		"/api":  {http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}},
		"/apis": {http.StatusOK, metav1.APIGroupList{TypeMeta: group}},
	}
}

// runMain is the plugin as a user calls it, without a kubeconfig of the machine.
func runMain(t *testing.T, stdin string, arguments ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Main(t.Context(), genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &stdout, ErrOut: &stderr}, arguments)
	return code, stdout.String(), stderr.String()
}

// TestErrors: what users meet is one line that says what to do, and the exit code is 3.
func TestErrors(t *testing.T) {
	const sample = "../../config/samples/commit-size.yaml"
	const runs = "/apis/benchrun.dev/v1alpha1/namespaces/default/benchmarkruns"
	forbidden := answer{http.StatusForbidden, status(403, metav1.StatusReasonForbidden, `benchmarkruns.benchrun.dev is forbidden: User "eve" cannot get`)}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, tc := range map[string]struct {
		server    string
		arguments []string
		says      string
	}{
		"no kubeconfig":      {"", []string{"watch", "a"}, "no cluster is configured: set KUBECONFIG, or use --kubeconfig or --server"},
		"no such kubeconfig": {"", []string{"watch", "a", "--kubeconfig", "/nowhere"}, "stat /nowhere: no such file or directory"},
		"no such context":    {"", []string{"watch", "a", "--context", "nowhere", "--server", "http://localhost"}, "context was not found for specified context: nowhere: `kubectl config get-contexts`"},
		"nobody there":       {gone.URL, []string{"watch", "a"}, "the cluster does not answer: dial tcp"},
		"not installed":      {serve(t, bare()), []string{"watch", "a"}, "Benchrun is not installed in this cluster"},
		"forbidden": {
			serve(t, apiKinds(map[string]answer{runs + "/a": forbidden})),
			[]string{"watch", "a"},
			`User "eve" cannot get. Ask for the role benchrun-benchmarkrun-editor`,
		},
		"forbidden to create": {serve(t, apiKinds(map[string]answer{runs: forbidden})), []string{"run", "-f", sample}, "Ask for the role"},
		"not logged in": {
			serve(t, apiKinds(map[string]answer{runs + "/a": {http.StatusUnauthorized, status(401, metav1.StatusReasonUnauthorized, "Unauthorized")}})),
			[]string{"watch", "a"},
			"the cluster does not accept your credentials: log in again",
		},
		"no such run":      {serve(t, apiKinds(nil)), []string{"watch", "nobody"}, "there is no run \"nobody\" in namespace default: `kubectl get brun` lists"},
		"no name of a run": {serve(t, apiKinds(nil)), []string{"explain", "pod/a"}, `invalid resource name "pod/a"`},
		"no such command":  {"", []string{"nonsense"}, `unknown command "nonsense"`},
		"no such flag":     {"", []string{"watch", "a", "--nonsense"}, "unknown flag: --nonsense"},
		"no name":          {"", []string{"watch"}, "accepts 1 arg(s), received 0"},
		"nothing to run":   {"", []string{"run"}, "-f FILE is missing"},
		"no such file":     {"", []string{"run", "-f", "/nowhere"}, "open /nowhere: no such file or directory"},
		"no such dry run":  {"", []string{"run", "-f", sample, "--dry-run", "half"}, "--dry-run half is not known"},
		"nothing to check": {"", []string{"validate"}, "-f FILE is missing"},
		"whose log":        {"", []string{"logs", "a"}, `required flag(s) "trial" not set`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
			t.Setenv("HOME", t.TempDir())
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			if tc.server != "" {
				tc.arguments = append(tc.arguments, "--server", tc.server, "--cache-dir", t.TempDir())
			}
			code, out, errs := runMain(t, "", tc.arguments...)
			if code != ExitError || out != "" {
				t.Errorf("exit code %d, output %q", code, out)
			}
			if !strings.HasPrefix(errs, "error: ") || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, tc.says) {
				t.Errorf("%q does not say %q in one line", errs, tc.says)
			}
		})
	}
}

// TestOneLine: an error of several lines is printed as one.
func TestOneLine(t *testing.T) {
	must.Lack(t, explained(os.NewSyscallError("a\n  b", os.ErrExist)), "\n")
}

// damaged is a file that a test writes, and the command that reads it.
type damaged struct {
	content   []byte
	path      string
	arguments []string
}

// filesToDamage are the results of a run without variants and of one with them.
func filesToDamage(t *testing.T) []damaged {
	t.Helper()
	_, a := measuredRun(t, "main", 1)
	_, b := measuredRun(t, "new", 1)
	variants := must.Get(os.ReadFile(variantsFile))(t)
	run, copied := file(t, b), filepath.Join(t.TempDir(), "variants.json")
	return []damaged{
		{resultsJSON(t, b), run, []string{"compare", file(t, a), run}},
		{variants, copied, []string{"compare", copied}},
		{variants, copied, []string{"compare", copied + ":lazy", copied + ":same"}},
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
				must.Do(t, os.WriteFile(d.path, d.content[:end], 0o600))
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
		must.Do(t, json.Unmarshal(d.content, &tree))
		tried := 0
		holes("", tree, func(what string) {
			if tried++; tried%stride() != 0 {
				return
			}
			text := must.Get(json.Marshal(tree))(t)
			must.Do(t, os.WriteFile(d.path, text, 0o600))
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
