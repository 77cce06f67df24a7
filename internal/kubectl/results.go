// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// onRun has a command do something with the run that its argument names.
func (c *cluster) onRun(
	do func(ctx context.Context, cl client.Client, run *v1alpha1.BenchmarkRun) error,
) func(command *cobra.Command, arguments []string) error {
	return func(command *cobra.Command, arguments []string) error {
		cl, namespace, err := c.connect()
		if err != nil {
			return err
		}
		run, err := find(command.Context(), cl, namespace, arguments[0])
		if err != nil {
			return err
		}
		return do(command.Context(), cl, run)
	}
}

func find(ctx context.Context, from client.Reader, namespace, name string) (*v1alpha1.BenchmarkRun, error) {
	run := new(v1alpha1.BenchmarkRun)
	err := from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, run)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no run %q in namespace %s: `kubectl get brun` lists those that exist", name, namespace)
	case err != nil:
		return nil, fmt.Errorf("reading run %s: %w", name, err)
	}
	return run, nil
}

// printable is a report, and the files of it that were published, by name.
type printable struct {
	*report.Report
	contents map[string][]byte
}

// reported is what there is of a run: its published results, or what was measured so far.
func reported(ctx context.Context, from client.Reader, namespace, name string) (*printable, error) {
	run, err := find(ctx, from, namespace, name)
	if err != nil {
		return nil, err
	}
	if run.Status.Results.ConfigMap != "" {
		return published(ctx, from, run)
	}
	r, err := reportSoFar(ctx, from, run)
	return &printable{Report: r}, err
}

// published reads the report that the operator has written, with all files that it has published with it. It compares the
// digest of results.json with that in the status.
func published(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun) (*printable, error) {
	results := &run.Status.Results
	if results.ConfigMap == "" {
		if err := snapshotOf(run).failure(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s has no results yet: `kubectl benchrun explain %s` says what it waits for", run.Name, run.Name)
	}
	contents, err := clusterfiles.Read(ctx, from, run.Namespace, results.ConfigMap)
	switch {
	case err != nil:
		return nil, err
	case contents == nil:
		return nil, fmt.Errorf("ConfigMap %s, the results of %s, was deleted", results.ConfigMap, run.Name)
	}
	text, err := result.UnpackFile(report.JSONFile, contents)
	if err != nil {
		return nil, err
	}
	if result.NamedDigest(text) != results.Digest {
		return nil, fmt.Errorf("ConfigMap %s is not what the operator wrote: its digest does not match the status of %s",
			results.ConfigMap, run.Name)
	}
	r, err := report.FromResults(text)
	return &printable{r, contents}, err
}

// reportSoFar is the report of a run whose results are not published: of the attempts that are recorded. Its outcome is
// Unfinished, or Failed if the run has failed. The documents of the attempts are not read: variables that differ without being
// requested are left out. Claims of a run without variants are judged when all trials are measured, and not before.
func reportSoFar(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun) (*report.Report, error) {
	p, err := validation.PlanRun(run)
	if err != nil {
		return nil, fmt.Errorf("planning run %s: %w", run.Name, err)
	}
	records, err := clusterfiles.Records(ctx, from, run.Namespace, result.Reference(run.Status.Records))
	if err != nil {
		return nil, err
	}
	outcome, message := report.Unfinished, "this is what has been measured so far"
	if ready := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.Message != "" {
		message += "; " + ready.Message
	}
	if m := snapshotOf(run); m.is(v1alpha1.ConditionFailed) {
		outcome, message = v1alpha1.ConditionFailed, m.ready().Reason+": "+m.ready().Message
	}
	r, err := report.Of(run, p, records, judge.OfVariants(run, p, records, nil, nil), outcome, message)
	if err == nil && !r.HasVariants() {
		r.Claims = nil
	}
	return r, err
}

// opener reads what the arguments of compare name. It connects to the cluster when it needs it for the first time.
type opener struct {
	ctx       context.Context //nolint:containedctx // it lives as long as the command
	connect   func() (client.Client, string, error)
	from      client.Reader
	namespace string
}

// reference is what an argument names: the report of a run, and one of its variants.
type reference struct {
	*report.Report
	// text is the argument.
	text, variant string
}

// open reads what an argument names:
//
//	NAME        the published results of a run in the cluster
//	PATH/       a folder that `report --dir` has written
//	PATH.json   results.json of a run
//	PATH.tgz    a bundle
//
// each with :VARIANT behind it for a variant. No name in a cluster has a colon.
func (o *opener) open(text string) (*reference, error) {
	name, variant := text, ""
	if i := strings.LastIndex(text, ":"); i >= 0 && !strings.Contains(text[i:], "/") {
		if name, variant = text[:i], text[i+1:]; name == "" || variant == "" {
			return nil, fmt.Errorf("%q is not valid: use RUN:VARIANT", text)
		}
	}
	if isPath(name) {
		r, err := openPath(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &reference{r, text, variant}, nil
	}
	var err error
	if o.from == nil {
		if o.from, o.namespace, err = o.connect(); err != nil {
			return nil, err
		}
	}
	run, err := find(o.ctx, o.from, o.namespace, name)
	if err != nil {
		if _, exists := os.Stat(name); exists == nil {
			return nil, fmt.Errorf("%w. There is a file or folder of that name: use ./%s to compare it", err, name)
		}
		return nil, err
	}
	p, err := published(o.ctx, o.from, run)
	if err != nil {
		return nil, err
	}
	return &reference{p.Report, text, variant}, nil
}

// isPath says whether an argument names a file or a folder, and not something in the cluster.
func isPath(name string) bool {
	return isBundle(name) || name == "." || name == ".." || strings.Contains(name, "/") || strings.HasSuffix(name, ".json")
}

func isBundle(name string) bool { return strings.HasSuffix(name, ".tgz") }

func openPath(name string) (*report.Report, error) {
	if isBundle(name) {
		b, err := openBundle(name)
		if err != nil {
			return nil, err
		}
		return report.FromResults(b.Results)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("reading the results: %w", err)
	}
	read := os.ReadFile
	if info.IsDir() {
		read = readFolder
	}
	text, err := read(name)
	if err != nil {
		return nil, err
	}
	return report.FromResults(text)
}

// documents reads those of the attempts that count, one after another, so that not more than one is in memory. One that
// cannot be read is counted: plots are drawn without it.
type documents struct {
	from      client.Reader
	namespace string
	// details are what pages show of those that were read.
	reading sync.Once
	details page.Details
	// outputs of those that are read, if they are wanted: files with what programs printed that made the load.
	withOutputs bool
	outputs     []result.File
	// missing says why some could not be read.
	missing []error
}

// read those of a report, once.
func (d *documents) read(ctx context.Context, r *report.Report) {
	d.reading.Do(func() {
		run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: r.Name}}
		for _, record := range r.Accepted() {
			d.readOne(ctx, r, plan.AttemptName(run, record.Trial, record.Attempt), record)
		}
	})
}

func (d *documents) readOne(ctx context.Context, r *report.Report, name string, record *result.Record) {
	doc, err := clusterfiles.Document(ctx, d.from, d.namespace, name, record)
	if err == nil && doc == nil {
		err = fmt.Errorf("ConfigMap %s: it was deleted, or is not what the operator wrote", name)
	}
	if err != nil {
		d.missing = append(d.missing, err)
		return
	}
	var output bytes.Buffer
	if printToolOutput("", doc, &output); d.withOutputs && output.Len() > 0 {
		text := bytes.TrimLeft(output.Bytes(), "\n")
		d.outputs = append(d.outputs, result.File{Name: outputsFolder + name + ".txt", Data: text})
	}
	record.Summary.Latencies = doc.Latencies // with their histograms, which results.json lacks
	d.details.Add(record, doc)
	r.AddSettings(record, doc)
}

// words say what is missing; empty if nothing is.
func (d *documents) words() string {
	if len(d.missing) == 0 {
		return ""
	}
	what := "plots"
	if len(d.outputs) > 0 {
		what += " and outputs"
	}
	return fmt.Sprintf("The %s are incomplete: %s of the attempts cannot be read: %s",
		what, stats.Counted(len(d.missing), "document"), explained(d.missing[0]))
}

// openBundle reads a bundle from a file, and verifies it.
func openBundle(path string) (*bundle.Bundle, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	b, err := bundle.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}
