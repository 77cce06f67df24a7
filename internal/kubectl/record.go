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

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

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
	return fmt.Errorf("%s of %s has no Pod and no record: it has not started or does not exist (%s trials so far)",
		what, run.Name, run.Status.Progress)
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
	say(out, fmt.Sprintf("The Pod is gone. Trial %d, attempt %d%s: %s, recorded %s.", record.Trial, record.Attempt,
		atPoint(record.Parameters), record.Outcome, record.Recorded.UTC().Format("2006-01-02 15:04:05 MST")))
	if record.Cause != "" {
		say(out, fmt.Sprintf("%s: %s", record.Cause, record.Message))
		say(out, causes[record.Cause].words())
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

func atPoint(parameters map[string]string) string {
	if len(parameters) == 0 {
		return ""
	}
	return " (" + stats.Label(parameters) + ")"
}

func printSummary(s *result.Summary, out io.Writer) {
	for _, m := range s.Metrics {
		say(out, fmt.Sprintf("%s: %s %s", m.Name, stats.Format(m.Value), m.Unit))
	}
	for _, text := range finding.Texts(s.Findings) {
		say(out, "warning: "+text)
	}
}
