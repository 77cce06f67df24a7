// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// begunVariants is a run of two variants that has measured its first n trials, one variant after the other, with what the cluster
// has of it. The second variant is twice as fast.
func begunVariants(t *testing.T, n int) (*v1alpha1.BenchmarkRun, []client.Object) {
	t.Helper()
	run := testutil.MakeVariants("pair", "bench", "durable", "lazy").Sweep(1).Obj()
	p := must.Get(validation.PlanRun(run))(t)
	p.Trials = p.Trials[:n]
	objects, _ := recordedAll(t, run, p, func(i int, trial *plan.Trial) (*result.Record, *result.Document) {
		return sidesOf(run, p, trial, 1000+float64(i), 2000+float64(i))
	})
	run.Status.CompletionTime = nil
	setReady(&run.Status.Conditions, v1alpha1.ReasonMeasuring, "round 2 of 20")
	return run, append(objects, run)
}

// A run with variants that has not finished has a report of what it has measured, which says so in every format for people.
func TestReportOfVariantsSoFar(t *testing.T) {
	for n, want := range map[int]struct {
		rounds  int
		answer  string
		compare bool
	}{
		0: {0, "no answer", false}, 1: {0, "no answer", false}, 3: {1, "cannot say", true}, 12: {6, "lazy is ", true},
	} {
		_, objects := begunVariants(t, n)
		p := must.Get(reported(t.Context(), clusterWith(objects...), "bench", "pair"))(t)
		if s := p; s.Rounds != want.rounds || len(s.Measurements()) != n || (len(s.Pairs) > 0) != want.compare {
			t.Errorf("%d trials: %d rounds, %d measured variants, %d pairs", n, s.Rounds, len(s.Measurements()), len(s.Pairs))
		}
		for _, format := range []string{"text", "markdown"} {
			got := text(t, p, format)
			if !strings.Contains(got, "pair (unfinished): "+want.answer) || strings.Contains(got, "Discarded") ||
				!strings.Contains(got, ", Unfinished, ") ||
				!strings.Contains(got, "this is what has been measured so far; round 2 of 20") {
				t.Errorf("%s of %d trials:\n%s", format, n, got)
			}
		}
		if got := strings.Count(text(t, p, "csv"), "\n"); got != n+1 {
			t.Errorf("%d trials: %d lines of CSV", n, got)
		}
		if got := text(t, p, "html"); !strings.Contains(got, "this is what has been measured so far") {
			t.Errorf("%d trials: the page does not say that it is not whole", n)
		}
	}
}

// It compares as the operator does. The documents are not read, so that variables that were not requested are not mentioned.
func TestReportOfVariantsCompares(t *testing.T) {
	_, objects := begunVariants(t, 8)
	p := must.Get(reported(t.Context(), clusterWith(objects...), "bench", "pair"))(t)
	got := p
	if p := got.Pairs[0]; p.Baseline != "durable" || p.Variant != "lazy" || len(p.Values) != 4 || p.Ratio < 1.9 || p.Ratio > 2.1 {
		t.Errorf("%+v", p)
	}
	if d := got.Variants[1]; d.OtherVariables != nil {
		t.Errorf("variables were compared that were not read: %+v", d)
	}
}

// Trials are those of the alternation that was chosen when the run began, and not of the one that its specification prefers.
func TestReportOfVariantsAfterAChoice(t *testing.T) {
	run, objects := begunVariants(t, 4)
	run.Spec.Alternation, run.Status.Alternation = v1alpha1.AlternateAutomatic, v1alpha1.AlternateRuns
	p := must.Get(reported(t.Context(), clusterWith(objects...), "bench", "pair"))(t)
	if s := p; s.Rounds != 2 || s.Alternation != v1alpha1.AlternateRuns {
		t.Errorf("%d rounds of %s", s.Rounds, s.Alternation)
	}
}

// A run with variants that has failed says why; one that cannot be planned is an error.
func TestReportOfVariantsThatIsNotWhole(t *testing.T) {
	run, objects := begunVariants(t, 3)
	setReady(&run.Status.Conditions, v1alpha1.ReasonLoaderFailed, "no privilege", v1alpha1.ConditionFailed)
	p := must.Get(reported(t.Context(), clusterWith(objects...), "bench", "pair"))(t)
	if rep := p; rep.Outcome != "Failed" || rep.Message != "LoaderFailed: no privilege" {
		t.Errorf("%+v", rep)
	}
	broken, _ := begunVariants(t, 0)
	broken.Spec.Workload.CommitSize.Sweep = new(v1alpha1.CommitSizeSweep)
	if _, err := reported(t.Context(), clusterWith(broken), "bench", "pair"); err == nil || !strings.Contains(err.Error(), "planning run pair") {
		t.Errorf("the error is %v", err)
	}
}

// Two runs of one name are distinguished by what the user calls them.
func TestCompareNamesFiles(t *testing.T) {
	_, r := measuredRun(t, "main", 1)
	_, again := measuredRun(t, "main", 1)
	again.UID = "another"
	dir := t.TempDir()
	for name, of := range map[string]*report.Report{"a.json": r, "b.json": again, "sub/a.json": again} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, name), resultsJSON(t, of), 0o600))
	}
	header := func(before, after string) string { return before + "  " + after + "  ratio" }
	for _, other := range []string{"b.json", "sub/a.json"} {
		want := header(dir+"/a.json", dir+"/"+other)
		if code, out, errOut := plugin(t, "compare", dir+"/a.json", dir+"/"+other, "--allow-undecided"); code != ExitFine ||
			!strings.Contains(out, want) {
			t.Errorf("exit code %d, want %q in\n%s%s", code, want, out, errOut)
		}
	}
}

func TestIsPath(t *testing.T) {
	for name, want := range map[string]bool{
		"commit-size": false, "a.b": false,
		"./x": true, "../x": true, "/x": true, "x/": true, "..": true, "out/x": true, "x.json": true, "out/x.json": true, ".": true,
		"x.tgz": true,
	} {
		must.Same(t, name, want, isPath(name))
	}
}
