// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// begun is a run that has recorded the first n of its twelve trials, with its records.
func begun(t *testing.T, n int) (*v1alpha1.BenchmarkRun, []*corev1.ConfigMap) {
	t.Helper()
	run := testutil.MakeRun("commit-size", "bench").Sweep(1, 16).Repetitions(6).With(func(r *v1alpha1.BenchmarkRun) {
		r.Status.Conditions = []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Message: "trial 4 is measured",
		}}
		r.Spec.Claims = v1alpha1.Claims{{
			Name: "early", Ratio: &v1alpha1.RatioClaim{
				Of: testutil.AtRows("1"),
				To: testutil.AtRows("16"), WithinPercent: 5,
			},
		}}
	}).Obj()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	records, newest := testutil.Chain(run, p, n)
	run.Status.Records = newest
	return run, records
}

func reader(run *v1alpha1.BenchmarkRun, list []*corev1.ConfigMap) client.Reader {
	objects := []client.Object{run}
	for _, cm := range list {
		objects = append(objects, cm)
	}
	return fake.NewClientBuilder().WithScheme(scheme()).WithObjects(objects...).Build()
}

func text(t *testing.T, p *printable, format string) string {
	t.Helper()
	f := must.Get(formatOf(format, new(documents)))(t)
	var b strings.Builder
	must.Do(t, p.print(&b, f))
	return b.String()
}

// A run that has not finished has a report of what it has measured, which says so in every format for people.
func TestReportSoFar(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 of 12 trials measured, seed 1: Unfinished: this is what has been measured so far; trial 4 is measured",
		3: "3 of 12 trials measured, seed 1: Unfinished: this is what has been measured so far; trial 4 is measured",
	} {
		run, records := begun(t, n)
		p := must.Get(reported(t.Context(), reader(run, records), "bench", "commit-size"))(t)
		for _, format := range []string{"text", "markdown"} {
			if got := text(t, p, format); !strings.Contains(got, want) ||
				format != "markdown" && !strings.Contains(got, "commit-size (unfinished): ") {
				t.Errorf("%s does not say so:\n%s", format, got)
			}
		}
		if p.Claims != nil {
			t.Error("a claim is judged before all trials are measured")
		}
		if len(p.Records) > 0 && p.Records[0].Trial != 1 {
			t.Errorf("the first attempt is of trial %d", p.Records[0].Trial)
		}
		must.Same(t, "count", n, len(p.Records))
	}
}

// A run that has failed before it had results says why.
func TestReportOfAFailedRun(t *testing.T) {
	run, records := begun(t, 1)
	run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: "DatabaseFailed", Message: "it does not start",
	})
	p := must.Get(reported(t.Context(), reader(run, records), "bench", "commit-size"))(t)
	if got := text(t, p, "text"); !strings.Contains(got, "Failed: DatabaseFailed: it does not start") ||
		!strings.HasPrefix(got, "commit-size (failed): ") {
		t.Errorf("%s", got)
	}
}

// Files are those of the operator, which has seen the documents, if there are any: results.json has no histograms.
func TestReportHasTheOperatorsFiles(t *testing.T) {
	_, rep := measuredRun(t, "main", 1)
	for format, file := range map[string]string{
		"html": page.File, "markdown": report.SummaryFile, "csv": report.CSVFile, "benchfmt": report.BenchFile,
	} {
		must.Same(t, format, "its own", text(t, &printable{Report: rep, contents: map[string][]byte{file: []byte("its own")}}, format))
		if got := text(t, &printable{Report: rep}, format); len(got) < 100 {
			t.Errorf("without one, %s prints %.300s", format, got)
		}
	}
}

// Records that were deleted or changed are an error.
func TestReportOfChangedRecords(t *testing.T) {
	for want, change := range map[string]func([]*corev1.ConfigMap) []*corev1.ConfigMap{
		"was deleted": func(list []*corev1.ConfigMap) []*corev1.ConfigMap { return list[1:] },
		"is not what the operator wrote": func(list []*corev1.ConfigMap) []*corev1.ConfigMap {
			list[1].Data[result.RecordKey] = strings.Replace(list[1].Data[result.RecordKey], "1001", "9001", 1)
			return list
		},
	} {
		run, records := begun(t, 3)
		must.Refused(reported(t.Context(), reader(run, change(records)), "bench", "commit-size"))(t, want)
	}
	run, _ := begun(t, 0)
	must.Refused((&opener{ctx: t.Context(), from: reader(run, nil), namespace: "bench"}).open("commit-size"))(t, "has no results yet")
	setReady(&run.Status.Conditions, v1alpha1.ReasonDatabaseNotStarted, "no image", v1alpha1.ConditionFinished, v1alpha1.ConditionFailed)
	if _, err := (&opener{ctx: t.Context(), from: reader(run, nil), namespace: "bench"}).open("commit-size"); err == nil ||
		!strings.HasSuffix(err.Error(), "run commit-size failed: DatabaseNotStarted: no image") {
		t.Errorf("a run that has failed is compared: %v", err)
	}
}

// What the operator has published is compared with its digest, and can be compared with a file.
func TestCompareWithTheCluster(t *testing.T) {
	run, rep := measuredRun(t, "main", 1)
	files := must.Get(report.Files(rep))(t)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "main-results"}, Data: map[string]string{}}
	for _, f := range files {
		cm.Data[f.Name] = string(f.Data)
	}
	run.Status.Results = v1alpha1.ResultsReference{
		ConfigMap: cm.Name, Digest: result.NamedDigest([]byte(cm.Data[report.JSONFile])),
	}
	_, after := measuredRun(t, "new", 0.9)
	o := &opener{ctx: t.Context(), from: reader(run, []*corev1.ConfigMap{cm}), namespace: "bench"}
	c := must.Get(new(comparing).compare(o, []string{"main", file(t, after)}, false))(t)
	if c.Threshold = 0.05; c.Ruling() != report.Regression || c.Baseline != "main" || c.Variant != "new" {
		t.Errorf("%+v", c)
	}
	cm.Data[report.JSONFile] = strings.Replace(cm.Data[report.JSONFile], `"value": 9`, `"value": 8`, 1)
	o.from = reader(run, []*corev1.ConfigMap{cm})
	must.Refused(o.open("main"))(t, "is not what the operator wrote")
}

// A run without variants has no matrix.
func TestMatrixOfARun(t *testing.T) {
	_, rep := measuredRun(t, "main", 1)
	format, err := formatOf("matrix", nil)
	must.Do(t, err)
	err = (&printable{Report: rep}).print(io.Discard, format)
	must.Same(t, "error", "-o matrix: this format is for runs with variants", must.Text(err))
}

// A folder has a file of each format and their digests; what was changed since is an error.
func TestFolder(t *testing.T) {
	_, rep := measuredRun(t, "main", 1)
	files := must.Get((&printable{Report: rep}).files(new(documents)))(t)
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 { // a second time over the first
		must.Do(t, writeFolder(dir, files))
	}
	entries, err := os.ReadDir(dir)
	ofRuns := slices.DeleteFunc(formats(nil), func(f report.Format) bool { return f.Variants })
	if err != nil || len(entries) != len(ofRuns)+1 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	_, after := measuredRun(t, "new", 0.9)
	if code, out, errOut := plugin(t, "compare", dir+"/", file(t, after), "--fail-on-regression", "5%"); code != ExitRegression {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	results := filepath.Join(dir, report.JSONFile)
	content := must.Get(os.ReadFile(results))(t)
	changed := strings.Replace(string(content), `"value": 9`, `"value": 8`, 1)
	if changed == string(content) {
		t.Fatal("nothing was changed")
	}
	for name, change := range map[string]func() error{
		"was changed": func() error { return os.WriteFile(results, []byte(changed), 0o600) },
		"does not match SHA256SUMS": func() error { // which names another file
			return os.WriteFile(filepath.Join(dir, result.SumsFile), result.Sums{"x": result.Digest(nil)}.Text(), 0o600)
		},
		"is not a checksum": func() error { return os.WriteFile(filepath.Join(dir, result.SumsFile), []byte("x"), 0o600) },
		"has no SHA256SUMS": func() error { return os.Remove(filepath.Join(dir, result.SumsFile)) },
	} {
		must.Do(t, writeFolder(dir, files))
		must.Do(t, change())
		if code, _, errOut := plugin(t, "compare", dir+"/", file(t, after)); code != ExitError || !strings.Contains(errOut, name) {
			t.Errorf("%q: exit code %d: %s", name, code, errOut)
		}
	}
}

// Nothing outside of the folder is written, not even through a symbolic link in it.
func TestFolderStaysInside(t *testing.T) {
	outside, dir := filepath.Join(t.TempDir(), "precious"), t.TempDir()
	must.Do(t, os.WriteFile(outside, []byte("precious"), 0o600))
	must.Do(t, os.Symlink(outside, filepath.Join(dir, report.JSONFile)))
	for _, name := range []string{report.JSONFile, "../escaped", outside} {
		if err := writeFolder(dir, []result.File{{Name: name, Data: []byte("x")}}); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if content, err := os.ReadFile(outside); err != nil || string(content) != "precious" {
		t.Errorf("%q, %v", content, err)
	}
}

// A folder that was not written whole has no digests, not even those of what was there before.
func TestFolderThatIsNotWhole(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, writeFolder(dir, []result.File{{Name: report.JSONFile, Data: []byte("{}")}}))
	if err := writeFolder(dir, []result.File{{Name: "../escaped"}}); err == nil {
		t.Error("a file outside of the folder was written")
	}
	must.Refused(readFolder(dir))(t, "has no SHA256SUMS")
}

// The flags are checked before a cluster is contacted.
func TestReportFlags(t *testing.T) {
	if code, _, errOut := plugin(t, "report", "x", "-o", "pdf"); code != ExitError || !strings.Contains(errOut, "use one of text, markdown") {
		t.Errorf("%d: %s", code, errOut)
	}
	if code, _, errOut := plugin(t, "report", "x", "-o", "csv", "--dir", "y"); code != ExitError || !strings.Contains(errOut, "none of the others") {
		t.Errorf("%d: %s", code, errOut)
	}
}
