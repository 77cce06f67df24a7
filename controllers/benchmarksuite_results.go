// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// publish writes the results of the suite, once, and adds them to what was seen.
func (r *BenchmarkSuiteReconciler) publish(ctx context.Context, s *suiteStep, outcome string) error {
	rep, err := suiteReport(s, outcome)
	if err != nil {
		return err
	}
	files, err := report.SuiteFiles(rep)
	if err != nil {
		return err
	}
	shown, err := r.page(ctx, s, rep)
	if err != nil {
		return err
	}
	files = append(files, shown...)
	published := &v1alpha1.ResultsReference{ConfigMap: plan.SuiteResultsName(s.suite), Digest: digestOf(files)}
	meta := metav1.ObjectMeta{
		Name: published.ConfigMap, Labels: plan.SuiteLabels(s.suite),
		Annotations: map[string]string{digestAnnotation: published.Digest},
	}
	meta.Labels[v1alpha1.LabelComponent] = v1alpha1.ComponentResults
	if err := r.writer(s.suite).store(ctx, meta, files, s.suite.Spec.Results.Retention); err != nil {
		return err
	}
	s.seen.Results = published
	return nil
}

// page of what was measured so far.
func (r *BenchmarkSuiteReconciler) page(ctx context.Context, s *suiteStep, rep *report.Suite) ([]result.File, error) {
	var members []pagedRun
	for i, m := range s.plan.Members {
		if seen := s.seen.Members[i]; seen.Measured != nil {
			members = append(members, pagedRun{seen.Run, s.suite.Spec.Variants[m.Variant].Name})
		}
	}
	return pages{r.Live, &r.decoding}.ofSuite(ctx, rep, members, func(run *v1alpha1.BenchmarkRun) ([]*result.Record, error) {
		attempts, err := r.readAttempts(ctx, run)
		if lost := new(changedError); errors.As(err, &lost) {
			return nil, nil // the suite has failed for that, and says so
		}
		return attempts, err
	})
}

// suiteReport is the report of what was measured so far.
func suiteReport(s *suiteStep, outcome string) (*report.Suite, error) {
	suite := s.suite
	spec, err := json.Marshal(suite.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	rep := &report.Suite{
		Namespace: suite.Namespace, Name: suite.Name, UID: string(suite.UID),
		Workload: string(suite.Spec.Template.Spec.Workload.Type), Seed: ptr.Deref(suite.Spec.Seed, v1alpha1.DefaultSeed),
		Outcome: outcome, Message: lifecycle.WhyStopped(suite, s.plan, s.seen, s.now),
		Rounds: s.seen.Judged.Rounds, Planned: int(suite.Spec.Rounds),
		Pairs: s.seen.Judged.Pairs, Claims: s.seen.Judged.Claims, Warnings: lifecycle.SuiteWarnings(suite, s.plan, s.seen), Spec: spec,
		Rows: lifecycle.PilotRows(s.seen), Database: lifecycle.SharedDatabase(s.seen),
	}
	if suite.Status.StartTime != nil {
		rep.Started = suite.Status.StartTime.UTC()
	}
	for i, v := range s.plan.Variants {
		digest, err := plan.Digest(&v.Run.Spec)
		if err != nil {
			return nil, err
		}
		besides := ""
		if i != s.plan.Baseline {
			besides = lifecycle.Besides(s.plan, s.seen, i)
		}
		rep.Variants = append(rep.Variants, report.SuiteVariant{
			Name: suite.Spec.Variants[i].Name, Title: suite.Spec.Variants[i].Title, Baseline: i == s.plan.Baseline,
			Differences: v.Differences, Besides: besides, SpecDigest: digest,
		})
	}
	for i := range s.plan.Members {
		if s.seen.Members[i].Finished() {
			rep.Runs = append(rep.Runs, reportedRun(s, i))
		}
	}
	return rep, nil
}

// reportedRun is what the report says of a run that has finished.
func reportedRun(s *suiteStep, member int) report.SuiteRun {
	m, seen := s.plan.Members[member], s.seen.Members[member]
	e := &seen.Run.Status.Environment
	run := report.SuiteRun{
		Name: seen.Run.Name, Round: m.Round, Variant: s.suite.Spec.Variants[m.Variant].Name, Seed: m.Seed,
		Outcome:     v1alpha1.ConditionFailed,
		Invalidated: int(ptr.Deref(seen.Run.Status.Trials.Invalidated, 0)), Results: seen.Run.Status.Results.Digest,
		ServerVersion: e.ServerVersion, SettingsDigest: e.SettingsDigest, DatabaseImage: e.DatabaseImage,
		DatabaseNode: e.DatabaseNode, LoaderNode: e.LoaderNode,
	}
	if seen.Measured == nil {
		return run
	}
	run.Outcome, run.Metric, run.Unit = v1alpha1.ConditionComplete, seen.Measured.Metric.Name, seen.Measured.Metric.Unit
	points := s.plan.Variants[m.Variant].Plan.Points
	run.Values = reportedValues(points, seen.Measured.Values)
	for _, name := range lifecycle.NamedMetrics(nil, s.suite.Spec.Plots) {
		if of, values := seen.Measured.Of(name); values != nil && name != run.Metric {
			other := report.SuiteMetric{Metric: of.Name, Unit: of.Unit, Values: reportedValues(points, values)}
			run.Others = append(run.Others, other)
		}
	}
	return run
}

// reportedValues are those that were measured at points.
func reportedValues(points []plan.Point, values []float64) []report.SuiteValue {
	var list []report.SuiteValue
	for i, point := range points {
		if v := values[i]; !math.IsNaN(v) {
			list = append(list, report.SuiteValue{Parameters: point.Parameters, Value: v})
		}
	}
	return list
}
