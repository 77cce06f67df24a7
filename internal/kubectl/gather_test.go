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
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/version"
)

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
	comparison, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkComparison)
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
