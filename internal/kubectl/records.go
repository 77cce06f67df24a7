// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// notWhole says of what has not finished that its report is not whole, and what it does now.
func notWhole(conditions []metav1.Condition) string {
	text := "this is what has been measured so far"
	if ready := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionReady); ready != nil && ready.Message != "" {
		text += "; " + ready.Message
	}
	return text
}

// readRecords reads the records of a run's attempts, the oldest first: the status names the newest, and each record the
// one before it. It is an error if one of them was deleted, or is not what the operator wrote. The chain is not circular: no
// record can have the digest of a record that follows from it.
func readRecords(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun) ([]*result.Record, error) {
	var records []*result.Record
	for ref := run.Status.Records; ref.ConfigMap != ""; {
		var cm corev1.ConfigMap
		err := from.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: ref.ConfigMap}, &cm)
		switch {
		case apierrors.IsNotFound(err):
			return nil, fmt.Errorf("ConfigMap %s, the record of an attempt, was deleted", ref.ConfigMap)
		case err != nil:
			return nil, fmt.Errorf("reading the record in ConfigMap %s: %w", ref.ConfigMap, err)
		}
		text := cm.Data[result.RecordKey]
		if result.NamedDigest([]byte(text)) != ref.Digest {
			return nil, fmt.Errorf("ConfigMap %s, the record of an attempt, is not what the operator wrote", ref.ConfigMap)
		}
		record, err := result.DecodeRecord(text)
		if err != nil {
			return nil, fmt.Errorf("ConfigMap %s: %w", ref.ConfigMap, err)
		}
		records = append(records, record)
		ref = v1alpha1.RecordReference(ptr.Deref(record.Previous, result.Reference{}))
	}
	slices.Reverse(records)
	return records, nil
}

// documents reads those of the attempts that count, one after another, so that not more than one is in memory. One that
// cannot be read is counted: plots are drawn without it.
type documents struct {
	from      client.Reader
	namespace string
	// details are what pages show of those that were read.
	reading sync.Once
	details page.Details
	// outputs of those that are read; nil if they are not wanted.
	outputs *outputs
	// missing is how many could not be read, and why the first of them.
	missing int
	why     error
}

var errDocumentGone = errors.New("it was deleted, or is not what the operator wrote")

func (d *documents) lack(why error) {
	d.missing++
	d.why = cmp.Or(d.why, why)
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
	switch {
	case err != nil:
		d.lack(err)
	case doc == nil:
		d.lack(fmt.Errorf("ConfigMap %s: %w", name, errDocumentGone))
	default:
		d.outputs.add(name, doc)
		record.Summary.Latencies = doc.Latencies // with their histograms, which results.json lacks
		d.details.Add(record, doc)
		r.AddSettings(record, doc)
	}
}

// words say what is missing; empty if nothing is.
func (d *documents) words() string {
	if d.missing == 0 {
		return ""
	}
	what := "plots"
	if d.outputs != nil && len(d.outputs.files) > 0 {
		what += " and outputs"
	}
	return fmt.Sprintf("The %s are incomplete: %s of the attempts cannot be read: %s",
		what, stats.Counted(d.missing, "document"), explained(d.why))
}

// printRecord prints what is recorded of the attempt, or of the trial's newest one.
func (r logRequest) printRecord(ctx context.Context, cl client.Reader, run *v1alpha1.BenchmarkRun, out io.Writer) error {
	for attempt := max(r.attempt, 1); ; attempt++ {
		contents, err := clusterfiles.Read(ctx, cl, run.Namespace, plan.AttemptName(run, r.trial, attempt))
		if err != nil {
			return err
		}
		if contents == nil {
			return r.notFound(run)
		}
		if r.attempt == 0 {
			next, err := clusterfiles.Read(ctx, cl, run.Namespace, plan.AttemptName(run, r.trial, attempt+1))
			if err != nil {
				return err
			}
			if next != nil {
				continue
			}
		}
		return printAttempt(contents, out)
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
