// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Whoever names a lane of his own waits for nobody, and measures beside others, who are disturbed. An administrator therefore
// says which lanes there are.

// RunLaneRefused says why a run that has not begun does not: it asks for a lane that is not one of the installation's, or returns
// nil. Without any listed, all may be asked for. A run of a comparison has the comparison's.
func RunLaneRefused(run *v1alpha1.BenchmarkRun, lanes []string) *Failure {
	if MemberOf(run) != nil {
		return nil
	}
	return laneRefused("spec.lane", run.Spec.Lane, run.Status.StartTime, lanes)
}

// ComparisonLaneRefused says the same of a comparison.
func ComparisonLaneRefused(comparison *v1alpha1.BenchmarkComparison, lanes []string) *Failure {
	return laneRefused("spec.template.spec.lane", comparison.Spec.Template.Spec.Lane, comparison.Status.StartTime, lanes)
}

func laneRefused(field, lane string, start *metav1.Time, lanes []string) *Failure {
	if len(lanes) == 0 || start != nil || slices.Contains(lanes, lane) {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: fmt.Sprintf(
		"%s is %s, but the lanes of this installation are: %s; use one of them, or ask an administrator for another (--lanes)",
		field, lane, strings.Join(lanes, ", "))}
}
