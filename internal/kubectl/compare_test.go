// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// measuredRun has two points with six trials each, whose values scatter by 1 % around 1,000 times the factor.
func measuredRun(t *testing.T, name string, factor float64) (*v1alpha1.BenchmarkRun, *report.Report) {
	t.Helper()
	run := testutil.MakeRun(name, "bench").Sweep(1, 16).Repetitions(6).Obj()
	run.UID = types.UID("uid of " + name)
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, uint64(len(name))))
	var records []*result.Record
	for _, trial := range p.Trials {
		records = append(records, testutil.Record(trial.Number, 1, p.Points[trial.Point].Parameters,
			1000*factor*math.Exp(0.01*r.NormFloat64())))
	}
	rep, err := analysis.OfRun(run, p, records, v1alpha1.ConditionComplete)
	if err != nil {
		t.Fatal(err)
	}
	return run, rep
}

// resultsJSON of a run.
func resultsJSON(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// file of a run's results.
func file(t *testing.T, r *report.Report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), r.Run.Name+".json")
	if err := os.WriteFile(path, resultsJSON(t, r), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// plugin runs a command without a cluster and returns its exit code and what it printed.
func plugin(t *testing.T, arguments ...string) (code int, out, errOut string) {
	t.Helper()
	streams, _, o, e := genericiooptions.NewTestIOStreams()
	code = Main(t.Context(), streams, append(arguments, "--kubeconfig", os.DevNull))
	return code, o.String(), e.String()
}

func TestCompareExitCodes(t *testing.T) {
	made := func(name string, factor float64) *report.Report {
		_, r := measuredRun(t, name, factor)
		return r
	}
	few := made("few", 1)
	few.Run.Planned = 0
	few.Records = few.Records[:4] // two trials of each point
	failed := made("failed", 1)
	failed.Run.Outcome = v1alpha1.ConditionFailed
	unfinished := made("unfinished", 1)
	unfinished.Run.Outcome = report.Unfinished
	main, same, slow, slower, fast := file(t, made("main", 1)), file(t, made("same", 1.002)), file(t, made("slow", 0.96)),
		file(t, made("slower", 0.9)), file(t, made("fast", 2))
	for _, test := range []struct {
		arguments []string
		code      int
		says      string
	}{
		{[]string{main, same}, ExitFine, "all 2 points are equal within 5 %"},
		{[]string{main, same, "--fail-on-regression", "5%"}, ExitFine, "OK\n"},
		{[]string{main, slow, "--fail-on-regression", "5%"}, ExitFine, "slow is 4 % slower than main"},
		{[]string{main, slow, "--fail-on-regression", "3%"}, ExitRegression, "REGRESSION\n"},
		{[]string{main, slow, "--fail-on-regression=3"}, ExitRegression, "REGRESSION\n"},
		{[]string{main, slow, "--fail-on-regression", "0.5 %"}, ExitRegression, "REGRESSION\n"},
		{[]string{main, slower, "--fail-on-regression", "5%"}, ExitRegression, "slower by more than 5 % at 2 of 2 points"},
		{[]string{main, slower, "--fail-on-regression", "5%", "--allow-undecided"}, ExitRegression, "REGRESSION"},
		{[]string{main, slower}, ExitFine, "slower is 11 % slower than main"},
		{[]string{main, fast, "--fail-on-regression", "0"}, ExitFine, "fast is 2 times as fast as main"},
		{[]string{main, file(t, few)}, ExitCannotSay, "too few trials, 6 and 2"},
		{[]string{main, file(t, few), "--fail-on-regression", "5%"}, ExitCannotSay, "CANNOT SAY"},
		{[]string{main, file(t, few), "--allow-undecided"}, ExitFine, "CANNOT SAY"},
		{[]string{main, slow, "--metric", "clientCPUPerRow"}, ExitFine, "equal within 5 %"},

		{[]string{main, slow, "--metric", "nothing"}, ExitError, "has measured no nothing; it has rowsPerSecond, clientCPUPerRow"},
		{[]string{main, main}, ExitError, "both are main"},
		{[]string{main, file(t, failed)}, ExitError, "run failed has not completed: Failed"},
		{[]string{main, file(t, unfinished)}, ExitError, "has not completed"},
		{[]string{main}, ExitError, "only a suite can be compared by itself"},
		{nil, ExitError, "arg(s)"},
		{[]string{main, slow, fast}, ExitError, "arg(s)"},
		{[]string{main + ":lazy", slow}, ExitError, "is a run, which has no variants"},
		{[]string{main + ":", slow}, ExitError, "is no reference"},
		{[]string{"./nothing.json", slow}, ExitError, "no such file"},
		{[]string{main, slow, "-o", "pdf"}, ExitError, "use one of text, markdown, json, github, junit"},
		{[]string{main, slow, "--fail-on-regression", "-5%"}, ExitError, "from 0 to below 100, like 5% or 0.5%"},
		{[]string{main, slow, "--fail-on-regression", ""}, ExitError, "from 0 to below 100, like 5% or 0.5%"},
		{[]string{main, slow, "--unknown"}, ExitError, "unknown flag"},
		{[]string{"in-the-cluster", slow}, ExitError, "error: "},
	} {
		code, out, errOut := plugin(t, append([]string{"compare"}, test.arguments...)...)
		if code != test.code || !strings.Contains(out+errOut, test.says) {
			t.Errorf("compare %v: exit code %d instead of %d, or it does not say %q:\n%s%s", test.arguments, code, test.code, test.says, out,
				errOut)
		}
		if code == ExitError && out != "" {
			t.Errorf("compare %v: it printed an answer: %s", test.arguments, out)
		}
	}
}

// Every format is for the same answer, and the exit code does not depend on it.
func TestCompareFormats(t *testing.T) {
	_, a := measuredRun(t, "main", 1)
	_, b := measuredRun(t, "pr-1234", 0.9)
	before, after := file(t, a), file(t, b)
	for format, begins := range map[string]string{
		"text": "CommitSize: pr-1234 is", "markdown": "# CommitSize: pr-1234", "json": "{\n", "github": "### CommitSize: pr-1234", "junit": "<?xml",
	} {
		code, out, _ := plugin(t, "compare", before, after, "--fail-on-regression", "5%", "-o", format)
		if code != ExitRegression || !strings.HasPrefix(out, begins) {
			t.Errorf("%s: exit code %d\n%s", format, code, out)
		}
	}
}

// suiteFile has the results of a suite.
const suiteFile = "../report/testdata/suite.results.json"

func TestCompareSuiteFile(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		code      int
		says      string
	}{
		{[]string{suiteFile}, ExitCannotSay, "durable-or-not: lazy is 3 times as fast as durable"},
		{[]string{suiteFile, "--allow-undecided"}, ExitFine, "CANNOT SAY"},
		{[]string{suiteFile + ":durable", suiteFile + ":lazy"}, ExitFine, "2 rounds  OK"},
		{[]string{suiteFile + ":durable", suiteFile + ":lazy", "--metric", "rowsPerSecond"}, ExitFine, "2 rounds  OK"},
		{[]string{suiteFile + ":lazy", suiteFile + ":same"}, ExitCannotSay, "too few rounds, 2"},
		{[]string{suiteFile + ":durable"}, ExitError, "only a suite can be compared by itself"},
		{[]string{suiteFile, suiteFile}, ExitError, "a suite has several variants"},
		{[]string{suiteFile, "--metric", "other"}, ExitError, "no other metric"},
		{[]string{suiteFile + ":durable", suiteFile + ":none"}, ExitError, "it has durable, lazy, same"},
	} {
		code, out, errOut := plugin(t, append([]string{"compare"}, test.arguments...)...)
		if code != test.code || !strings.Contains(out+errOut, test.says) {
			t.Errorf("compare %v: exit code %d instead of %d, or it does not say %q:\n%s%s", test.arguments, code, test.code, test.says, out,
				errOut)
		}
	}
}

// damaged is a file that a test writes, and the command that reads it.
type damaged struct {
	content   []byte
	path      string
	arguments []string
}

// filesToDamage are the results of a run and of a suite.
func filesToDamage(t *testing.T) []damaged {
	t.Helper()
	_, a := measuredRun(t, "main", 1)
	_, b := measuredRun(t, "new", 1)
	suite, err := os.ReadFile(suiteFile)
	if err != nil {
		t.Fatal(err)
	}
	run, copied := file(t, b), filepath.Join(t.TempDir(), "suite.json")
	return []damaged{
		{resultsJSON(t, b), run, []string{"compare", file(t, a), run}},
		{suite, copied, []string{"compare", copied}},
		{suite, copied, []string{"compare", copied + ":lazy", copied + ":same"}},
	}
}

// A file that is cut off, anywhere, or empty, is an error and never an answer.
func TestCompareOfPrefixes(t *testing.T) {
	for _, d := range filesToDamage(t) {
		last := bytes.LastIndexByte(d.content, '}')
		for cut := 0; cut <= last; cut += 1 + last/100 {
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
			tried++
		})
		if tried < 100 {
			t.Errorf("only %d holes were tried", tried)
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

func TestPercentage(t *testing.T) {
	for text, want := range map[string]float64{"5%": 0.05, "5": 0.05, "0.5%": 0.005, "0": 0, "99.9 %": 0.999} {
		p := percentage{below: 100}
		if err := p.Set(text); err != nil || math.Abs(p.fraction-want) > 1e-12 {
			t.Errorf("%q: %g, %v", text, p.fraction, err)
		}
	}
	for _, text := range []string{"", "%", "-1", "-1%", "+5", "NaN", "nan%", "Inf", "1e3", "0x5", "100", "100%", "5%%", "five", "5 percent", ".5", "5."} {
		p := percentage{below: 100}
		if err := p.Set(text); err == nil {
			t.Errorf("%q is %g", text, p.fraction)
		}
	}
	for fraction, want := range map[float64]string{0: "", 0.05: "5%", 0.005: "0.5%"} {
		if got := (&percentage{fraction: fraction}).String(); got != want {
			t.Errorf("%g is shown as %q, want %q", fraction, got, want)
		}
	}
}

// Two runs of one name are told apart by the last parts of their paths, if these differ.
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
	header := func(before, after string) string { return before + "  " + after + "  " + after + " / " + before }
	for other, want := range map[string]string{
		"b.json": header("a.json", "b.json"), "sub/a.json": header(dir+"/a.json", dir+"/sub/a.json"),
	} {
		if code, out, errOut := plugin(t, "compare", dir+"/a.json", dir+"/"+other); code != ExitFine || !strings.Contains(out, want) {
			t.Errorf("exit code %d, want %q in\n%s%s", code, want, out, errOut)
		}
	}
}

func TestCalled(t *testing.T) {
	for _, tc := range []struct{ a, b, wantA, wantB reference }{
		{reference{name: "./old/"}, reference{name: "new"}, reference{name: "old"}, reference{name: "new"}},
		{reference{name: "run/a"}, reference{name: "a.tgz"}, reference{name: "run/a"}, reference{name: "a.tgz"}},
		{
			reference{name: "oci://host/x/s:v1"},
			reference{name: "/x/s.tgz", variant: "lazy"},
			reference{name: "s:v1"},
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
		"commit-size": false, "run/commit-size": false, "suite/x": false, "brun/x": false, "a.b": false,
		"./x": true, "../x": true, "/x": true, "x/": true, "run/": true, "out/x": true, "x.json": true, "out/x.json": true, ".": true,
		"x.tgz": true, "oci://host/x:v1": true,
	} {
		if got := isPath(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
