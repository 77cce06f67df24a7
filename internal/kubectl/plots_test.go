// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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
	return p, &documents{from: from, namespace: "bench"}
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
	suite := pagetest.Suite()
	suite.Suite.Pairs = suite.Suite.Pairs[:0]
	_, err = (&printable{suite: suite.Suite}).plot(t.Context(), docs, "")
	if err == nil || err.Error() != "there is no plot of the headline; --plot takes one of against_rowsPerCommit" {
		t.Errorf("%v", err)
	}
	failed := pagetest.Failed()
	_, err = (&printable{run: failed.Report}).plot(t.Context(), docs, "")
	if err == nil || err.Error() != "there is no plot of the headline: too little was measured to plot anything" {
		t.Errorf("%v", err)
	}
}

// Documents are not read for a plot that the results have.
func TestHeadlineReadsNoDocuments(t *testing.T) {
	p, docs := reportOf(t, "x", clusterWith(finishedRun(t, "x", 1)...))
	docs.from = nil
	for _, name := range []string{"", "against_rowsPerCommit"} {
		if of, err := p.plot(t.Context(), docs, name); err != nil || of == nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestPlotFlags(t *testing.T) {
	for want, arguments := range map[string][]string{
		"--plot is for -o svg and -o png": {"--plot", "ratios"},
		"--dir writes all plots":          {"--plot", "ratios", "--dir", "d"},
		"none of the others":              {"-o", "svg", "--dir", "d"},
		"no cluster is configured":        {"-o", "png", "--plot", "ratios"},
		"openmetrics, html, svg, png":     {"-o", "pdf"},
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
		t.Skip(err)
	}
	defer terminal.Close()
	if err := pictureOf("png").forTerminal(terminal); err == nil ||
		err.Error() != "-o png is binary, and the output is a terminal: write it to a file, for example with >plot.png" {
		t.Errorf("%v", err)
	}
	if err := pictureOf("svg").forTerminal(terminal); err != nil {
		t.Error(err)
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

// A folder has every plot twice, and its checksums name them as all other files.
func TestFolderOfPlots(t *testing.T) {
	p, docs := reportOf(t, "x", clusterWith(finishedRun(t, "x", 1)...))
	p.run.Run.Spec = withPlots(t, p.run.Run.Spec)
	dir := filepath.Join(t.TempDir(), "d")
	for range 2 { // a second time over the first
		streams, _, _, errOut := genericiooptions.NewTestIOStreams()
		if err := p.writeAll(t.Context(), streams, docs, dir); err != nil {
			t.Fatal(err)
		}
		want := "The plot none is left out: no metric called x was measured. There are: rowsPerSecond, clientCPUPerRow, durationSeconds.\n" +
			"16 files were written to " + dir + ".\n"
		if diff := cmp.Diff(want, errOut.String()); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
	}
	sums, err := os.ReadFile(filepath.Join(dir, result.SumsFile))
	if err != nil {
		t.Fatal(err)
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

// withPlots is a specification that asks for a plot which can be drawn, and for one which cannot.
func withPlots(t *testing.T, spec json.RawMessage) json.RawMessage {
	t.Helper()
	var of v1alpha1.BenchmarkRunSpec
	if err := json.Unmarshal(spec, &of); err != nil {
		t.Fatal(err)
	}
	of.Plots = v1alpha1.Plots{
		{Name: "env=a.seconds", Against: "rowsPerCommit", Metric: "durationSeconds"}, {Name: "none", Against: "rowsPerCommit", Metric: "x"},
	}
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// documentSeries gives a document intervals, so that it has plots over time.
func documentSeries(doc *result.Document) {
	for i := range int64(4) {
		doc.Series = append(doc.Series, result.Interval{EndMicros: (i + 1) * 250_000, Rows: 25, MaxMicros: 100 * i})
	}
}

// Plots over time are made of the documents, which are read one after another with the user's rights. Without some of them
// the rest is drawn, and one line says so.
func TestPlotsOfDocuments(t *testing.T) {
	objects := finishedRun(t, "x", 1, documentSeries)
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), "x-t2-a1", errors.New("no"))
	missing := func(names ...string) interceptor.Funcs {
		return interceptor.Funcs{Get: func(
			ctx context.Context, cl client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption,
		) error {
			for _, name := range names {
				if strings.HasPrefix(key.Name, name) {
					return forbidden
				}
			}
			return cl.Get(ctx, key, o, options...)
		}}
	}
	plain := []string{"plots/against_rowsPerCommit.svg", "plots/against_rowsPerCommit.png"}
	all := slices.Concat(plain, []string{
		"plots/throughput_over_time.svg", "plots/throughput_over_time.png", "plots/longest_latency_over_time.svg",
		"plots/longest_latency_over_time.png",
	})
	for name, c := range map[string]struct {
		from client.Reader
		want []string
		says string
	}{
		"all of them": {clusterWith(objects...), all, ""},
		"some": {
			interceptor.NewClient(clusterWith(objects...), missing("x-t2-", "x-t3-")), all,
			"The plots lack what 2 documents of the attempts would show that cannot be read: reading ConfigMap x-t2-a1: ",
		},
		"none": {
			interceptor.NewClient(clusterWith(objects...), missing("x-t")), plain,
			"The plots lack what 12 documents of the attempts would show that cannot be read: reading ConfigMap x-t1-a1: ",
		},
		"deleted": {
			clusterWith(objects[1:]...), all,
			"The plots lack what 1 document of the attempts would show that cannot be read: ConfigMap x-t1-a1: it was deleted, or is not",
		},
	} {
		p, docs := reportOf(t, "x", c.from)
		files, remarks, err := p.plotFiles(t.Context(), docs)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, namesIn(files)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if said := strings.Join(remarks, "\n"); !strings.HasPrefix(said, c.says) || c.says == "" && said != "" || strings.Contains(said, "\n") {
			t.Errorf("%s: it says %q", name, said)
		}
		if _, err := p.plot(t.Context(), docs, "throughput_over_time"); (err == nil) != (len(c.want) > 2) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One line among the errors says what a plot lacks, whether it can be drawn or not.
func TestPrintPlotWithoutDocuments(t *testing.T) {
	objects := finishedRun(t, "x", 1, documentSeries)
	const one = "The plots lack what 1 document of the attempts would show that cannot be read: ConfigMap x-t1-a1: it was deleted, or " +
		"is not what the operator wrote\n"
	for name, c := range map[string]struct {
		plot, says string
		drawn      bool
	}{
		"it lacks one":    {"throughput_over_time", one, true},
		"it needs none":   {"against_rowsPerCommit", "", true},
		"it is not there": {"against_rows", one, false},
	} {
		p, docs := reportOf(t, "x", clusterWith(objects[1:]...))
		streams, _, out, errOut := genericiooptions.NewTestIOStreams()
		err := printPlot(t.Context(), streams, p, docs, c.plot, pictureOf("svg"))
		if (err == nil) != c.drawn || (out.Len() > 0) != c.drawn || errOut.String() != c.says {
			t.Errorf("%s: %v, it says %q, and prints %.100s", name, err, errOut, out)
		}
		if c.drawn && isPicture("svg", out.Bytes()) != nil {
			t.Errorf("%s: it prints %.300s", name, out)
		}
	}
}

// Of a suite, the documents are those of its runs; a run that is gone is said.
func TestPlotsOfSuiteDocuments(t *testing.T) {
	objects := finishedSuite(t, documentSeries)
	want := []string{"rowsPerCommit=1.throughput_over_time"}
	p, docs := reportOf(t, "twice", clusterWith(objects...))
	if _, err := p.plot(t.Context(), docs, want[0]); err != nil || docs.words() != "" {
		t.Errorf("%v %s", err, docs.words())
	}
	var left []client.Object
	for _, o := range objects {
		if o.GetName() != "twice-r1-one" {
			left = append(left, o)
		}
	}
	p, docs = reportOf(t, "twice", clusterWith(left...))
	_, remarks, err := p.plotFiles(t.Context(), docs)
	if err != nil || len(remarks) != 1 || !strings.Contains(remarks[0], `there is no run or suite "run/twice-r1-one"`) {
		t.Errorf("%v %q", err, remarks)
	}
}
