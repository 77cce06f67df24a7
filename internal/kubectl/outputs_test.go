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

	"github.com/benchrun-dev/benchrun/internal/result"
)

// documentOutput gives a document what a program printed in two phases, the first of which is the last by its name.
func documentOutput(doc *result.Document) {
	doc.Tool = &result.ToolFacts{Commands: []result.ToolCommand{{Phase: "prepare"}, {Phase: "measure"}}}
	doc.ToolOutput = map[string]string{"measure": "transactions: 7\n", "prepare": "Creating tables\n"}
}

// report --dir writes what a program printed that made the load: one file for each attempt of a run, or of the runs of a
// comparison.
func TestReportDirHasOutputs(t *testing.T) {
	const whole = "--- what the program printed, prepare ---\nCreating tables\n\n" +
		"--- what the program printed, measure ---\ntransactions: 7\n"
	for name, tc := range map[string]struct {
		objects []client.Object
		files   int
		one     string
	}{
		"x":     {finishedRun(t, "x", 1, documentOutput), 12, "x-t1-a1.txt"},
		"twice": {finishedComparison(t, documentOutput), 48, "twice-r2-other-t3-a1.txt"},
	} {
		p, docs := reportOf(t, name, clusterWith(tc.objects...))
		dir := t.TempDir()
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		if err := p.writeAll(t.Context(), streams, docs, dir); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(dir, outputsFolder, "*.txt"))
		if err != nil || len(found) != tc.files {
			t.Errorf("%s: %d files, want %d: %q, %v", name, len(found), tc.files, found, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, outputsFolder, tc.one))
		if diff := cmp.Diff(whole, string(text)); diff != "" || err != nil {
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
	if err := p.writeAll(t.Context(), streams, docs, dir); err != nil {
		t.Fatal(err)
	}
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
