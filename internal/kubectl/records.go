// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
)

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
	d.addOutput(name, doc)
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

// printRecord prints what is recorded of the attempt, or of the trial's newest one.
func (r logRequest) printRecord(ctx context.Context, cl client.Reader, run *v1alpha1.BenchmarkRun, out io.Writer) error {
	var newest map[string][]byte
	for attempt := max(r.attempt, 1); ; attempt++ {
		contents, err := clusterfiles.Read(ctx, cl, run.Namespace, plan.AttemptName(run, r.trial, attempt))
		switch {
		case err != nil:
			return err
		case contents == nil && newest == nil:
			return r.notFound(run)
		case contents == nil:
			return printAttempt(newest, out)
		case r.attempt > 0:
			return printAttempt(contents, out)
		}
		newest = contents
	}
}

func (r logRequest) notFound(run *v1alpha1.BenchmarkRun) error {
	what := fmt.Sprintf("trial %d", r.trial)
	if r.attempt > 0 {
		what += fmt.Sprintf(", attempt %d,", r.attempt)
	}
	trials := &run.Status.Trials
	return fmt.Errorf("%s of %s has no Pod and no record: it has not started or does not exist (%d/%d trials so far)",
		what, run.Name, ptr.Deref(trials.Measured, 0), ptr.Deref(trials.Planned, 0))
}

// printAttempt prints the record of an attempt, and the output of the program that generated the load.
func printAttempt(contents map[string][]byte, out io.Writer) error {
	text, err := result.UnpackFile(result.RecordKey, contents)
	if err != nil {
		return err
	}
	record, err := result.DecodeRecord(string(text))
	if err != nil {
		return err
	}
	say(out, fmt.Sprintf("The Pod is gone. Trial %s: %s, recorded %s.", attemptTitle(record), record.Outcome,
		record.Recorded.UTC().Format("2006-01-02 15:04:05 MST")))
	if record.Cause != "" {
		say(out, fmt.Sprintf("%s: %s", record.Cause, record.Message))
		say(out, strings.Join(causes()[string(record.Cause)].lines(), " "))
	}
	if record.Summary != nil {
		printSummary(record.Summary, out)
	}
	packed, err := result.UnpackFile(result.DocumentKey, contents)
	if err != nil || packed == nil {
		return err
	}
	document, err := result.DecodeDocument(packed)
	if err != nil {
		return err
	}
	printToolOutput(document, out)
	return nil
}

// printToolOutput prints the output of the program that generated the load, in the order of its phases.
func printToolOutput(d *result.Document, out io.Writer) {
	phases := slices.Sorted(maps.Keys(d.ToolOutput))
	if d.Tool != nil {
		order := map[string]int{}
		for i, command := range d.Tool.Commands {
			order[command.Phase] = i
		}
		slices.SortStableFunc(phases, func(a, b string) int { return order[a] - order[b] })
	}
	for _, phase := range phases {
		say(out, "\n--- what the program printed, "+phase+" ---")
		say(out, strings.TrimRight(d.ToolOutput[phase], "\n"))
	}
}

// attemptTitle names an attempt: its trial, its number, its variant if it measured one of several, and its point.
func attemptTitle(r *result.Record) string {
	title := fmt.Sprintf("%d, attempt %d", r.Trial, r.Attempt)
	if len(r.Sides) == 1 {
		title += ", variant " + r.Sides[0].Variant
	}
	if len(r.Parameters) > 0 {
		title += " (" + stats.Label(r.Parameters) + ")"
	}
	return title
}

// printSummary prints what was measured, of variants in slices one after the other, and the warnings.
func printSummary(s *result.Summary, out io.Writer) {
	printMetrics("", s.Metrics, out)
	for i := range s.Sides {
		printMetrics(s.Sides[i].Variant+": ", s.Sides[i].Metrics, out)
	}
	for _, text := range finding.Texts(s.Findings) {
		say(out, "warning: "+text)
	}
	for i := range s.Sides {
		for _, text := range finding.Texts(s.Sides[i].Findings) {
			say(out, "warning: "+s.Sides[i].Variant+": "+text)
		}
	}
}

func printMetrics(prefix string, metrics []result.Metric, out io.Writer) {
	for _, m := range metrics {
		say(out, fmt.Sprintf("%s%s: %s %s", prefix, m.Name, stats.Format(m.Value), m.Unit))
	}
}
