// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// measuredRun has two points with six trials each, whose values scatter by 1% around 1,000 times the factor.
func measuredRun(t *testing.T, name string, factor float64) (*v1alpha1.BenchmarkRun, *report.Report) {
	t.Helper()
	run := testutil.MakeRun(name, "bench").Sweep(1, 16).Repetitions(6).Obj()
	run.UID = types.UID("uid of " + name)
	p := must.Get(plan.ForRun(&run.Spec))(t)
	r := rand.New(rand.NewPCG(1, uint64(len(name))))
	var records []*result.Record
	for _, trial := range p.Trials {
		records = append(records, testutil.Record(trial.Number, 1, p.Points[trial.Point].Parameters,
			1000*factor*math.Exp(0.01*r.NormFloat64())))
	}
	rep := must.Get(report.Of(run, p, records, nil, v1alpha1.ConditionComplete, ""))(t)
	return run, rep
}

// resultsJSON of a run.
func resultsJSON(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, report.JSON(&b, r))
	return b.Bytes()
}

// file of a run's results.
func file(t *testing.T, r *report.Report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), r.Name+".json")
	must.Do(t, os.WriteFile(path, resultsJSON(t, r), 0o600))
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
	few.Planned = 0
	few.Records = few.Records[:4] // two trials of each point
	failed := made("failed", 1)
	failed.Outcome = v1alpha1.ConditionFailed
	unfinished := made("unfinished", 1)
	unfinished.Outcome = report.Unfinished
	main, same, slow, slower, fast := file(t, made("main", 1)), file(t, made("same", 1.002)), file(t, made("slow", 0.96)),
		file(t, made("slower", 0.9)), file(t, made("fast", 2))
	for _, test := range []struct {
		arguments []string
		code      int
		says      string
	}{
		{[]string{main, same, "--between-runs", "0"}, ExitFine, "equal within 5% for all 2 points"},
		{[]string{main, same, "--between-runs", "0", "--fail-on-regression", "5%"}, ExitFine, "OK\n"},
		{[]string{main, slow, "--between-runs", "0", "--fail-on-regression", "5%"}, ExitFine, "slow is 4% slower than main"},
		{[]string{main, slow, "--between-runs", "0", "--fail-on-regression", "3%"}, ExitRegression, "REGRESSION\n"},
		{[]string{main, slow, "--between-runs", "0", "--fail-on-regression=3"}, ExitRegression, "REGRESSION\n"},
		{[]string{main, slow, "--between-runs", "0", "--fail-on-regression=5", "--fail-on", "possible"}, ExitRegression, "does not exclude a loss"},
		{[]string{main, slow, "--between-runs", "0", "--fail-on-regression", "0.5 %"}, ExitRegression, "REGRESSION\n"},
		{[]string{main, slower, "--fail-on-regression", "5%"}, ExitRegression, "slower by more than 5% at 2 of 2 points"},
		{[]string{main, slower, "--fail-on-regression", "5%", "--allow-undecided"}, ExitRegression, "REGRESSION"},
		{[]string{main, slower, "--fail-on-regression", "5%", "-o", "markdown"}, ExitRegression, "# CommitSize: slower"},
		{[]string{main, slower, "--fail-on-regression", "5%", "-o", "junit"}, ExitRegression, "<?xml"},
		{[]string{main, slower}, ExitFine, "slower is 11% slower than main"},
		{[]string{main, fast, "--fail-on-regression", "0"}, ExitFine, "fast is 2× as fast as main"},
		{[]string{main, file(t, few)}, ExitCannotSay, "too few trials (6 and 2)"},
		{[]string{main, file(t, few), "--fail-on-regression", "5%"}, ExitCannotSay, "CANNOT SAY"},
		{[]string{main, file(t, few), "--allow-undecided"}, ExitFine, "CANNOT SAY"},
		{[]string{main, slow, "--between-runs", "0", "--metric", "clientCPUPerRow"}, ExitFine, "equal within 5%"},

		// Unless it is said otherwise, equal runs differ by 3%.
		{[]string{main, same}, ExitCannotSay, "equal runs may differ by 5%"},
		{[]string{main, same, "--fail-on-regression", "5%"}, ExitCannotSay, "with a standard deviation of 3% from run to run"},
		{[]string{main, same, "--fail-on-regression", "10%"}, ExitFine, "OK\n"},
		{[]string{main, same, "--between-runs", "1%"}, ExitFine, "with a standard deviation of 1% from run to run"},
		{[]string{main, slow, "--fail-on-regression", "3%"}, ExitCannotSay, "CANNOT SAY"},
		{[]string{main, slower, "--fail-on-regression", "5%", "--between-runs", "5%"}, ExitCannotSay, "CANNOT SAY"},
		{[]string{main, slower, "-o", "json"}, ExitFine, `"betweenRunsPercent": 3`},
		{[]string{main, slow, "--between-runs", "-1%"}, ExitError, "from 0 to below 100"},

		{[]string{main, slow, "--metric", "nothing"}, ExitError, "has measured no nothing; it has rowsPerSecond, clientCPUPerRow"},
		{[]string{main, main}, ExitError, "both are main"},
		{[]string{main, file(t, failed)}, ExitError, "run failed has not completed: Failed"},
		{[]string{main, file(t, unfinished)}, ExitError, "has not completed"},
		{[]string{main}, ExitError, "name two runs, two variants as RUN:VARIANT, or one run with variants"},
		{nil, ExitError, "arg(s)"},
		{[]string{main, slow, fast}, ExitError, "arg(s)"},
		{[]string{main + ":lazy", slow}, ExitError, "run main has no variants"},
		{[]string{main + ":", slow}, ExitError, "is not valid: use RUN:VARIANT"},
		{[]string{"./nothing.json", slow}, ExitError, "no such file"},
		{[]string{main, slow, "-o", "pdf"}, ExitError, "use one of text, markdown, json, junit"},
		{[]string{main, slow, "--fail-on-regression", "-5%"}, ExitError, "from 0 to below 100, for example 5% or 0.5%"},
		{[]string{main, slow, "--fail-on-regression", ""}, ExitError, "from 0 to below 100, for example 5% or 0.5%"},
		{[]string{main, slow, "--unknown"}, ExitError, "unknown flag"},
		{[]string{"in-the-cluster", slow}, ExitError, "error: "},
	} {
		code, out, errOut := plugin(t, append([]string{"compare"}, test.arguments...)...)
		if code != test.code || !strings.Contains(out+errOut, test.says) {
			t.Errorf("compare %v: exit code %d instead of %d, or it does not say %q:\n%s%s", test.arguments, code, test.code, test.says, out, errOut)
		}
		if code == ExitError && out != "" {
			t.Errorf("compare %v: it printed an answer: %s", test.arguments, out)
		}
	}
}

// variantsFile has the results of a run with variants.
const variantsFile = "../report/testdata/comparison.results.json"

func TestCompareVariantsFile(t *testing.T) {
	again := filepath.Join(t.TempDir(), "again.json")
	text := strings.Replace(string(must.Get(os.ReadFile(variantsFile))(t)), `"uid": "`, `"uid": "2`, 1)
	must.Do(t, os.WriteFile(again, []byte(text), 0o600))
	for _, test := range []struct {
		arguments []string
		code      int
		says      string
	}{
		{[]string{variantsFile}, ExitCannotSay, "durable-or-not: flushed once a second is 1.7× as fast as every commit on disk"},
		{[]string{variantsFile, "--allow-undecided"}, ExitFine, "CANNOT SAY"},
		{[]string{variantsFile + ":durable", variantsFile + ":lazy"}, ExitFine, "2 rounds  OK"},
		{[]string{variantsFile + ":durable", variantsFile + ":lazy", "--metric", "rowsPerSecond"}, ExitFine, "2 rounds  OK"},
		{[]string{variantsFile + ":lazy", variantsFile + ":same"}, ExitCannotSay, "too few rounds (2)"},
		{[]string{variantsFile + ":durable"}, ExitError, "name two runs, two variants as RUN:VARIANT, or one run with variants"},
		{[]string{variantsFile, variantsFile}, ExitError, "run durable-or-not is both of them"},
		{[]string{variantsFile, variantsFile + ":lazy"}, ExitError, "run durable-or-not has variants: name it alone, or two of them as RUN:VARIANT"},
		{[]string{variantsFile, again}, ExitCannotSay, "durable-or-not: reproduced at 3, cannot say at 1 of 4 points"},
		{[]string{variantsFile, again, "--fail-on-regression", "0%"}, ExitError, "--metric and --fail-on-regression take RUN:VARIANT"},
		{[]string{variantsFile, "--metric", "other"}, ExitError, "has measured no other"},
		{[]string{variantsFile + ":durable", variantsFile + ":none"}, ExitError, "it has durable, lazy, same"},
	} {
		code, out, errOut := plugin(t, append([]string{"compare"}, test.arguments...)...)
		if code != test.code || !strings.Contains(out+errOut, test.says) {
			t.Errorf("compare %v: exit code %d instead of %d, or it does not say %q:\n%s%s", test.arguments, code, test.code, test.says, out, errOut)
		}
	}
}

// Scripts know the exit codes as numbers.
func TestExitCodes(t *testing.T) {
	must.Same(t, "exit codes", [...]int{0, 1, 2, 3}, [...]int{ExitFine, ExitRegression, ExitCannotSay, ExitError})
}

// A command that crashes gives no answer.
func TestCompareCrashes(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	command := newCompare(nil, streams) // without a cluster to ask
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs([]string{"a", "b"})
	err := command.Execute()
	if answer := (verdictError{}); err == nil || errors.As(err, &answer) || !strings.Contains(err.Error(), "this is a bug, please report it") {
		t.Errorf("the error is %v", err)
	}
	if out.Len() > 0 {
		t.Errorf("it printed %s", out)
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
	for fraction, want := range map[float64]string{0: "", 0.05: "5%", 0.005: "0.5%", 0.07: "7%"} {
		must.Same(t, "shown as", want, (&percentage{fraction: fraction}).String())
	}
}
