// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Earlier is a run that asked for the same, and what the node was like then.
type Earlier struct {
	Run   string
	Probe v1alpha1.TrialProbe
}

// EarlierOf finds, among the runs of a namespace, the last one that was complete before a run began, that asked for the
// same, and that knows what its node was like. Without one, the name is empty.
func EarlierOf(run *v1alpha1.BenchmarkRun, all []v1alpha1.BenchmarkRun) (Earlier, error) {
	var last *v1alpha1.BenchmarkRun
	digest, err := plan.Digest(&run.Spec)
	if err != nil {
		return Earlier{}, err
	}
	for i := range all {
		other := &all[i]
		switch {
		case other.UID == run.UID || other.Namespace != run.Namespace || other.Spec.Workload.Type != run.Spec.Workload.Type,
			other.Status.CompletionTime == nil || run.Status.StartTime == nil,
			run.Status.StartTime.Before(other.Status.CompletionTime),
			!apimeta.IsStatusConditionTrue(other.Status.Conditions, v1alpha1.ConditionComplete),
			other.Status.Environment.TrialProbe == v1alpha1.TrialProbe{},
			last != nil && other.Status.CompletionTime.Before(last.Status.CompletionTime):
			continue
		}
		same, err := plan.Digest(&other.Spec)
		if err != nil {
			return Earlier{}, err
		}
		if same == digest {
			last = other
		}
	}
	if last == nil {
		return Earlier{}, nil
	}
	return Earlier{Run: last.Name, Probe: last.Status.Environment.TrialProbe}, nil
}

// Findings about the node of accepted attempts: see stats.ProbeFindings.
func (e Earlier) Findings(accepted []*result.Record) []finding.Finding {
	return stats.ProbeFindings(accepted, stats.Probe(e.Probe), e.Run)
}
