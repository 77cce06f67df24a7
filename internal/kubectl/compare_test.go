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

	"github.com/google/go-cmp/cmp"
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
			t.Errorf("compare %v: exit code %d instead of %d, or it does not say %q:\n%s%s", test.arguments, code, test.code, test.says, out,
				errOut)
		}
		if code == ExitError && out != "" {
			t.Errorf("compare %v: it printed an answer: %s", test.arguments, out)
		}
	}
}

// variantsFile has the results of a run with variants.
const variantsFile = "../report/testdata/comparison.results.json"

func TestCompareVariantsFile(t *testing.T) {
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
		{[]string{variantsFile, variantsFile}, ExitError, "run durable-or-not has variants: name it alone, or two of them as RUN:VARIANT"},
		{[]string{variantsFile, "--metric", "other"}, ExitError, "has measured no other"},
		{[]string{variantsFile + ":durable", variantsFile + ":none"}, ExitError, "it has durable, lazy, same"},
	} {
		code, out, errOut := plugin(t, append([]string{"compare"}, test.arguments...)...)
		if code != test.code || !strings.Contains(out+errOut, test.says) {
			t.Errorf("compare %v: exit code %d instead of %d, or it does not say %q:\n%s%s", test.arguments, code, test.code, test.says, out,
				errOut)
		}
	}
}

// Scripts know the exit codes as numbers.
func TestExitCodes(t *testing.T) {
	if got := [...]int{ExitFine, ExitRegression, ExitCannotSay, ExitError}; got != [...]int{0, 1, 2, 3} {
		t.Errorf("the exit codes are %v", got)
	}
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
		if got := (&percentage{fraction: fraction}).String(); got != want {
			t.Errorf("%g is shown as %q, want %q", fraction, got, want)
		}
	}
}

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestVariantNames(t *testing.T) {
	for name, tc := range map[string]struct {
		images, want []string
		err          string
	}{
		"tags":             {[]string{"mariadb:10.11", "docker.io/library/mariadb:11.8"}, []string{"10-11", "11-8"}, ""},
		"no tag":           {[]string{"mariadb", "mariadb:11.8"}, []string{"latest", "11-8"}, ""},
		"repositories":     {[]string{"mariadb:11.8", "example.com:5000/x/mysql:9.7"}, []string{"mariadb-11-8", "mysql-9-7"}, ""},
		"folders":          {[]string{"a.example/mariadb:11.8", "b.example/mariadb:11.8"}, []string{"11-8", "11-8-2"}, ""},
		"digests":          {[]string{"mariadb:11.8", "mariadb@" + digest}, []string{"11-8", "0123456789ab"}, ""},
		"a tag and digest": {[]string{"mariadb:11.8", "mariadb:11.8@" + digest}, []string{"11-8", "0123456789ab"}, ""},
		"long": {
			[]string{"mariadb:11.8-a-very-long-tag-of-a-build-1", "mariadb:11.8-a-very-long-tag-of-a-build-2", "mariadb:_.11"},
			[]string{"11-8-a-very-long-tag", "11-8-a-very-long-t-2", "11"},
			"",
		},
		"one":   {[]string{"mariadb:11.8"}, nil, "name at least two images"},
		"twice": {[]string{"mariadb:11.8", "docker.io/library/mariadb:11.8"}, nil, "docker.io/library/mariadb:11.8 is listed twice"},
		"bad":   {[]string{"mariadb:11.8", "mariadb:11:8"}, nil, `"mariadb:11:8" is not the name of an image`},
	} {
		var got []string
		references, err := parseImages(tc.images)
		if err == nil {
			got = variantNames(references)
		}
		if d := cmp.Diff(tc.want, got); d != "" || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

// TestCompareImages prints a run's file with a list of images as its variants, as it would be created: it is valid.
func TestCompareImages(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	const run = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: sizes, namespace: lab, labels: {kueue.x-k8s.io/queue-name: q, mine: x}}
spec:
  title: Sizes
  seed: 7
  database: {image: "mariadb:10.6", settings: {binaryLog: false}}
  workload: {type: CommitSize, commitSize: {rows: 10}}
  trials: {repetitions: 6, primeSeconds: 1}
`
	code, out, errs := runMain(t, run, "run", "-f", "-", "versions", "--image", "mariadb:10.11,mariadb:11.8,mysql:9.7", "--image", "percona/percona-server:8.4",
		"--set", "alternation=Trials", "--set", "rounds.atMost=30", "--dry-run=client", "-o", "yaml")
	want := `apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata:
  labels:
    kueue.x-k8s.io/queue-name: q
    mine: x
  name: versions
  namespace: lab
spec:
  alternation: Trials
  database:
    image: mariadb:10.11
    settings:
      binaryLog: false
  rounds:
    atMost: 30
  seed: 7
  title: Sizes
  trials:
    primeSeconds: 1
  variants:
  - name: mariadb-10-11
    title: mariadb:10.11
  - database:
      image: mariadb:11.8
    name: mariadb-11-8
    title: mariadb:11.8
  - database:
      image: mysql:9.7
    name: mysql-9-7
    title: mysql:9.7
  - database:
      image: percona/percona-server:8.4
    name: percona-server-8-4
    title: percona/percona-server:8.4
  workload:
    commitSize:
      rows: 10
    type: CommitSize
`
	if d := cmp.Diff(want, out); code != ExitFine || d != "" ||
		errs != "left out, because rounds say how often variants are measured: trials.repetitions\n" {
		t.Error(code, errs, d)
	}
}

// TestCompareImagesEngine: an image whose name says nothing has the engine of the first one.
func TestCompareImagesEngine(t *testing.T) {
	code, out, errs := runMain(t, runWith("seed: 3"), "run", "-f", "-", "--image", "mysql:9.7,example.com/build:42,mariadb:11.8",
		"--dry-run=client", "-o", "jsonpath={.spec.database} {.spec.variants[*].database}")
	want := `{"image":"mysql:9.7"} {"engine":"MySQL","image":"example.com/build:42"} {"image":"mariadb:11.8"}`
	if code != ExitFine || out != want {
		t.Errorf("%d %s\n%s\n%s", code, errs, out, want)
	}
}

func TestCompareImagesErrors(t *testing.T) {
	valid := runWith("database: {}")
	for name, tc := range map[string]struct {
		stdin     string
		arguments []string
		says      string
	}{
		"one image": {valid, []string{"--image", "mariadb:11.8"}, "name at least two images"},
		"two runs":  {valid + "---\n" + valid, []string{"--image", "a:1,a:2"}, "--image takes a file with one run, but there are 2"},
		"variants": {
			runWith("database: {}\n  variants: [{name: one}, {name: two}]"),
			[]string{"--image", "a:1,a:2"},
			"run a has variants already: --image needs a run without",
		},
		"a name too long": {
			valid,
			[]string{"--image", "a:1,a:2", strings.Repeat("n", 41), "--dry-run=client"},
			"a run's name has at most 40 characters",
		},
	} {
		if code, _, errs := runMain(t, tc.stdin, append([]string{"run", "-f", "-"}, tc.arguments...)...); code != ExitError || !strings.Contains(errs, tc.says) {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
}
