// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
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
		0: {0, "cannot say", false}, 1: {0, "cannot say", false}, 3: {1, "cannot say", true}, 12: {6, "lazy is ", true},
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
		must.Same(t, "lines of CSV", n+1, strings.Count(text(t, p, "csv"), "\n"))
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
	must.Refused(reported(t.Context(), clusterWith(broken), "bench", "pair"))(t, "planning run pair")
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

// reportOf what a cluster has, with the documents of its attempts.
func reportOf(t *testing.T, name string, from client.Reader) (*printable, *documents) {
	t.Helper()
	p := must.Get(reported(t.Context(), from, "bench", name))(t)
	return p, &documents{from: from, namespace: "bench", withOutputs: true}
}

func namesIn(files []result.File) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

// A folder has every plot, and the tables of a file; its checksums name them as all other files.
func TestFolderOfPlots(t *testing.T) {
	p, docs := reportOf(t, "x", clusterWith(finishedRun(t, "x", 1)...))
	q := pagetest.File(`{plots: [{name: env=a.seconds, against: rowsPerCommit, metric: durationSeconds},
		{name: none, against: rowsPerCommit, metric: x}], tables: [{name: published, metrics: [durationSeconds]}]}`)
	must.Do(t, p.Request(&q))
	dir := filepath.Join(t.TempDir(), "d")
	for range 2 { // a second time over the first
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		must.Do(t, p.writeAll(t.Context(), streams, docs, dir))
		want := "The plot none is left out: no metric named x was measured. There are: rowsPerSecond, clientCPUPerRow, durationSeconds.\n" +
			"11 files were written to " + dir + ".\n"
		must.Same(t, "said", want, errOut.String())
	}
	sums := must.Get(os.ReadFile(filepath.Join(dir, result.SumsFile)))(t)
	if table, err := os.ReadFile(filepath.Join(dir, "tables", "published.csv")); err != nil ||
		!strings.HasPrefix(string(table), "rowsPerCommit,round,durationSeconds\n") ||
		!strings.Contains(string(sums), result.Digest(table)+"  tables/published.csv\n") {
		t.Errorf("the table is %q, %v", table, err)
	}
	for _, name := range []string{"env=a.seconds.svg", "against_rowsPerCommit.svg"} {
		data := must.Get(os.ReadFile(filepath.Join(dir, "plots", name)))(t)
		if !strings.HasSuffix(string(data), "</svg>\n") {
			t.Errorf("%s is %.300s", name, data)
		}
		must.Has(t, string(sums), result.Digest(data)+"  plots/"+name+"\n")
	}
}

// documentOutput gives a document what a program printed in two phases, the first of which is the last by its name.
func documentOutput(doc *result.Document) {
	doc.Tool = &result.ToolFacts{Commands: []result.ToolCommand{{Phase: "prepare"}, {Phase: "measure"}}}
	doc.ToolOutput = map[string]string{"measure": "transactions: 7\n", "prepare": "Creating tables\n"}
}

// report --dir writes what a program printed that made the load, or plans: one file for each attempt, whatever its variants.
func TestReportDirHasOutputs(t *testing.T) {
	plans := func(doc *result.Document) {
		doc.ToolOutput = map[string]string{"plan of pay, statement 1": "Seq Scan\n"}
	}
	const whole = "--- what the program printed, prepare ---\nCreating tables\n\n" +
		"--- what the program printed, measure ---\ntransactions: 7\n"
	for name, tc := range map[string]struct {
		objects []client.Object
		files   int
		one     string
		want    string
	}{
		"a run":     {finishedRun(t, "x", 1, documentOutput), 12, "x-t1-a1.txt", whole},
		"in trials": {finishedVariants(t, v1alpha1.AlternateTrials, documentOutput), 8, "twice-t3-a1.txt", whole},
		"in slices": {
			finishedVariants(t, v1alpha1.AlternateSlices, plans), 4, "twice-t3-a1.txt",
			"--- one: plan of pay, statement 1 ---\nSeq Scan\n\n--- other: plan of pay, statement 1 ---\nSeq Scan\n",
		},
	} {
		run, _, _ := strings.Cut(tc.one, "-")
		p, docs := reportOf(t, run, clusterWith(tc.objects...))
		dir := t.TempDir()
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		must.Do(t, p.writeAll(t.Context(), streams, docs, dir))
		found := must.Get(filepath.Glob(filepath.Join(dir, outputsFolder, "*.txt")))(t)
		must.Same(t, name+": files", tc.files, len(found))
		text, err := os.ReadFile(filepath.Join(dir, outputsFolder, tc.one))
		if diff := cmp.Diff(tc.want, string(text)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		sums, err := os.ReadFile(filepath.Join(dir, result.SumsFile))
		if err != nil || !strings.Contains(string(sums), "  "+outputsFolder+tc.one+"\n") {
			t.Errorf("%s: it has no digest: %v\n%s", name, err, sums)
		}
	}
}

// Without such a program there is no such folder. An output that cannot be read is reported as missing.
func TestReportDirWithoutOutputs(t *testing.T) {
	p, docs := reportOf(t, "x", clusterWith(finishedRun(t, "x", 1)...))
	dir := t.TempDir()
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	must.Do(t, p.writeAll(t.Context(), streams, docs, dir))
	if _, err := os.Stat(filepath.Join(dir, outputsFolder)); !os.IsNotExist(err) {
		t.Errorf("a folder of outputs: %v", err)
	}
	objects := finishedRun(t, "x", 1, documentOutput)
	p, docs = reportOf(t, "x", clusterWith(objects[1:]...))
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	if err := p.writeAll(t.Context(), streams, docs, t.TempDir()); err != nil ||
		!strings.HasPrefix(errOut.String(), "The plots and outputs are incomplete: 1 document of the attempts cannot be read") {
		t.Errorf("%v: %s", err, errOut)
	}
}
