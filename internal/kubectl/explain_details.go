// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// This is what explain says of a run besides its conditions: its invalidated attempts, and warnings.

// invalidated are the attempts of a run that did not count.
func invalidated(ctx context.Context, cl client.Reader, run *v1alpha1.BenchmarkRun) ([]*result.Record, error) {
	if ptr.Deref(run.Status.Trials.Invalidated, 0) == 0 {
		return nil, nil
	}
	var maps corev1.ConfigMapList
	if err := cl.List(ctx, &maps, client.InNamespace(run.Namespace), labelsOf(run.Name),
		client.MatchingLabels{v1alpha1.LabelOutcome: string(result.OutcomeInvalidated)}); err != nil {
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
		text = append(text, fmt.Sprintf("  trial %s: %s: %s", attemptTitle(r), r.Cause, r.Message), "    "+causes[r.Cause].words())
	}
	return text
}

// maxWarnings is how many warnings are listed.
const maxWarnings = 5

// warnings of the results or, as long as there are none that can be read, of the status. Those of results are values, so that
// several that differ only in what they measured are one. Of a run with variants, the status has all.
func warnings(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun) []string {
	all := slices.Concat(run.Status.Environment.Warnings, run.Status.Warnings)
	if len(run.Spec.Variants) > 0 {
		return all
	}
	if run.Status.Results.ConfigMap != "" {
		if p, err := published(ctx, from, run); err == nil { // or report says what is wrong with them
			for _, m := range stats.WarningsAt(p.Points) {
				all = append(all, m.String())
			}
			return all
		}
	}
	for i := range run.Status.Points {
		all = append(all, run.Status.Points[i].Warnings...)
	}
	return all
}

// explainWarnings lists each warning once.
func explainWarnings(warnings []string) []string {
	var each []string
	for _, w := range warnings {
		if !slices.Contains(each, w) {
			each = append(each, w)
		}
	}
	if len(each) == 0 {
		return nil
	}
	text := []string{"Warnings:"}
	for _, w := range each[:min(len(each), maxWarnings)] {
		text = append(text, "  "+w)
	}
	if more := len(each) - maxWarnings; more > 0 {
		text = append(text, fmt.Sprintf("  and %d more: see kubectl benchrun report", more))
	}
	return text
}
