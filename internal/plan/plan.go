// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

const (
	// MaxPoints is the largest number of points of a sweep.
	MaxPoints = 1000
	// MaxTrials is the largest number of trials of a run.
	MaxTrials = 5000
	// MaxSwept is the largest number of parameters that a sweep varies.
	MaxSwept = 6
)

// Trial is one planned execution of the workload.
type Trial struct {
	// Number counts from 1, in the order of measuring.
	Number int
	// Round counts from 1: the repetition of the point that this trial is.
	Round int
	// Point is an index into Plan.Points: of the only point that the trial measures, or of the first of its stages.
	Point int
}

// Plan is all points, in the order of the sweep, and all trials, in the order of measuring. With a precision target the
// trials are the maximum; whole rounds may be skipped, but never reordered.
type Plan struct {
	// Points of the sweep or, of a workload with stages, the measured stages of each.
	Points []Point
	// Stages is how many successive points each trial measures; 0 is one.
	Stages int
	Rounds int
	Trials []Trial
	// Bytes are those of the workload's parameters at all points together: what it costs to look at each.
	Bytes int
}

// ForRun computes a run's plan. The error is about the specification, for its author.
func ForRun(spec *v1alpha1.BenchmarkRunSpec) (*Plan, error) {
	m, err := memberOf(&spec.Workload)
	if err != nil {
		return nil, err
	}
	swept, err := m.swept(spec)
	if err != nil {
		return nil, err
	}
	stages, err := m.stages()
	if err != nil {
		return nil, err
	}
	rounds := int(ptr.Deref(spec.Trials.Repetitions, v1alpha1.DefaultRepetitions))
	if spec.Trials.Precision != nil {
		rounds = int(spec.Trials.Precision.Max)
	}
	if rounds < 1 { // the API server does not store that, but specifications come from files, too
		return nil, fmt.Errorf("a run needs at least one repetition (or precision.max) but has %d", rounds)
	}
	if len(swept)*rounds > MaxTrials {
		return nil, fmt.Errorf("a run has at most %d trials, but %d points times %d repetitions (or precision.max) are %d",
			MaxTrials, len(swept), rounds, len(swept)*rounds)
	}
	p := &Plan{
		Points: swept, Rounds: rounds, Trials: order(len(swept), rounds, spec.Trials.Order, Seed(spec)),
		Bytes: len(swept) * m.parameters.size(),
	}
	if err := p.inStages(stages); err != nil {
		return nil, err
	}
	return p, nil
}

// Seed is the seed of a run.
func Seed(spec *v1alpha1.BenchmarkRunSpec) int64 { return ptr.Deref(spec.Seed, v1alpha1.DefaultSeed) }
