// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan computes, from a run's specification alone, what is measured and in which order, what everything is called,
// and which server settings were asked for.
//
// The plan is a function and is never stored: the specification cannot change and its seed is recorded, so that the plan
// is the same after a restart or an upgrade of the operator, and on a stranger's cluster.
package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
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
	// Sides are the variants that the trial measures, by their indexes; none of a run without variants.
	Sides []int
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
	// Variants are the names of the run's variants, which all have these points; none of a run without. Alternation is what takes
	// turns within a round of these. AlternationReason says why that is not slices, if the run may choose.
	Variants          []string
	Alternation       v1alpha1.Alternation
	AlternationReason string
	// Uneven: not all variants have all points.
	Uneven bool
	// Metric is the headline; empty is the workload's own.
	Metric string
	// Bytes are those of the workload's parameters at all points together: what it costs to look at each.
	Bytes int
}

// New computes a run's plan. Its variants alternate as the status says or, before that is known, as is given. The error is about
// the specification, for its author.
func New(run *v1alpha1.BenchmarkRun, byDefault v1alpha1.Alternation) (*Plan, error) {
	if len(run.Spec.Variants) == 0 {
		return ForRun(&run.Spec)
	}
	return forVariants(run, cmp.Or(run.Status.Alternation, byDefault))
}

// ForRun computes the plan of a run without variants.
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
	metric := cmp.Or(spec.Metric, offeredMetric(&spec.Workload, swept))
	if spec.Capacity != nil {
		if swept, err = capacityPoints(swept); err != nil {
			return nil, err
		}
		if metric, err = capacityMetric(spec, metric); err != nil {
			return nil, err
		}
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
		Bytes: len(swept) * m.parameters.size(), Metric: metric,
	}
	if err := p.inStages(stages); err != nil {
		return nil, err
	}
	return p, nil
}

// offeredMetric is a latency where a rate is offered at all points: how many rows there were follows from the rate. Empty is the
// workload's own headline.
func offeredMetric(w *v1alpha1.WorkloadSpec, points []Point) string {
	pacing := v1alpha1.Pacing{}
	switch {
	case w.BulkInsert != nil:
		pacing = w.BulkInsert.Pacing
	case w.CommitSize != nil:
		pacing = w.CommitSize.Pacing
	}
	always := strconv.FormatInt(int64(ptr.Deref(pacing.RatePerSecond, 0)), 10)
	for _, point := range points {
		rate, swept := point.Parameters["ratePerSecond"]
		if !swept {
			rate = always
		}
		if rate == "0" {
			return ""
		}
	}
	return "transactionP99Micros"
}

// Seed is the seed of a run.
func Seed(spec *v1alpha1.BenchmarkRunSpec) int64 { return ptr.Deref(spec.Seed, v1alpha1.DefaultSeed) }

// orderStream keeps the order's random numbers apart from those of the data, which come from the same seed.
const orderStream = 0x6f72646572 // "order"

// order lists rounds × points trials. The random numbers are PCG's, whose sequence is specified, drawn in a way that is
// written down here: one seed gives one order, on every machine and with every release of the language.
func order(points, rounds int, how v1alpha1.TrialOrder, seed int64) []Trial {
	trials := make([]Trial, 0, points*rounds)
	for r := range rounds {
		for p := range points {
			trials = append(trials, Trial{Round: r + 1, Point: p})
		}
	}
	pcg := rand.NewPCG(uint64(seed), orderStream) //nolint:gosec // a seed may wrap; nothing here is secret
	switch how {
	case v1alpha1.OrderSequential:
		slices.SortStableFunc(trials, func(a, b Trial) int { return a.Point - b.Point })
	case v1alpha1.OrderShuffled:
		shuffle(pcg, trials)
	default:
		for r := range rounds {
			shuffle(pcg, trials[r*points:(r+1)*points])
		}
	}
	for i := range trials {
		trials[i].Number = i + 1
	}
	return trials
}

// shuffle is the Fisher–Yates shuffle.
func shuffle[T any](pcg *rand.PCG, items []T) {
	for i := len(items) - 1; i > 0; i-- {
		j := below(pcg, uint64(i)+1)
		items[i], items[j] = items[j], items[i]
	}
}

// below draws a number from 0 to n-1, each equally likely: draws from the incomplete last stretch are thrown away.
func below(pcg *rand.PCG, n uint64) uint64 {
	limit := -n % n // 2^64 mod n
	for {
		if x := pcg.Uint64(); x >= limit {
			return x % n
		}
	}
}

// Digest of what a specification asks to be measured: runs with the same digest ask for the same. Title, metric, claims,
// lane, suspend, deadlines, lifetime, clean-up and pull secrets are left out, because they do not change a number. The prefix is
// the version of this method and of the names of the fields: v3 since clients.
func Digest(spec *v1alpha1.BenchmarkRunSpec) (string, error) {
	data, err := json.Marshal(measured(spec))
	if err != nil {
		return "", fmt.Errorf("encoding the specification: %w", err)
	}
	return "v3:" + result.NamedDigest(data), nil
}

// measured is what of a specification changes a number.
func measured(spec *v1alpha1.BenchmarkRunSpec) *v1alpha1.BenchmarkRunSpec {
	rest := spec.DeepCopy()
	rest.Title, rest.Metric, rest.Lane, rest.Cleanup = "", "", "", ""
	rest.Suspend, rest.DeadlineSeconds, rest.TTLSecondsAfterFinished = nil, nil, nil
	rest.Claims, rest.ImagePullSecrets, rest.Results = nil, nil, v1alpha1.ResultsSpec{}
	nameEngine(&rest.Database)
	return rest
}

// stages of a workload are the names of the stages that it measures: not of those that only rest. nil if it measures as a whole.
func (m *member) stages() ([]string, error) {
	listed, found := m.parameters.get("stages")
	if !found {
		return nil, nil
	}
	var stages []struct {
		Name string          `json:"name"`
		Rest json.RawMessage `json:"rest"`
	}
	if err := json.Unmarshal(listed, &stages); err != nil {
		return nil, fmt.Errorf("reading workload.%s.stages: %w", m.name, err)
	}
	names := []string{}
	for _, s := range stages {
		if s.Rest == nil {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// inStages makes of each point one for each of the stages in which it is measured; nil leaves it as it is. It is the one place
// that knows how many points a trial has: a caller with a trial gets them from Measured.
func (p *Plan) inStages(names []string) error {
	if names == nil {
		return nil
	}
	if len(p.Points)*len(names) > MaxPoints {
		return fmt.Errorf("a run has at most %d points, but %d stages at %d points of a sweep are %d",
			MaxPoints, len(names), len(p.Points), len(p.Points)*len(names))
	}
	var all []Point
	for _, point := range p.Points {
		for _, name := range names {
			stage := Point{Parameters: map[string]string{result.StageParameter: name}, values: point.values, staged: true}
			maps.Copy(stage.Parameters, point.Parameters)
			all = append(all, stage)
		}
	}
	p.Points, p.Stages = all, len(names)
	for i := range p.Trials {
		p.Trials[i].Point *= p.Stages
	}
	return nil
}

// Measured are the indexes of the points that a trial measures, from the first one to before the last.
func (p *Plan) Measured(t *Trial) (from, to int) { return t.Point, t.Point + max(1, p.Stages) }

// Swept are the parameters that a trial sets: those of a point but for the stage, which is a part of the trial.
func (p Point) Swept() map[string]string {
	switch {
	case !p.staged:
		return p.Parameters
	case len(p.Parameters) == 1:
		return nil
	}
	swept := maps.Clone(p.Parameters)
	delete(swept, result.StageParameter)
	return swept
}
