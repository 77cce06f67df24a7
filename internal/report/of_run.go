// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// OfRun is the report of a run with that plan, from the records of all of its attempts so far. The outcome is how the run
// ended: Complete or Failed.
func OfRun(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record, outcome string) (*Report, error) {
	digest, err := plan.Digest(&run.Spec)
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(run.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	rep := &Report{
		Run: Run{
			Namespace: run.Namespace, Name: run.Name, Title: run.Spec.Title, UID: string(run.UID),
			Workload: string(run.Spec.Workload.Type),
			Seed:     plan.Seed(&run.Spec), SpecDigest: digest, Outcome: outcome, Spec: spec,
		},
		Records: records,
	}
	if run.Status.StartTime != nil {
		rep.Run.Started = run.Status.StartTime.UTC()
	}
	if outcome == v1alpha1.ConditionFailed {
		rep.Run.Message = analysis.FailureOf(run.Status.Conditions)
	}
	for _, t := range p.Trials {
		rep.Trials = append(rep.Trials, Trial{Number: t.Number, Round: t.Round, Parameters: p.Points[t.Point].Swept()})
	}
	a := analysis.OfRun(run, p, records)
	rep.Run.Planned, rep.Points, rep.Claims = analysis.ProgressOf(run, p, records).Planned, a.Points, a.Claims
	return rep, nil
}

// FromResults is the report that the results.json of a run was printed from. Latencies have no histograms: those are in the
// documents of the attempts.
func FromResults(text []byte) (*Report, error) {
	rep, err := Decode(text)
	if err != nil {
		return nil, err
	}
	run := new(v1alpha1.BenchmarkRun)
	if err := json.Unmarshal(rep.Run.Spec, &run.Spec); err != nil {
		return nil, fmt.Errorf("reading the specification in %s: %w", JSONFile, err)
	}
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		return nil, fmt.Errorf("reading the specification in %s: %w", JSONFile, err)
	}
	rep.Points = analysis.Points(run, p, rep.Records)
	return rep, nil
}
