// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"math"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// OfComparison is the report of a comparison with that plan, from what its runs have measured so far. The outcome is how the
// comparison ended, Complete, Failed or Unfinished; the message says why there are no more rounds.
func OfComparison(
	comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan, runs *analysis.ComparisonRuns, verdicts analysis.Verdicts,
	outcome, message string,
) (*Comparison, error) {
	spec, err := json.Marshal(comparison.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	a := analysis.OfComparison(comparison, p, runs, verdicts)
	rep := &Comparison{
		Namespace: comparison.Namespace, Name: comparison.Name, UID: string(comparison.UID),
		Workload: string(comparison.Spec.Template.Spec.Workload.Type), Seed: ptr.Deref(comparison.Spec.Seed, v1alpha1.DefaultSeed),
		Outcome: outcome, Message: message, Rounds: a.Rounds, Planned: int(comparison.Spec.MaxRounds),
		Pairs: a.Pairs, Overall: a.Overall, Claims: a.Claims, Findings: a.Warnings, Spec: spec, Rows: a.Rows,
		Database: analysis.SharedDatabase(a.Servers), DatabaseServers: a.Servers, Variables: analysis.ServerVariables(p, runs),
	}
	if p.Alternation.Together() {
		rep.TrialsPerRound = int(plan.TrialsPerRound(&comparison.Spec))
	}
	if p.Alternation == v1alpha1.AlternateSlices {
		rep.SliceMilliseconds = int(plan.SliceMilliseconds(&comparison.Spec))
	}
	if comparison.Status.StartTime != nil {
		rep.Started = comparison.Status.StartTime.UTC()
	}
	for i := range a.Variants {
		v := &a.Variants[i]
		digest, err := plan.Digest(&p.Variants[i].Run.Spec)
		if err != nil {
			return nil, err
		}
		rep.Variants = append(rep.Variants, ComparisonVariant{
			Name: v.Name, Title: comparison.Spec.Variants[i].Title, Baseline: v.Baseline, Differences: requestedDifferences(v.Differences),
			Besides: v.Others.String(), OtherVariables: v.Others, SpecDigest: digest, Volume: v.Volume.String(),
		})
		if v.Others != nil {
			rep.Variants[i].Unrequested = v.Others.Differing
		}
	}
	named := analysis.NamedMetrics(nil, comparison.Spec.Plots, comparison.Spec.Tables)
	for i, m := range p.Members {
		if runs.Members[i].Finished() {
			variant := comparison.Spec.Variants[m.Variant].Name
			rep.Runs = append(rep.Runs, ofMember(m, variant, p.Variants[m.Variant].Plan, &runs.Members[i], named))
		}
	}
	return rep, nil
}

// ofMember is what the report says of a run that has finished. Plots and tables may be of the named metrics too.
func ofMember(
	m plan.Member, variant string, p *plan.Plan, member *analysis.Member, named []string,
) ComparisonRun {
	e := &member.Run.Status.Environment
	run := ComparisonRun{
		Name: member.Run.Name, Round: m.Round, Variant: variant, Seed: m.Seed, Outcome: v1alpha1.ConditionFailed,
		Invalidated: int(ptr.Deref(member.Run.Status.Trials.Invalidated, 0)), Results: member.Run.Status.Results.Digest,
		ServerVersion: e.ServerVersion, SettingsDigest: e.SettingsDigest, DatabaseImage: e.DatabaseImage,
		DatabaseNode: e.DatabaseNode, LoaderNode: e.LoaderNode,
	}
	if member.Measured == nil {
		return run
	}
	run.Outcome, run.Metric, run.Unit = v1alpha1.ConditionComplete, member.Measured.Metric.Name, member.Measured.Metric.Unit
	run.Values = valuesAt(p.Points, member.Measured.Values)
	for _, name := range named {
		if of, values := member.Measured.Of(name); values != nil && name != run.Metric {
			run.Others = append(run.Others, ComparisonMetric{Metric: of.Name, Unit: of.Unit, Values: valuesAt(p.Points, values)})
		}
	}
	return run
}

// valuesAt points are those that were measured.
func valuesAt(points []plan.Point, values []float64) []ComparisonValue {
	var list []ComparisonValue
	for i, point := range points {
		if v := values[i]; !math.IsNaN(v) {
			list = append(list, ComparisonValue{Parameters: point.Parameters, Value: v})
		}
	}
	return list
}

// requestedDifferences are differences in what is asked for, as they are printed.
func requestedDifferences(list []plan.Difference) []Difference {
	var all []Difference
	for _, d := range list {
		all = append(all, Difference(d))
	}
	return all
}
