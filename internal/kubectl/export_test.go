// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
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

// The bundle of a run has what was requested and what was measured.
func TestExportRun(t *testing.T) {
	path, err := exported(t, "commit-size", finishedRun(t, "commit-size", 1))
	if err != nil {
		t.Fatal(err)
	}
	b, err := openBundle(path)
	if err != nil {
		t.Fatal(err)
	}
	var resource v1alpha1.BenchmarkRun
	if err := yaml.UnmarshalStrict(b.Benchmark, &resource); err != nil {
		t.Fatal(err)
	}
	if resource.Kind != "BenchmarkRun" || resource.Name != "commit-size" || *resource.Spec.Trials.Repetitions != 6 {
		t.Errorf("the resource is %s", b.Benchmark)
	}
	p, err := printableOf(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(runOf(t, p).Points) != 2 || runOf(t, p).Points[1].Summary.N != 6 {
		t.Errorf("the points are %+v", runOf(t, p).Points)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
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

// A bundle has the documents that the records name, or nobody could read it.
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
