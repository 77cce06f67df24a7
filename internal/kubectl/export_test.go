// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/version"
)

// exported is a bundle of what a cluster has, in a file.
func exported(t *testing.T, name string, objects []client.Object) (string, error) {
	t.Helper()
	cl := clusterWith(objects...)
	s, err := find(t.Context(), cl, "bench", name)
	if err != nil {
		t.Fatal(err)
	}
	return export(t.Context(), cl, s, filepath.Join(t.TempDir(), "b.tgz"))
}

func TestExportComparison(t *testing.T) {
	path, err := exported(t, "twice", finishedComparison(t))
	if err != nil {
		t.Fatal(err)
	}
	b, err := openBundle(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := printableOf(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range comparisonOf(t, p).Runs {
		if decoded, err := report.Decode(fileIn(t, path, "twice/runs/"+run.Name+"/results/results.json")); err != nil ||
			decoded.Run.Name != run.Name {
			t.Errorf("the results of %s: %v", run.Name, err)
		}
	}
}

// fileIn is a file of a bundle.
func fileIn(t *testing.T, bundle, name string) []byte {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "tar", "-xzOf", bundle, name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What is not what the operator has written is not exported, and nothing is left behind.
func TestExportRefusesWhatWasChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(cm *corev1.ConfigMap)
		want   string
	}{
		"x-t2-a1":   {func(cm *corev1.ConfigMap) { cm.Data["attempt.json"] += " " }, "x-t2-a1, the record of an attempt, is not what"},
		"x-results": {func(cm *corev1.ConfigMap) { cm.Data["results.json"] += " " }, "x-results is not what the operator wrote"},
		"x-t12-a1":  {func(cm *corev1.ConfigMap) { cm.Data["attempt.json"] += " " }, "x-t12-a1, the record of an attempt, is not what"},
		"x-t3-a1":   {nil, "x-t3-a1, the record of an attempt, was deleted"},
	} {
		var objects []client.Object
		for _, o := range finishedRun(t, "x", 1) {
			cm, ok := o.(*corev1.ConfigMap)
			if ok && cm.Name == name {
				if c.change == nil {
					continue
				}
				c.change(cm)
			}
			objects = append(objects, o)
		}
		cl, dir := clusterWith(objects...), t.TempDir()
		s, err := find(t.Context(), cl, "bench", "x")
		if err != nil {
			t.Fatal(err)
		}
		_, err = export(t.Context(), cl, s, filepath.Join(dir, "b.tgz"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v are left, %v", name, left, err)
		}
	}
}

// A bundle has the documents that the records name, or it would be unreadable.
func TestExportRefusesOtherDocuments(t *testing.T) {
	for name, change := range map[string]func(*corev1.ConfigMap){
		"deleted": func(cm *corev1.ConfigMap) { delete(cm.BinaryData, result.DocumentKey) },
		"changed": func(cm *corev1.ConfigMap) {
			cm.BinaryData[result.DocumentKey] = append(cm.BinaryData[result.DocumentKey], 0)
		},
	} {
		objects := finishedRun(t, "x", 1)
		for _, o := range objects {
			if cm, ok := o.(*corev1.ConfigMap); ok && cm.Name == "x-t2-a1" {
				change(cm)
			}
		}
		_, err := exported(t, "x", objects)
		if err == nil || err.Error() != "ConfigMap x-t2-a1 lacks the document of the attempt, or it is not what the operator wrote" {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// What has not ended is not exported, even if it has results already.
func TestExportNeedsAnEnd(t *testing.T) {
	objects := finishedRun(t, "x", 1)
	run, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
	run.Status.CompletionTime = nil
	if _, err := exported(t, "x", objects); err == nil || !strings.Contains(err.Error(), "x has not finished") {
		t.Errorf("the error is %v", err)
	}
}

// A bundle that cannot be moved to its place is not left beside it.
func TestExportToAFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "taken", "by"), 0o700); err != nil {
		t.Fatal(err)
	}
	cl := clusterWith(finishedRun(t, "x", 1)...)
	s, err := find(t.Context(), cl, "bench", "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := export(t.Context(), cl, s, filepath.Join(dir, "taken")); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v are left, %v", left, err)
	}
}

// The same results give the same bytes.
func TestExportIsTheSameEachTime(t *testing.T) {
	var texts [][]byte
	for range 2 {
		path, err := exported(t, "commit-size", finishedRun(t, "commit-size", 1))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two bundles of one run differ")
	}
}

// filesIn a bundle, by their names in it.
func filesIn(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(zr); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(header.Name, "/")
		files[name] = string(text)
	}
}

// A bundle has every attempt with its document, the variables of the server once, and says what it is of.
func TestExportHasEverything(t *testing.T) {
	objects := finishedRun(t, "x", 1)
	run, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
	run.UID = "the-uid"
	path, err := exported(t, "x", objects)
	if err != nil {
		t.Fatal(err)
	}
	files := filesIn(t, path)
	for i := range 12 {
		folder := fmt.Sprintf("attempts/x-t%d-a1/", i+1)
		if files[folder+"attempt.json"] == "" || files[folder+"document.json.gz"] == "" {
			t.Errorf("%s is not whole", folder)
		}
	}
	var m bundle.Manifest
	if err := json.Unmarshal([]byte(files[bundle.ManifestFile]), &m); err != nil {
		t.Fatal(err)
	}
	digest, err := plan.Digest(&run.Spec)
	want := bundle.Manifest{
		Version: 1, Kind: "BenchmarkRun", Namespace: "bench", Name: "x", UID: "the-uid", SpecDigest: digest,
		ResultsDigest: run.Status.Results.Digest, Started: run.Status.StartTime.UTC(), Finished: run.Status.CompletionTime.UTC(),
		Answer: run.Status.Headline, Program: version.Version(),
	}
	if diff := cmp.Diff(want, m); diff != "" || err != nil {
		t.Errorf("%v: manifest (-want +got):\n%s", err, diff)
	}
	if text := files[bundle.VariablesFile]; text != "init_connect = SET a\\nSET b\nport = 3306\n" {
		t.Errorf("the variables are %q", text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A run of a comparison whose results are not those that the comparison has measured is no part of its bundle; one that has no
// results has no folder.
func TestExportComparisonOfOtherRuns(t *testing.T) {
	const name = "twice-r1-one"
	var objects []client.Object
	for _, o := range finishedComparison(t) {
		if !strings.HasPrefix(o.GetName(), name) {
			objects = append(objects, o)
		}
	}
	_, err := exported(t, "twice", append(objects, finishedRun(t, name, 2)...))
	if err == nil || !strings.Contains(err.Error(), "run "+name+" is not the one that the comparison measured") {
		t.Errorf("the error is %v", err)
	}
	path, err := exported(t, "twice", comparisonWithout(t, finishedComparison(t), name))
	if err != nil {
		t.Fatal(err)
	}
	for file := range filesIn(t, path) {
		if strings.HasPrefix(file, bundle.RunsFolder+name) {
			t.Errorf("it has %s", file)
		}
	}
}

// comparisonWithout is a comparison in whose results one run has none.
func comparisonWithout(t *testing.T, objects []client.Object, run string) []client.Object {
	t.Helper()
	comparison, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
	results, _ := objects[len(objects)-2].(*corev1.ConfigMap)
	rep, err := report.DecodeComparison([]byte(results.Data[report.JSONFile]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range rep.Runs {
		if rep.Runs[i].Name == run {
			rep.Runs[i].Results = ""
		}
	}
	var text bytes.Buffer
	if err := report.ComparisonJSON(&text, rep); err != nil {
		t.Fatal(err)
	}
	results.Data[report.JSONFile] = text.String()
	comparison.Status.Results.Digest = result.NamedDigest(text.Bytes())
	return objects
}

func TestPublishedNames(t *testing.T) {
	got := publishedNames(map[string][]byte{
		"summary.md": nil, "results.json.gz.1": nil, "results.json.gz.2": nil, "results.csv.gz": nil, "report.html.1": nil,
	})
	if diff := cmp.Diff([]string{"report.html", "results.csv", "results.json", "summary.md"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An attempt that does not count has a record, which may have a summary, and no document.
func TestReadAttemptThatDoesNotCount(t *testing.T) {
	record := testutil.Record(1, 1, nil, 1000)
	record.Outcome = result.OutcomeInvalidated
	record.Summary.DocumentSHA256 = result.Digest([]byte("lost"))
	encoded, err := record.Encode()
	if err != nil {
		t.Fatal(err)
	}
	cl := clusterWith(configMap("x-t1-a1", result.File{Name: result.RecordKey, Data: []byte(encoded)}))
	text, document, err := readAttempt(t.Context(), cl, "bench", "x-t1-a1", record, result.NamedDigest([]byte(encoded)))
	if err != nil || string(text) != encoded || document != nil {
		t.Errorf("%v, %s, %s", err, text, document)
	}
}

// finishedRun is a run of two points that is Complete, and the ConfigMaps that the operator has written for it. Its values are
// those of every such run, multiplied; change is what its documents have besides.
func finishedRun(t *testing.T, name string, factor float64, change ...func(*result.Document)) []client.Object {
	t.Helper()
	run := testutil.MakeRun(name, "bench").Repetitions(6).Obj()
	run.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 16}}
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var (
		objects []client.Object
		records []*result.Record
		newest  v1alpha1.RecordReference
	)
	for i, trial := range p.Trials {
		point := p.Points[trial.Point].Parameters
		value := factor * (1000 + 5*float64(i%5)) * map[string]float64{"1": 1, "16": 4}[point["rowsPerCommit"]]
		document := testutil.Document("pod", trial.Number, 1, value)
		document.Server.Variables = map[string]string{"port": "3306", "init_connect": "SET a\nSET b"}
		for _, f := range change {
			f(document)
		}
		encoded, err := result.EncodeDocument(document)
		if err != nil {
			t.Fatal(err)
		}
		record := testutil.Record(trial.Number, 1, point, value)
		record.Summary.DocumentSHA256 = encoded.SHA256
		if newest.ConfigMap != "" {
			record.Previous = ptr.To(result.Reference(newest))
		}
		text, err := record.Encode()
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
		cm := configMap(plan.AttemptName(run, trial.Number, 1), result.File{Name: result.RecordKey, Data: []byte(text)},
			result.File{Name: result.DocumentKey, Data: encoded.Gzip, Binary: true})
		objects = append(objects, cm)
		newest = v1alpha1.RecordReference{ConfigMap: cm.Name, Digest: result.NamedDigest([]byte(text))}
	}
	run.Status.Records = newest
	run.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	run.Status.CompletionTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 9, 0, 0, time.UTC)}
	run.Status.Headline = "4040 rows/s at rowsPerCommit=16"
	run.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonComplete},
		{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonComplete},
	}
	rep, err := report.OfRun(run, p, records, v1alpha1.ConditionComplete)
	if err != nil {
		t.Fatal(err)
	}
	files, err := report.Files(rep)
	if err != nil {
		t.Fatal(err)
	}
	results := configMap(plan.ResultsName(run), files...)
	run.Status.Results = v1alpha1.ResultsReference{
		ConfigMap: results.Name, Digest: result.NamedDigest([]byte(results.Data[report.JSONFile])),
	}
	return append(objects, results, run)
}

// finishedComparison is a comparison of two variants and two rounds, with its runs.
func finishedComparison(t *testing.T, change ...func(*result.Document)) []client.Object {
	t.Helper()
	comparison := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: "twice", Namespace: "bench", UID: "comparison"}}
	rep := &report.Comparison{
		Name: "twice", Namespace: "bench", UID: "comparison", Spec: json.RawMessage(`{}`),
		Variants: []report.ComparisonVariant{{Name: "one", Baseline: true}, {Name: "other"}},
		Pairs:    []stats.Paired{{Variant: "other", Baseline: "one", Parameters: map[string]string{"rowsPerCommit": "1"}}},
	}
	var objects []client.Object
	for round := 1; round <= 2; round++ {
		for _, variant := range []string{"one", "other"} {
			members := finishedRun(t, fmt.Sprintf("twice-r%d-%s", round, variant), 1, change...)
			objects = append(objects, members...)
			run, _ := members[len(members)-1].(*v1alpha1.BenchmarkRun)
			rep.Runs = append(rep.Runs, report.ComparisonRun{
				Name: run.Name, Round: round, Variant: variant, Outcome: v1alpha1.ConditionComplete, Results: run.Status.Results.Digest,
			})
		}
	}
	files, err := report.ComparisonFiles(rep)
	if err != nil {
		t.Fatal(err)
	}
	results := configMap(plan.ComparisonResultsName(comparison), files...)
	comparison.Status.Results = v1alpha1.ResultsReference{
		ConfigMap: results.Name, Digest: result.NamedDigest([]byte(results.Data[report.JSONFile])),
	}
	comparison.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	comparison.Status.CompletionTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 9, 0, 0, time.UTC)}
	comparison.Status.Answer = "one and other are equal within 5%"
	return append(objects, results, comparison)
}

func configMap(name string, files ...result.File) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "bench"}, Data: map[string]string{}, BinaryData: map[string][]byte{},
	}
	for _, f := range files {
		if f.Binary {
			cm.BinaryData[f.Name] = f.Data
		} else {
			cm.Data[f.Name] = string(f.Data)
		}
	}
	return cm
}

// clusterWith is a cluster that has these objects.
func clusterWith(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithScheme(scheme()).WithObjects(objects...).Build()
}
