// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// variantsSubject is a run with variants, which has the report of a comparison.
type variantsSubject struct{ runSubject }

func (s variantsSubject) snapshot() *snapshot {
	of, all := &s.run.Status, s.runSubject.snapshot()
	all.unit, all.needsDecision, all.answer, all.soFar = "rounds", true, of.Answer, soFar(of.Pairs)
	all.hints = closer(s.run)
	all.mayEndEarly = s.run.Spec.Rounds == nil || s.run.Spec.Rounds.Until != v1alpha1.RoundsAll
	done, planned, _ := strings.Cut(of.Progress, "/")
	all.done, _ = strconv.Atoi(done)
	all.planned, _ = strconv.Atoi(planned)
	return all
}

func (s variantsSubject) reportSoFar(ctx context.Context, from client.Reader) (anyReport, error) {
	p, err := validation.PlanRun(s.run)
	if err != nil {
		return nil, fmt.Errorf("planning run %s: %w", s.run.Name, err)
	}
	records, err := readRecords(ctx, from, s.run)
	if err != nil {
		return nil, err
	}
	outcome, message := report.Unfinished, notWhole(s.run.Status.Conditions)
	if why := analysis.FailureOf(s.run.Status.Conditions); why != "" {
		outcome, message = v1alpha1.ConditionFailed, why
	}
	r, err := report.OfVariants(s.run, analysis.OfVariants(s.run, p, records, nil, nil), records, outcome, message)
	return comparisonReport{r}, err
}

func (s variantsSubject) warnings(context.Context, client.Reader) []string {
	return s.run.Status.Warnings
}

func (s variantsSubject) copyWith(meta metav1.ObjectMeta) subject {
	return variantsSubject{s.runSubject.copyWith(meta).(runSubject)} //nolint:forcetypeassert // it is
}

// closer says how the numbers of a round can be measured closer together, if a comparison of whole runs has no answer.
func closer(run *v1alpha1.BenchmarkRun) []string {
	open := slices.ContainsFunc(run.Status.Pairs, func(p v1alpha1.PairStatus) bool { return p.Verdict == v1alpha1.VerdictCannotSay })
	if !open || run.Status.CompletionTime == nil || run.Status.Alternation.Together() {
		return nil
	}
	if why := run.Status.AlternationReason; why != "" {
		return []string{"Why one server at a time was measured: " + why}
	}
	return []string{"What to do: with `alternation: Slices`, or `Trials` where slices are refused, the variants are measured " +
		"some seconds or less apart, not minutes, and an answer usually takes fewer rounds; more rounds (`rounds.atMost`) help, too."}
}

// comparisonReport is the report of a comparison.
type comparisonReport struct{ *report.Comparison }

func (r comparisonReport) write(w io.Writer, f report.Format) error {
	return f.Comparison(w, r.Comparison)
}

func (r comparisonReport) read(ctx context.Context, docs *documents) {
	docs.ofVariants(ctx, r.Comparison)
}

func (r comparisonReport) drawings(docs *documents) *page.Drawings {
	return page.ComparisonDrawings(r.Comparison, &docs.comparison)
}

func (r comparisonReport) uid() string { return r.UID }

func (r comparisonReport) baseline(metric string) (*report.Compared, error) {
	return report.CompareBaseline(r.Comparison, metric)
}

func (r comparisonReport) variants(before, after, metric string) (*report.Compared, error) {
	return report.CompareVariants(r.Comparison, before, after, metric)
}

var errWholeComparison = errors.New("a run with variants: name it alone, or two of them as RUN:VARIANT")

func (r comparisonReport) side(variant, metric, name string) (*report.Side, error) {
	if variant == "" {
		return nil, errWholeComparison
	}
	return report.VariantSide(r.Comparison, variant, metric, name)
}

func (r comparisonReport) reproducedBy(here anyReport, within, _ float64) *report.Reproduction {
	//nolint:forcetypeassert // of the same kind
	return report.ReproduceComparison(r.Comparison, here.(comparisonReport).Comparison, within)
}

func (comparisonReport) specDigest() string { return "" }

func (r comparisonReport) addAttempts(ctx context.Context, g *gathering, of *snapshot) error {
	return g.addAttempts(ctx, of, r.Records)
}
