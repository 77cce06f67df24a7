// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
	plain := []string{"plots/against_rowsPerCommit.svg"}
	all := append(slices.Clone(plain), "plots/throughput_over_time.svg", "plots/longest_latency_over_time.svg")
	for name, c := range map[string]struct {
		from client.Reader
		want []string
		says string
	}{
		"all of them": {clusterWith(objects...), all, ""},
		"some": {
			interceptor.NewClient(clusterWith(objects...), missing("x-t2-", "x-t3-")), all,
			"The plots are incomplete: 2 documents of the attempts cannot be read: reading ConfigMap x-t2-a1: ",
		},
		"none": {
			interceptor.NewClient(clusterWith(objects...), missing("x-t")), plain,
			"The plots are incomplete: 12 documents of the attempts cannot be read: reading ConfigMap x-t1-a1: ",
		},
		"deleted": {
			clusterWith(objects[1:]...), all,
			"The plots are incomplete: 1 document of the attempts cannot be read: ConfigMap x-t1-a1: it was deleted, or is not",
		},
	} {
		p, docs := reportOf(t, "x", c.from)
		files, remarks, err := p.plotFiles(t.Context(), docs)
		must.Do(t, err)
		must.Same(t, name, c.want, namesIn(files))
		if text := strings.Join(remarks, "\n"); !strings.HasPrefix(text, c.says) || c.says == "" && text != "" || strings.Contains(text, "\n") {
			t.Errorf("%s: it says %q", name, text)
		}
	}
}

// Documents of a run with variants have series of each variant, in slices one document of all; one that is gone is reported.
func TestPlotsOfVariants(t *testing.T) {
	for _, alternation := range []v1alpha1.Alternation{v1alpha1.AlternateRuns, v1alpha1.AlternateSlices} {
		objects := finishedVariants(t, alternation, documentSeries)
		p, docs := reportOf(t, "twice", clusterWith(objects...))
		files, remarks, err := p.plotFiles(t.Context(), docs)
		i := slices.Index(namesIn(files), "plots/rowsPerCommit=1.throughput_over_time.svg")
		if err != nil || len(remarks) > 0 || i < 0 {
			t.Fatalf("%s: %v %q %q", alternation, err, remarks, namesIn(files))
		}
		if svg := string(files[i].Data); !strings.Contains(svg, ">one<") || !strings.Contains(svg, ">other<") {
			t.Errorf("%s: it has not both variants: %s", alternation, svg)
		}
		p, docs = reportOf(t, "twice", clusterWith(objects[1:]...))
		_, remarks, err = p.plotFiles(t.Context(), docs)
		if err != nil || len(remarks) != 1 || !strings.HasPrefix(remarks[0], "The plots are incomplete: 1 document of the attempts cannot be read: ConfigMap twice-t1-a1:") {
			t.Errorf("%s: %v %q", alternation, err, remarks)
		}
	}
}

// apiServer answers with objects of the namespace bench, as a cluster with Benchrun does.
func apiServer(t *testing.T, objects []client.Object) string {
	t.Helper()
	answers := apiKinds(map[string]answer{"/api/v1": {http.StatusOK, metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
		APIResources: []metav1.APIResource{{Name: "configmaps", SingularName: "configmap", Namespaced: true, Kind: "ConfigMap"}},
	}}})
	for _, o := range objects {
		kind, path := v1alpha1.GroupVersion.WithKind(plan.RunKind), "/apis/benchrun.dev/v1alpha1/namespaces/bench/benchmarkruns/"
		if _, is := o.(*corev1.ConfigMap); is {
			kind, path = corev1.SchemeGroupVersion.WithKind("ConfigMap"), "/api/v1/namespaces/bench/configmaps/"
		}
		o.GetObjectKind().SetGroupVersionKind(kind)
		answers[path+o.GetName()] = answer{http.StatusOK, o}
	}
	return serve(t, answers)
}

// Plots and tables of a file are in every format, which is then made anew. What is wrong with the file is said before a cluster is
// asked.
func TestReportPlotsOfAFile(t *testing.T) {
	latencies := pagetest.Single().Report.Accepted()[0].Summary.Latencies
	server := apiServer(t, finishedRun(t, "x", 1, documentSeries, func(doc *result.Document) { doc.Latencies[0].Histogram = latencies[0].Histogram }))
	write := func(text string) string {
		file := filepath.Join(t.TempDir(), "my.plots")
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	file := write("{plots: [{name: seconds, title: My plot, against: rowsPerCommit, metric: durationSeconds}], " +
		"tables: [{name: t, title: My table, metrics: [durationSeconds]}]}")
	for want, arguments := range map[string][]string{
		"<figcaption>Rate over time</figcap":     {"-o", "html"}, // with the documents
		"<figcaption>My plot</figcaption>":       {"-o", "html"},
		"\nMy table:\n\n| rowsPerCommit |":       {"-o", "markdown"},
		"percentiles of the merged histogram of": {"-o", "markdown"},
	} {
		arguments = append([]string{"report", "x", "-n", "bench", "--plots", file, "--server", server, "--cache-dir", t.TempDir()}, arguments...)
		if code, out, errOut := plugin(t, arguments...); code != ExitFine || !strings.Contains(out, want) || errOut != "" {
			t.Errorf("%q: exit code %d: %s%.3000s", want, code, errOut, out)
		}
	}
	lost := apiServer(t, finishedRun(t, "x", 1)[1:])
	code, _, errOut := plugin(t, "report", "x", "-n", "bench", "--plots", file, "--server", lost, "--cache-dir", t.TempDir())
	if code != ExitFine || !strings.HasPrefix(errOut, "The plots are incomplete: 1 document") {
		t.Errorf("without a document: exit code %d: %s", code, errOut)
	}
	unswept := write("plots: [{name: p, against: rows}]")
	code, _, errOut = plugin(t, "report", "x", "-n", "bench", "--plots", unswept, "--server", server, "--cache-dir", t.TempDir())
	if code != ExitError || !strings.Contains(errOut, unswept+": plot p: against: rows is not swept; use one of rowsPerCommit") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	for want, file := range map[string]string{"no such file": "nowhere.plots", `unknown field "plot"`: write("plot: []")} {
		if code, _, errOut := plugin(t, "report", "x", "--plots", file); code != ExitError || !strings.Contains(errOut, file+": ") ||
			!strings.Contains(errOut, want) {
			t.Errorf("exit code %d: %s", code, errOut)
		}
	}
}

// What the report of variants has not kept of a metric is read from the records, also of a run that has not finished.
func TestReportPlotsOfAFileOfVariants(t *testing.T) {
	_, objects := begunVariants(t, 8)
	p, docs := reportOf(t, "pair", clusterWith(objects...))
	q := pagetest.File("tables: [{name: t, metrics: [durationSeconds, rowsPerSecond]}]")
	must.Do(t, p.Request(&q))
	docs.read(t.Context(), p.Report)
	table := p.RequestedTables()[0]
	if len(table.Missing) > 0 || strings.Count(string(table.CSV), "\n") != 9 || !strings.HasPrefix(string(table.CSV), "variant,round,durationSeconds,") {
		t.Errorf("%v %s", table.Missing, table.CSV)
	}
}
