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
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/validation"
	"github.com/benchrun-dev/benchrun/internal/version"
)

// exported is a bundle of what a cluster has, in a file.
func exported(t *testing.T, name string, objects []client.Object) (string, error) {
	t.Helper()
	cl := clusterWith(objects...)
	run := must.Get(find(t.Context(), cl, "bench", name))(t)
	return export(t.Context(), cl, run, filepath.Join(t.TempDir(), "b.tgz"))
}

// A bundle of a run with variants has the digest of its specification, every attempt, and the variables of each variant's server.
func TestExportVariants(t *testing.T) {
	for alternation, attempts := range map[v1alpha1.Alternation]int{v1alpha1.AlternateRuns: 8, v1alpha1.AlternateSlices: 4} {
		objects := finishedVariants(t, alternation)
		run, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
		path := must.Get(exported(t, "twice", objects))(t)
		b := must.Get(openBundle(path))(t)
		r, err := report.FromResults(b.Results)
		if err != nil || r.Rounds != 2 {
			t.Errorf("%s: %v", alternation, err)
		}
		if digest, err := plan.Digest(&run.Spec); b.Manifest.SpecDigest != digest || b.Manifest.Answer != run.Status.Answer.Detail || err != nil {
			t.Errorf("%s: %+v, want %s, %v", alternation, b.Manifest, digest, err)
		}
		files, documents := filesIn(t, path), 0
		for name := range files {
			if strings.HasPrefix(name, "attempts/twice-t") && strings.HasSuffix(name, "-a1/document.json.gz") {
				documents++
			}
		}
		const want = "# variant one\ninit_connect = SET a\\nSET b\nport = 3306\n# variant other\ninit_connect = SET a\\nSET b\nport = 3307\n"
		if got := files[bundle.VariablesFile]; documents != attempts || got != want {
			t.Errorf("%s: %d documents, and the variables\n%s", alternation, documents, got)
		}
	}
}

// What is not what the operator has written is not exported, and nothing is left behind.
func TestExportRefusesWhatWasChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(cm *corev1.ConfigMap)
		want   string
	}{
		"x-t2-a1":   {func(cm *corev1.ConfigMap) { cm.Data["attempt.json"] += " " }, "x-t2-a1, the record of an attempt, is not what"},
		"x-results": {func(cm *corev1.ConfigMap) { cm.Data["results.json"] += " " }, "x-results is not what the operator wrote"},
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
		run, err := find(t.Context(), cl, "bench", "x")
		must.Do(t, err)
		_, err = export(t.Context(), cl, run, filepath.Join(dir, "b.tgz"))
		must.Fail(t, err, c.want)
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
	must.Refused(exported(t, "x", objects))(t, "x has not finished")
}

// A bundle that cannot be moved to its place is not left beside it.
func TestExportToAFolder(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "taken", "by"), 0o700))
	cl := clusterWith(finishedRun(t, "x", 1)...)
	run := must.Get(find(t.Context(), cl, "bench", "x"))(t)
	if _, err := export(t.Context(), cl, run, filepath.Join(dir, "taken")); err == nil {
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
		path := must.Get(exported(t, "commit-size", finishedRun(t, "commit-size", 1)))(t)
		text := must.Get(os.ReadFile(path))(t)
		texts = append(texts, text)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two bundles of one run differ")
	}
}

// filesIn a bundle, by their names in it.
func filesIn(t *testing.T, path string) map[string]string {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	zr := must.Get(gzip.NewReader(f))(t)
	files := map[string]string{}
	for r := tar.NewReader(zr); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		must.Do(t, err)
		text := must.Get(io.ReadAll(r))(t)
		_, name, _ := strings.Cut(header.Name, "/")
		files[name] = string(text)
	}
}

// A bundle has every attempt with its document, the variables of the server once, and says what it is of.
func TestExportHasEverything(t *testing.T) {
	objects := finishedRun(t, "x", 1)
	run, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
	run.UID = "the-uid"
	path := must.Get(exported(t, "x", objects))(t)
	files := filesIn(t, path)
	for i := range 12 {
		folder := fmt.Sprintf("attempts/x-t%d-a1/", i+1)
		if files[folder+"attempt.json"] == "" || files[folder+"document.json.gz"] == "" {
			t.Errorf("%s is not whole", folder)
		}
	}
	var m bundle.Manifest
	must.Do(t, json.Unmarshal([]byte(files[bundle.ManifestFile]), &m))
	digest, err := plan.Digest(&run.Spec)
	want := bundle.Manifest{
		Version: 1, Kind: "BenchmarkRun", Namespace: "bench", Name: "x", UID: "the-uid", SpecDigest: digest,
		ResultsDigest: run.Status.Results.Digest, Started: run.Status.StartTime.UTC(), Finished: run.Status.CompletionTime.UTC(),
		Answer: run.Status.Answer.Detail, Program: version.Version(),
	}
	if diff := cmp.Diff(want, m); diff != "" || err != nil {
		t.Errorf("%v: manifest (-want +got):\n%s", err, diff)
	}
	must.Same(t, "the variables", "init_connect = SET a\\nSET b\nport = 3306\n", files[bundle.VariablesFile])
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestPublishedNames(t *testing.T) {
	got := publishedNames(map[string][]byte{
		"summary.md": nil, "results.json.gz.1": nil, "results.json.gz.2": nil, "results.csv.gz": nil, "report.html.1": nil,
	})
	must.Same(t, "what is got", []string{"report.html", "results.csv", "results.json", "summary.md"}, got)
}

// An attempt that does not count has a record, which may have a summary, and no document.
func TestReadAttemptThatDoesNotCount(t *testing.T) {
	record := testutil.Record(1, 1, nil, 1000)
	record.Outcome = result.OutcomeInvalidated
	record.Summary.DocumentSHA256 = result.Digest([]byte("lost"))
	encoded := must.Get(record.Encode())(t)
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
	p := must.Get(plan.ForRun(&run.Spec))(t)
	objects, records := recordedAll(t, run, p, func(i int, trial *plan.Trial) (*result.Record, *result.Document) {
		point := p.Points[trial.Point].Parameters
		value := factor * (1000 + 5*float64(i%5)) * map[string]float64{"1": 1, "16": 4}[point["rowsPerCommit"]]
		return testutil.Record(trial.Number, 1, point, value), documentOf(trial, value, change)
	})
	run.Status.Answer.Detail = "4040 rows/s at rowsPerCommit=16"
	setReady(&run.Status.Conditions, v1alpha1.ReasonComplete, "", v1alpha1.ConditionFinished, v1alpha1.ConditionComplete)
	rep := must.Get(report.Of(run, p, records, nil, v1alpha1.ConditionComplete, ""))(t)
	files := must.Get(report.Files(rep))(t)
	return append(objects, withResults(run, files), run)
}

// finishedVariants is a run of two variants, two points and two rounds that is Undecided, and the ConfigMaps that the operator has
// written for it. Its variants are equal, and alternate like that.
func finishedVariants(t *testing.T, alternation v1alpha1.Alternation, change ...func(*result.Document)) []client.Object {
	t.Helper()
	run := testutil.MakeVariants("twice", "bench", "one", "other").Sweep(1, 16).Rounds(2).Obj()
	run.UID, run.Spec.Alternation, run.Spec.Baseline = "the-uid", alternation, "other"
	p := must.Get(validation.PlanRun(run))(t)
	objects, records := recordedAll(t, run, p, func(_ int, trial *plan.Trial) (*result.Record, *result.Document) {
		return sidesOf(run, p, trial, 1000, 1000, change...)
	})
	run.Status.Answer.Detail, run.Status.Progress = "one and other are equal within 5%", "2/2"
	setReady(&run.Status.Conditions, v1alpha1.ReasonUndecided, "", v1alpha1.ConditionFinished, v1alpha1.ConditionComplete)
	c := judge.OfVariants(run, p, records, nil, nil)
	rep, err := report.Of(run, p, records, c, v1alpha1.ConditionComplete, "all 2 rounds are measured")
	must.Do(t, err)
	files := must.Get(report.Files(rep))(t)
	return append(objects, withResults(run, files), run)
}

// sidesOf a trial are its record and its document, which have one value of the first variant and another one of the second.
func sidesOf(
	run *v1alpha1.BenchmarkRun, p *plan.Plan, trial *plan.Trial, first, second float64, change ...func(*result.Document),
) (*result.Record, *result.Document) {
	values, document := []float64{first, second}, documentOf(trial, first, change)
	if len(trial.Sides) == 1 {
		document = documentOf(trial, values[trial.Sides[0]], change)
		document.Server.Variables["port"] = fmt.Sprint(3306 + trial.Sides[0])
	} else {
		document.Metrics, document.Latencies, document.Series, document.Server = nil, nil, nil, result.ServerFacts{}
		document.Tool, document.ToolOutput = nil, nil
	}
	record := testutil.Record(trial.Number, 1, p.Points[trial.Point].Parameters, 0)
	for _, variant := range trial.Sides {
		side := result.SideRecord{
			Variant: p.Variants[variant], Instance: plan.InstanceIn(run, trial.Round, variant), Place: record.Place, Fingerprint: record.Fingerprint,
		}
		record.Sides = append(record.Sides, side)
		if len(trial.Sides) > 1 {
			one := documentOf(trial, values[variant], change)
			one.Server.Variables["port"] = fmt.Sprint(3306 + variant)
			document.Sides = append(document.Sides, result.SideDocument{Variant: side.Variant, Document: *one})
		}
	}
	return record, document
}

// documentOf a trial that has measured a value.
func documentOf(trial *plan.Trial, value float64, change []func(*result.Document)) *result.Document {
	document := testutil.Document("pod", trial.Number, 1, value)
	document.Server.Variables = map[string]string{"port": "3306", "init_connect": "SET a\nSET b"}
	for _, f := range change {
		f(document)
	}
	return document
}

// recordedAll are the records of all trials of a plan, and the ConfigMaps with them and their documents. The run's status names the
// newest, and that it has ended.
func recordedAll(
	t *testing.T, run *v1alpha1.BenchmarkRun, p *plan.Plan, measure func(int, *plan.Trial) (*result.Record, *result.Document),
) (objects []client.Object, records []*result.Record) {
	t.Helper()
	for i := range p.Trials {
		record, document := measure(i, &p.Trials[i])
		encoded := must.Get(result.EncodeDocument(document))(t)
		record.Summary = ptr.To(document.Summarize(encoded))
		if newest := run.Status.Records; newest.ConfigMap != "" {
			record.Previous = ptr.To(result.Reference(newest))
		}
		text := must.Get(record.Encode())(t)
		records = append(records, record)
		cm := configMap(plan.AttemptName(run, record.Trial, 1), result.File{Name: result.RecordKey, Data: []byte(text)},
			result.File{Name: result.DocumentKey, Data: encoded.Gzip, Binary: true})
		objects = append(objects, cm)
		run.Status.Records = v1alpha1.RecordReference{ConfigMap: cm.Name, Digest: result.NamedDigest([]byte(text))}
	}
	run.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	run.Status.CompletionTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 9, 0, 0, time.UTC)}
	return objects, records
}

// withResults is the ConfigMap with the results of a run, which its status then names.
func withResults(run *v1alpha1.BenchmarkRun, files []result.File) *corev1.ConfigMap {
	cm := configMap(plan.ResultsName(run), files...)
	run.Status.Results = v1alpha1.ResultsReference{ConfigMap: cm.Name, Digest: result.NamedDigest([]byte(cm.Data[report.JSONFile]))}
	return cm
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
