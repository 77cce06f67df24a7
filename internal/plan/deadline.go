// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

const (
	// spareTime is for what the deadlines of trials do not bound: databases and predecessors that are being removed, and results
	// that are being written.
	spareTime   = 10 * time.Minute
	maxDeadline = 365 * 24 * time.Hour
)

// Deadline is how long a run may take at most from its start, without the time for which it is suspended or queued: what it asks
// for or, by default, as long as all trials and all allowed disturbances may take: an attempt waits for its loader, and works for
// WorkSeconds; a new server, of which each disturbance may need one, is waited for and primed.
func Deadline(run *v1alpha1.BenchmarkRun, p *Plan) time.Duration {
	if requested := run.Spec.DeadlineSeconds; requested != nil {
		return time.Duration(*requested) * time.Second
	}
	t := &run.Spec.Trials
	servers := int64(ptr.Deref(t.MaxInvalid, v1alpha1.DefaultMaxInvalid)) + 1
	attempts := servers
	if p != nil {
		attempts += int64(len(p.Trials))
	}
	switch {
	case t.Server == v1alpha1.ServerPerTrial:
		servers = attempts
	case p != nil && len(p.Variants) > 0:
		servers = (servers + int64(p.Rounds)) * int64(len(p.Variants))
	}
	start := int64(t.StartDeadlineSeconds)
	seconds := attempts*(start+WorkSeconds(run, p)) + servers*(start+2*int64(ptr.Deref(t.PrimeSeconds, 0)))
	if seconds >= int64(maxDeadline/time.Second) {
		return maxDeadline
	}
	return time.Duration(seconds)*time.Second + spareTime
}

// QuietTime is for how long a run without spec.deadlineSeconds may make no progress: as long as one attempt may take. It may need
// a new database, and its warm-up.
func QuietTime(run *v1alpha1.BenchmarkRun, p *Plan) time.Duration {
	t := &run.Spec.Trials
	seconds := 2*int64(t.StartDeadlineSeconds) + WorkSeconds(run, p) + 2*int64(ptr.Deref(t.PrimeSeconds, 0))
	return min(maxDeadline, time.Duration(seconds)*time.Second+spareTime)
}

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

// WorkSeconds is how long an attempt may take once its loader runs: as long as the longest of its variants, or in slices as
// long as that for each.
func WorkSeconds(run *v1alpha1.BenchmarkRun, p *Plan) int64 {
	longest := int64(0)
	for variant := range Sides(run) {
		longest = max(longest, workOf(Side(run, variant, 1), p))
	}
	if p != nil && p.Alternation == v1alpha1.AlternateSlices {
		longest *= int64(len(p.Variants))
	}
	return longest
}

// workOf a run without variants: trials.deadlineSeconds or, if that is the default and the work is known, what it may take.
func workOf(run *v1alpha1.BenchmarkRun, p *Plan) int64 {
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
	case w.Pgbench != nil:
		limit, pacing.WarmupSeconds = cmp.Or(limit, ptr.To[int32](sysbenchSeconds)), w.Pgbench.WarmupSeconds
	case w.Statements != nil:
		limit, pacing.WarmupSeconds = cmp.Or(limit, ptr.To[int32](sysbenchSeconds)), w.Statements.WarmupSeconds
	default:
		return 0, false
	}
	if limit == nil {
		return 0, false
	}
	return int64(*limit) + int64(ptr.Deref(pacing.WarmupSeconds, 0)) + int64(ptr.Deref(pacing.RampSeconds, 0)), true
}

// preparedRows are how many rows an attempt at a point inserts before it measures, if that is known: a workload of the loader's
// own clients begins with empty tables.
func preparedRows(w *v1alpha1.WorkloadSpec, parameters map[string]string) (rows int64, known bool) {
	if w.Pgbench != nil || w.Statements != nil {
		return 0, false
	}
	s := w.Sysbench
	if s == nil {
		return 0, true
	}
	if script := cmp.Or(parameters["script"], string(s.Script)); script == "" || script == "tpcc" {
		return 0, false
	}
	value := func(name string, set, unset int64) int64 {
		if n, err := strconv.ParseInt(parameters[name], 10, 64); err == nil {
			return n
		}
		return cmp.Or(set, unset)
	}
	return value("tables", int64(ptr.Deref(s.Tables, 0)), 1) *
		value("tableSize", int64(ptr.Deref(s.TableSize, 0)), sysbenchRows), true
}
