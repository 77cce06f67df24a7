// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// logs opens the log of a container.
type logs func(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error)

type logRequest struct {
	trial, attempt int
	follow         bool
}

func newLogs(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	var of logRequest
	command := &cobra.Command{
		Use:   "logs NAME --trial N",
		Short: "Print the log of a trial's loader, or its record",
		Long: `Print the log of a trial's loader.

A loader's Pod exists until its trial is recorded. After that, the record is printed: how the attempt ended and why, and the
output of the program that generated the load. Log lines that carry the result document are omitted.

The log of the database: kubectl logs -l benchrun.dev/run=NAME,benchrun.dev/component=database -c server.`,
		Example: `  # The loader of the seventh trial, while it runs.
  kubectl benchrun logs commit-size --trial 7 -f

  # Why the first attempt of trial 3 did not count.
  kubectl benchrun logs commit-size --trial 3 --attempt 1
`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: c.onRun(func(ctx context.Context, cl client.Client, run *v1alpha1.BenchmarkRun) error {
			from, err := c.logs()
			if err != nil {
				return err
			}
			return of.print(ctx, cl, from, run, streams.Out)
		}),
	}
	command.Flags().IntVar(&of.trial, "trial", 0, "number of the trial, from 1, in the order in which they are measured")
	command.Flags().IntVar(&of.attempt, "attempt", 0, "number of the attempt, from 1 (default: the newest)")
	command.Flags().BoolVarP(&of.follow, "follow", "f", false, "follow the log until it ends")
	utilruntime.Must(command.MarkFlagRequired("trial"))
	return command
}

func (r logRequest) print(ctx context.Context, cl client.Reader, from logs, run *v1alpha1.BenchmarkRun, out io.Writer) error {
	var pods corev1.PodList
	err := cl.List(ctx, &pods, client.InNamespace(run.Namespace), client.MatchingLabels{
		v1alpha1.LabelRun: run.Name, v1alpha1.LabelComponent: v1alpha1.ComponentLoader, v1alpha1.LabelTrial: strconv.Itoa(r.trial),
	})
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	var newest *corev1.Pod
	for i := range pods.Items {
		n := attemptOf(&pods.Items[i])
		if r.attempt == n || r.attempt == 0 && (newest == nil || n > attemptOf(newest)) {
			newest = &pods.Items[i]
		}
	}
	if newest == nil {
		return r.printRecord(ctx, cl, run, out)
	}
	err = copyLog(ctx, from, newest, r.follow, out)
	if err != nil && !apierrors.IsForbidden(err) && r.printRecord(ctx, cl, run, out) == nil {
		return nil // the Pod may be gone meanwhile
	}
	return err
}

func attemptOf(pod *corev1.Pod) int {
	n, _ := strconv.Atoi(pod.Labels[v1alpha1.LabelAttempt]) // 0 is none
	return n
}

// forPeople is a line of a log as it is printed; empty if it is not for people.
func forPeople(line string) string {
	text := strings.TrimRight(line, "\r\n")
	if result.IsDocumentLine(text) {
		return ""
	}
	if p, is := result.ParseProgress(text); is {
		return p.String() + line[len(text):]
	}
	return line
}

// copyLog prints a log without the lines of an encoded document, and what a loader does in words.
func copyLog(ctx context.Context, from logs, pod *corev1.Pod, follow bool, out io.Writer) error {
	log, err := from(ctx, pod.Namespace, pod.Name, &corev1.PodLogOptions{Container: trial.Container, Follow: follow})
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // it was only read
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		if _, err := io.WriteString(out, forPeople(line)); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
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
	printToolOutput("", document, out)
	return nil
}

// printToolOutput prints the output of the program that generated the load, in the order of its phases, or the plans of own
// statements; of variants in slices one after the other.
func printToolOutput(title string, d *result.Document, out io.Writer) {
	phases := slices.Sorted(maps.Keys(d.ToolOutput))
	if d.Tool != nil {
		title += "what the program printed, "
		order := map[string]int{}
		for i, command := range d.Tool.Commands {
			order[command.Phase] = i
		}
		slices.SortStableFunc(phases, func(a, b string) int { return order[a] - order[b] })
	}
	for _, phase := range phases {
		say(out, "\n--- "+title+phase+" ---")
		say(out, strings.TrimRight(d.ToolOutput[phase], "\n"))
	}
	for i := range d.Sides {
		printToolOutput(d.Sides[i].Variant+": ", &d.Sides[i].Document, out)
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

func invalidated(ctx context.Context, cl client.Reader, run *v1alpha1.BenchmarkRun) ([]*result.Record, error) {
	if ptr.Deref(run.Status.Trials.Invalidated, 0) == 0 {
		return nil, nil
	}
	var maps corev1.ConfigMapList
	if err := cl.List(ctx, &maps, client.InNamespace(run.Namespace), client.MatchingLabels{
		v1alpha1.LabelRun: run.Name, v1alpha1.LabelOutcome: string(result.OutcomeInvalidated),
	}); err != nil {
		return nil, err
	}
	var attempts []*result.Record
	for i := range maps.Items {
		record, err := result.DecodeRecord(maps.Items[i].Data[result.RecordKey])
		if err != nil {
			return attempts, fmt.Errorf("ConfigMap %s: %w", maps.Items[i].Name, err)
		}
		attempts = append(attempts, record)
	}
	return attempts, nil
}

// explainInvalidated lists attempts that did not count. There may be more than are recorded: the count is that of the status.
func explainInvalidated(run *v1alpha1.BenchmarkRun, attempts []*result.Record) []string {
	count := int(ptr.Deref(run.Status.Trials.Invalidated, 0))
	if count == 0 {
		return nil
	}
	text := []string{stats.Counted(count, "attempt") + " did not count and was repeated:"}
	if count > 1 {
		text[0] = stats.Counted(count, "attempt") + " did not count and were repeated:"
	}
	for _, r := range attempts {
		text = append(text, fmt.Sprintf("  trial %s: %s: %s", attemptTitle(r), r.Cause, r.Message),
			"    "+strings.Join(causes()[string(r.Cause)].lines(), " "))
	}
	return text
}
