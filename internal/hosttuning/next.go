// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttuning

import (
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Step is what one Job does on a node.
type Step string

const (
	// StepRead reads the settings that are asked for.
	StepRead Step = "read"
	// StepSet changes them.
	StepSet Step = "set"
	// StepDrop drops the page cache.
	StepDrop Step = "drop"
	// StepRestore gives them the values that they had.
	StepRestore Step = "restore"
)

// Outcome of the Job of a step.
type Outcome struct {
	// Exists and Ended say how far the Job is.
	Exists, Ended bool
	// Report that it has left, or nil: then Failure says why there is none.
	Report  *result.HostReport
	Failure string
}

// problem is why an ended step did not do all it should, or empty.
func (o *Outcome) problem() string {
	if o.Report == nil {
		return "the Job that should do it failed: " + o.Failure
	}
	return o.Report.Problem
}

// Observed is what a decision about a node depends on, beside its record.
type Observed struct {
	// Needed: whoever has tuned the node may still need that. Gone: it no longer exists.
	Needed, Gone bool
	// NodeGone: the node no longer exists.
	NodeGone bool
	// Job says how far the Job of a step is that is not restored yet; restoring counts the attempts from 0.
	Job func(step Step) Outcome
}

// Decision is what to do next about a node. At most one of Start, Write and Forget is set.
type Decision struct {
	// Start the Job of a step.
	Start Step
	// Write this record in place of the old one.
	Write *Record
	// Forget the node: delete its Lease.
	Forget bool
	// After is when to look again if nothing happens before; 0 waits for a change of the Lease or of its holder.
	After time.Duration
}

const (
	// pollInterval is the time between two looks at a Job.
	pollInterval = time.Second
	// firstRetry and lastRetry are the shortest and the longest time after which a node is restored again.
	firstRetry, lastRetry = 5 * time.Second, 5 * time.Minute
	// noteTime is how long the Lease of a restored node waits for its holder to take note.
	noteTime = 5 * time.Minute
)

// Next decides about a node.
func Next(r *Record, seen Observed, now time.Time) Decision {
	if r.Release || !seen.Needed {
		return restore(r, seen, now)
	}
	switch {
	case r.Failed != "":
		return Decision{}
	case r.Before == nil:
		return r.step(seen, StepRead, func(next *Record, o Outcome) { next.Before = &o.Report.Settings })
	case r.After == nil:
		return r.step(seen, StepSet, func(next *Record, o Outcome) { next.After = &o.Report.Settings })
	case r.Drop != r.Dropped:
		return r.step(seen, StepDrop, func(next *Record, _ Outcome) { next.Dropped = next.Drop })
	}
	return Decision{}
}

// step starts a Job, waits for it, and writes down what it has done.
func (r *Record) step(seen Observed, step Step, done func(*Record, Outcome)) Decision {
	o := seen.Job(step)
	switch {
	case !o.Exists:
		return Decision{Start: step}
	case !o.Ended:
		return Decision{After: pollInterval}
	}
	next := *r
	if problem := o.problem(); problem != "" {
		next.Failed, next.NotEffective = problem, o.Report != nil
	} else {
		done(&next, o)
	}
	return Decision{Write: &next}
}

// restore gives a node what it had. What was never changed needs no Job.
func restore(r *Record, seen Observed, now time.Time) Decision {
	next := *r
	next.Release = true
	switch {
	case r.Restored:
		return r.forget(seen, now)
	case !r.Changes():
		next.Restored, next.Tried = true, now
		return Decision{Write: &next}
	case seen.NodeGone && r.Gone:
		return r.forget(seen, now)
	case seen.NodeGone:
		next.Gone, next.Tried, next.Unrestored = true, now, fmt.Sprintf("node %s no longer exists", r.Node)
		return Decision{Write: &next}
	case !r.Release:
		return Decision{Write: &next} // from now on it is not tuned, whoever wants it
	}
	if set := seen.Job(StepSet); set.Exists && !set.Ended {
		return Decision{After: pollInterval} // which would change what is restored
	}
	o := seen.Job(StepRestore)
	switch {
	case !o.Exists:
		if left := r.pause(now); left > 0 {
			return Decision{After: left}
		}
		return Decision{Start: StepRestore}
	case !o.Ended:
		return Decision{After: pollInterval}
	}
	next.Tried = now
	switch problem := o.problem(); {
	case problem != "":
		next.Unrestored = problem
	case o.Report.Settings != *r.Before:
		next.Unrestored = fmt.Sprintf("read back %+v, not %+v", o.Report.Settings, *r.Before)
	default:
		next.Restored, next.Unrestored = true, ""
		return Decision{Write: &next}
	}
	next.Attempts++
	return Decision{Write: &next}
}

// pause is how long to wait until a node is restored again.
func (r *Record) pause(now time.Time) time.Duration {
	if r.Attempts == 0 {
		return 0
	}
	pause := min(lastRetry, firstRetry<<min(r.Attempts-1, 10))
	return max(0, r.Tried.Add(pause).Sub(now))
}

// forget a node when its holder has had the time to take note of how it ended, or no longer exists.
func (r *Record) forget(seen Observed, now time.Time) Decision {
	if left := r.Tried.Add(noteTime).Sub(now); !seen.Gone && left > 0 {
		return Decision{After: left}
	}
	return Decision{Forget: true}
}
