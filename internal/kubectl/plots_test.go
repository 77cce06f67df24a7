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
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// reportOf what a cluster has, with the documents of its attempts.
func reportOf(t *testing.T, name string, from client.Reader) (*printable, *documents) {
	t.Helper()
	p := must.Get(reported(t.Context(), from, "bench", name))(t)
	return p, &documents{from: from, namespace: "bench", outputs: new(outputs)}
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
		if !strings.Contains(string(sums), result.Digest(data)+"  plots/"+name+"\n") {
			t.Errorf("%s is not among\n%s", name, sums)
		}
	}
}

// documentOutput gives a document what a program printed in two phases, the first of which is the last by its name.
func documentOutput(doc *result.Document) {
	doc.Tool = &result.ToolFacts{Commands: []result.ToolCommand{{Phase: "prepare"}, {Phase: "measure"}}}
	doc.ToolOutput = map[string]string{"measure": "transactions: 7\n", "prepare": "Creating tables\n"}
}

// report --dir writes what a program printed that made the load: one file for each attempt, whatever its variant.
func TestReportDirHasOutputs(t *testing.T) {
	const whole = "--- what the program printed, prepare ---\nCreating tables\n\n" +
		"--- what the program printed, measure ---\ntransactions: 7\n"
	for name, tc := range map[string]struct {
		objects []client.Object
		files   int
		one     string
	}{
		"x":     {finishedRun(t, "x", 1, documentOutput), 12, "x-t1-a1.txt"},
		"twice": {finishedVariants(t, v1alpha1.AlternateTrials, documentOutput), 8, "twice-t3-a1.txt"},
	} {
		p, docs := reportOf(t, name, clusterWith(tc.objects...))
		dir := t.TempDir()
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		must.Do(t, p.writeAll(t.Context(), streams, docs, dir))
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
