// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"math"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// By default, an attempt of which the time to measure and the rows to prepare are known has so long besides what it measures, ten
// times what it measures, and a second for so many rows: a slow machine is not a reason to end a run.
const (
	besidesWork   = 300
	workFactor    = 10
	rowsPerSecond = 500
	// sysbenchRows and sysbenchSeconds are what sysbench takes if nothing is said.
	sysbenchRows    = 10000
	sysbenchSeconds = 60
)

// workSeconds is how long an attempt may take once its loader runs: as long as the longest of its variants, or in slices as
// long as that for each.
func workSeconds(run *v1alpha1.BenchmarkRun, p *plan.Plan) int64 {
	longest := int64(0)
	for variant := range plan.Sides(run) {
		longest = max(longest, workOf(plan.Side(run, variant, 1), p))
	}
	if p != nil && p.Alternation == v1alpha1.AlternateSlices {
		longest *= int64(len(p.Variants))
	}
	return longest
}

// workOf a run without variants: trials.deadlineSeconds or, if that is the default and the work is known, what it may take.
func workOf(run *v1alpha1.BenchmarkRun, p *plan.Plan) int64 {
	most := int64(run.Spec.Trials.DeadlineSeconds)
	if most != int64(v1alpha1.DefaultTrialDeadlineSeconds) || p == nil {
		return most
	}
	seconds, known := measuredSeconds(run)
	if !known {
		return most
	}
	var rows int64
	for i := range p.Points {
		prepared, known := preparedRows(&run.Spec.Workload, p.Points[i].Parameters)
		if !known {
			return most
		}
		rows = max(rows, prepared)
	}
	return min(most, besidesWork+workFactor*seconds+rows/rowsPerSecond)
}

// measuredSeconds is for how long an attempt measures and warms up at most, if its workload says so.
func measuredSeconds(run *v1alpha1.BenchmarkRun) (seconds int64, known bool) {
	w := &run.Spec.Workload
	limit, pacing := w.Limits.Seconds, v1alpha1.Pacing{}
	switch {
	case w.SchemaFrom != nil: // which may fill the tables
		return 0, false
	case w.BulkInsert != nil:
		pacing = w.BulkInsert.Pacing
	case w.CommitSize != nil:
		pacing = w.CommitSize.Pacing
	case w.IIBench != nil:
		pacing = w.IIBench.Pacing
	case w.Sysbench != nil:
		limit, pacing.WarmupSeconds = w.Sysbench.Seconds, w.Sysbench.WarmupSeconds
		if limit == nil && w.Sysbench.Events == nil {
			limit = ptr.To[int32](sysbenchSeconds)
		}
	default:
		return 0, false
	}
	if run.Spec.Trials.MinSeconds != nil {
		limit = run.Spec.Trials.MinSeconds
	}
	if limit == nil {
		return 0, false
	}
	return int64(*limit) + int64(ptr.Deref(pacing.WarmupSeconds, 0)) + int64(ptr.Deref(pacing.RampSeconds, 0)), true
}

// preparedRows are how many rows an attempt at a point inserts before it measures, if that is known: a workload of the loader's
// own clients begins with empty tables.
func preparedRows(w *v1alpha1.WorkloadSpec, parameters map[string]string) (rows int64, known bool) {
	s := w.Sysbench
	if s == nil {
		return 0, true
	}
	script := string(s.Script)
	if swept := parameters["script"]; swept != "" {
		script = swept
	}
	if script == "" || script == "tpcc" || s.Churn != nil || parameters["churn"] != "" {
		return 0, false
	}
	value := func(name string, set, unset int64) int64 {
		if n, err := strconv.ParseInt(parameters[name], 10, 64); err == nil {
			return n
		}
		if set == 0 {
			return unset
		}
		return set
	}
	return value("tables", int64(ptr.Deref(s.Tables, 0)), 1) *
		value("tableSize", int64(ptr.Deref(s.TableSize, 0)), sysbenchRows), true
}

// pilotMargin is by how much the rows of trials exceed those of their pilot: chance makes some trials faster.
const pilotMargin = 1.1

// rowsAt is how many rows the trials of a point insert, as a pilot has decided; 0 is as many as the workload asks for. pilot says
// that this is still to be found out. The first decision holds, for all variants.
func (s *situation) rowsAt(point int) (rows int64, pilot bool) {
	if s.run.Spec.Trials.MinSeconds == nil {
		return 0, false
	}
	for _, r := range s.seen.Records {
		if r.Outcome == result.OutcomePilot && s.trial(r.Trial).Point == point {
			return r.Rows, false
		}
	}
	return 0, true
}

// recording is the record of an attempt that has ended. That of a pilot decides about the rows.
func (s *situation) recording(a Attempt) RecordAttempt {
	action := RecordAttempt{Attempt: a, Parameters: s.parameters(a.Trial)}
	t := s.trial(a.Trial)
	if a.Verdict.Outcome != result.OutcomeAccepted || t == nil {
		return action
	}
	if _, pilot := s.rowsAt(t.Point); pilot {
		action.Attempt.Verdict.Outcome = result.OutcomePilot
		action.Rows = enoughRows(trial.Rows(s.run, s.plan.Points[t.Point])[0], a.Verdict.Summary.Totals,
			ptr.Deref(s.run.Spec.Trials.MinSeconds, 0))
	}
	return action
}

// enoughRows are how many rows last so many seconds, by what a pilot has inserted: at least as many as are asked for. The number
// is rounded up to two digits, so that a person can say it.
func enoughRows(requested int64, pilot result.Totals, seconds int32) int64 {
	if pilot.Micros <= 0 {
		return requested
	}
	need := float64(pilot.Rows) * float64(seconds) * 1e6 / float64(pilot.Micros) * pilotMargin
	if need <= float64(requested) {
		return requested
	}
	unit := math.Pow10(max(0, len(strconv.FormatInt(int64(need), 10))-2))
	return min(int64(math.Ceil(need/unit-1e-9)*unit), trial.MaxRows) // what multiplying adds is no reason to round up
}
