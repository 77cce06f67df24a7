// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
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
)

// reportOf what a cluster has, with the documents of its attempts.
func reportOf(t *testing.T, name string, from client.Reader) (*printable, *documents) {
	t.Helper()
	p, err := reported(t.Context(), from, "bench", name)
	if err != nil {
		t.Fatal(err)
	}
	return p, &documents{from: from, namespace: "bench", outputs: new(outputs)}
}

// isPicture says what is wrong with an SVG or PNG.
func isPicture(name string, data []byte) error {
	if strings.HasSuffix(name, "png") {
		_, err := png.Decode(bytes.NewReader(data))
		return err
	}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func namesIn(files []result.File) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

// A plot on the output is a whole file: that of the headline, or the one that was named.
func TestPrintPlot(t *testing.T) {
	p, docs := reportOf(t, "x", clusterWith(finishedRun(t, "x", 1, documentSeries)...))
	for _, as := range pictures() {
		for name, title := range map[string]string{
			"": "rowsPerSecond against rowsPerCommit", "throughput_over_time": "Rate over time",
		} {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			if err := printPlot(t.Context(), streams, p, docs, name, &as); err != nil {
				t.Fatal(err)
			}
			if err := isPicture(as.name, out.Bytes()); err != nil || errOut.Len() > 0 {
				t.Errorf("%s of %q: %v %s", as.name, name, err, errOut)
			}
			if as.name == "svg" && !strings.Contains(out.String(), "<title>"+title+"</title>") {
				t.Errorf("%q is %.300s", name, out)
			}
		}
	}
}

func TestNoSuchPlot(t *testing.T) {
	p, docs := reportOf(t, "x", clusterWith(finishedRun(t, "x", 1)...))
	_, err := p.plot(t.Context(), docs, "against_rows")
	if err == nil || err.Error() != `there is no plot "against_rows"; --plot takes one of against_rowsPerCommit` {
		t.Errorf("%v", err)
	}
	variants := pagetest.Comparison()
	variants.Report.Pairs, variants.Report.Overall = nil, nil
	_, err = (&printable{Report: variants.Report}).plot(t.Context(), docs, "")
	if err == nil || err.Error() != "there is no plot of the headline; --plot takes one of against_rowsPerCommit" {
		t.Errorf("%v", err)
	}
	failed := pagetest.Failed()
	_, err = (&printable{Report: failed.Report}).plot(t.Context(), docs, "")
	if err == nil || err.Error() != "there is no plot of the headline: too little was measured to plot anything" {
		t.Errorf("%v", err)
	}
}

func TestPlotFlags(t *testing.T) {
	for want, arguments := range map[string][]string{
		"--plot is for -o svg and -o png": {"--plot", "ratios"},
		"--dir writes all plots":          {"--plot", "ratios", "--dir", "d"},
		"none of the others":              {"-o", "svg", "--dir", "d"},
		"no cluster is configured":        {"-o", "png", "--plot", "ratios"},
		"github, html, svg, png":          {"-o", "pdf"},
	} {
		if code, out, errOut := plugin(t, append([]string{"report", "x"}, arguments...)...); code != ExitError || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit code %d: %s", arguments, code, errOut)
		}
	}
}

// A PNG would make a mess of a terminal; an SVG is text. Nothing but a terminal is one.
func TestPictureForTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("a terminal cannot be opened, so that nothing shows what one gets: %v", err)
	}
	defer terminal.Close()
	if err := pictureOf("png").forTerminal(terminal); err == nil ||
		err.Error() != "-o png is binary, and the output is a terminal: write it to a file, for example with >plot.png" {
		t.Errorf("%v", err)
	}
	if err := pictureOf("svg").forTerminal(terminal); err != nil {
		t.Error(err)
	}
	for format, want := range map[string]string{"png": "-o png is binary", "svg": "no cluster is configured"} {
		var errOut bytes.Buffer
		streams := genericiooptions.IOStreams{Out: terminal, ErrOut: &errOut}
		code := Main(t.Context(), streams, []string{"report", "x", "-o", format, "--kubeconfig", os.DevNull})
		if code != ExitError || !strings.Contains(errOut.String(), want) {
			t.Errorf("%s: exit code %d: %s", format, code, &errOut)
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, out := range []io.Writer{null, io.Discard} {
		if err := pictureOf("png").forTerminal(out); err != nil {
			t.Error(err)
		}
	}
}

// A folder has every plot twice, and the tables of a file; its checksums name them as all other files.
func TestFolderOfPlots(t *testing.T) {
	p, docs := reportOf(t, "x", clusterWith(finishedRun(t, "x", 1)...))
	q := pagetest.File(`{plots: [{name: env=a.seconds, against: rowsPerCommit, metric: durationSeconds},
		{name: none, against: rowsPerCommit, metric: x}], tables: [{name: published, metrics: [durationSeconds]}]}`)
	if err := p.Request(&q); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "d")
	for range 2 { // a second time over the first
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		if err := p.writeAll(t.Context(), streams, docs, dir); err != nil {
			t.Fatal(err)
		}
		want := "The plot none is left out: no metric named x was measured. There are: rowsPerSecond, clientCPUPerRow, durationSeconds.\n" +
			"14 files were written to " + dir + ".\n"
		if diff := cmp.Diff(want, errOut.String()); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
	}
	sums, err := os.ReadFile(filepath.Join(dir, result.SumsFile))
	if err != nil {
		t.Fatal(err)
	}
	if table, err := os.ReadFile(filepath.Join(dir, "tables", "published.csv")); err != nil ||
		!strings.HasPrefix(string(table), "rowsPerCommit,round,durationSeconds\n") ||
		!strings.Contains(string(sums), result.Digest(table)+"  tables/published.csv\n") {
		t.Errorf("the table is %q, %v", table, err)
	}
	for _, name := range []string{"env=a.seconds.svg", "env=a.seconds.png", "against_rowsPerCommit.svg", "against_rowsPerCommit.png"} {
		data, err := os.ReadFile(filepath.Join(dir, "plots", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := isPicture(name, data); err != nil {
			t.Errorf("%s: %v", name, err)
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
