// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/json"
	"fmt"
	"math"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
)

// OfSuite is the report of a suite with that plan, from what its runs have measured so far. The outcome is how the suite
// ended, Complete, Failed or Unfinished; the message says why there are no more rounds.
func OfSuite(
	suite *v1alpha1.BenchmarkSuite, p *lifecycle.SuitePlan, seen *lifecycle.SuiteObserved, outcome, message string,
) (*report.Suite, error) {
	spec, err := json.Marshal(suite.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	rep := &report.Suite{
		Namespace: suite.Namespace, Name: suite.Name, UID: string(suite.UID),
		Workload: string(suite.Spec.Template.Spec.Workload.Type), Seed: ptr.Deref(suite.Spec.Seed, v1alpha1.DefaultSeed),
		Outcome: outcome, Message: message, Rounds: seen.Judged.Rounds, Planned: int(suite.Spec.MaxRounds),
		Pairs: seen.Judged.Pairs, Claims: seen.Judged.Claims, Findings: lifecycle.SuiteWarnings(suite, p, seen), Spec: spec,
		Rows: lifecycle.PilotRows(seen), Database: lifecycle.SharedDatabase(seen),
	}
	if suite.Status.StartTime != nil {
		rep.Started = suite.Status.StartTime.UTC()
	}
	volumes := map[string]string{}
	for _, v := range lifecycle.Volumes(suite, p, seen) {
		volumes[v.Variant] = lifecycle.VolumeText(&v)
	}
	for i, v := range p.Variants {
		digest, err := plan.Digest(&v.Run.Spec)
		if err != nil {
			return nil, err
		}
		var unasked lifecycle.Unasked
		if i != p.Baseline {
			unasked = lifecycle.UnaskedOf(p, seen, i)
		}
		rep.Variants = append(rep.Variants, report.SuiteVariant{
			Name: suite.Spec.Variants[i].Name, Title: suite.Spec.Variants[i].Title, Baseline: i == p.Baseline,
			Differences: differences(v.Differences), Besides: unasked.Text, Unasked: unasked.Count, SpecDigest: digest,
			Volume: volumes[suite.Spec.Variants[i].Name],
		})
	}
	named := lifecycle.NamedMetrics(nil, suite.Spec.Plots, suite.Spec.Tables)
	for i, m := range p.Members {
		if seen.Members[i].Finished() {
			variant := suite.Spec.Variants[m.Variant].Name
			rep.Runs = append(rep.Runs, ofMember(m, variant, p.Variants[m.Variant].Plan, &seen.Members[i], named))
		}
	}
	return rep, nil
}

// ofMember is what the report says of a run that has finished. Plots and tables may be of the named metrics too.
func ofMember(
	m plan.Member, variant string, p *plan.Plan, seen *lifecycle.SuiteMember, named []string,
) report.SuiteRun {
	e := &seen.Run.Status.Environment
	run := report.SuiteRun{
		Name: seen.Run.Name, Round: m.Round, Variant: variant, Seed: m.Seed, Outcome: v1alpha1.ConditionFailed,
		Invalidated: int(ptr.Deref(seen.Run.Status.Trials.Invalidated, 0)), Results: seen.Run.Status.Results.Digest,
		ServerVersion: e.ServerVersion, SettingsDigest: e.SettingsDigest, DatabaseImage: e.DatabaseImage,
		DatabaseNode: e.DatabaseNode, LoaderNode: e.LoaderNode,
	}
	if seen.Measured == nil {
		return run
	}
	run.Outcome, run.Metric, run.Unit = v1alpha1.ConditionComplete, seen.Measured.Metric.Name, seen.Measured.Metric.Unit
	run.Values = valuesAt(p.Points, seen.Measured.Values)
	for _, name := range named {
		if of, values := seen.Measured.Of(name); values != nil && name != run.Metric {
			run.Others = append(run.Others, report.SuiteMetric{Metric: of.Name, Unit: of.Unit, Values: valuesAt(p.Points, values)})
		}
	}
	return run
}

// valuesAt points are those that were measured.
func valuesAt(points []plan.Point, values []float64) []report.SuiteValue {
	var list []report.SuiteValue
	for i, point := range points {
		if v := values[i]; !math.IsNaN(v) {
			list = append(list, report.SuiteValue{Parameters: point.Parameters, Value: v})
		}
	}
	return list
}

func differences(list []plan.Difference) []report.Difference {
	var all []report.Difference
	for _, d := range list {
		all = append(all, report.Difference(d))
	}
	return all
}
