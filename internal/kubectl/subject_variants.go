// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// variantsSubject is a run with variants, which has the report of a comparison.
type variantsSubject struct{ runSubject }

func (s variantsSubject) snapshot() *snapshot {
	of, all := &s.run.Status, s.runSubject.snapshot()
	all.unit, all.needsDecision, all.answer, all.soFar = "rounds", true, of.Answer, soFar(of.Pairs)
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
