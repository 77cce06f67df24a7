// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosttuning decides how a node is tuned for a run and restored afterwards. A node is tuned by the owner that has created
// its Lease, in the operator's namespace. The Lease has a Record: what was asked, what the node had before, and what was done.
//
// Nothing is changed before the values that the node had are in the record, and the Lease stays until they were read back. An
// operator that is killed between any two writes therefore knows what to restore, and to what:
//
//	created -> Job read -> Before -> Job set -> After -> ... the run measures ... -> Release -> Job restore -> Restored -> deleted
package hosttuning

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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
	// Needed: the owner that has tuned the node may still need that. Gone: it no longer exists.
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

// recordVersion is the version of Record.
const recordVersion = 1

// Record is what is known of a tuned node, or one that is to be tuned.
type Record struct {
	Version int    `json:"version"`
	Node    string `json:"node"`
	// Disk whose I/O scheduler is asked for, or unknown.
	Disk      string              `json:"disk,omitempty"`
	Requested result.HostSettings `json:"asked"`
	// Before are the values that the node had, of those that are asked for. Nothing was changed as long as they are not known.
	Before *result.HostSettings `json:"before,omitempty"`
	// After are the values that were read back after the change.
	After *result.HostSettings `json:"after,omitempty"`
	// Failed is why the node could not be tuned. NotEffective: its kernel does not take a value.
	Failed       string `json:"failed,omitempty"`
	NotEffective bool   `json:"notEffective,omitempty"`
	// Drop names the attempt before which the page cache is to be dropped, and Dropped the last one before which it was.
	Drop    string `json:"drop,omitempty"`
	Dropped string `json:"dropped,omitempty"`
	// Release: the owner that has tuned the node no longer needs it.
	Release bool `json:"release,omitempty"`
	// Restored: the values of Before were read back, or nothing was changed.
	Restored bool `json:"restored,omitempty"`
	// Unrestored is why the last attempt to restore the node failed, of so many. Gone: the node no longer exists.
	Unrestored string `json:"unrestored,omitempty"`
	Attempts   int    `json:"attempts,omitempty"`
	Gone       bool   `json:"gone,omitempty"`
	// Tried is when the node was last restored, or that failed.
	Tried time.Time `json:"tried,omitzero"`
}

// reportedAfter so many failed attempts a node counts as not restored. The operator goes on trying.
const reportedAfter = 3

// Changes says whether the node has, or may have, other values than before.
func (r *Record) Changes() bool { return r.Before != nil && r.Requested != (result.HostSettings{}) }

// Tuned says whether the node has what was asked for.
func (r *Record) Tuned() bool { return r.After != nil && r.Failed == "" && !r.Release }

// NotRestored says whether the node counts as one that could not be restored.
func (r *Record) NotRestored() bool { return !r.Restored && (r.Gone || r.Attempts >= reportedAfter) }

// Settled says whether the node is restored, or counts as one that could not be.
func (r *Record) Settled() bool { return r.Restored || r.NotRestored() }

// New is the record of a node that is to be tuned for a run.
func New(spec *v1alpha1.HostTuningSpec, node, disk string) Record {
	r := Record{Version: recordVersion, Node: node, Requested: Settings(spec)}
	if r.Requested.IOScheduler != "" {
		r.Disk = disk
	}
	return r
}

// Settings are what a run asks for, in the kernel's words.
func Settings(spec *v1alpha1.HostTuningSpec) result.HostSettings {
	s := result.HostSettings{IOScheduler: string(spec.IOScheduler), TransparentHugePages: string(spec.TransparentHugePages)}
	if spec.Swappiness != nil {
		s.Swappiness = strconv.Itoa(int(*spec.Swappiness))
	}
	return s
}

// Encode is a record as it stands in the annotation of a Lease.
func (r *Record) Encode() (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encoding the record of node %s: %w", r.Node, err)
	}
	return string(data), nil
}

// Decode reads the annotation of a Lease.
func Decode(text string) (*Record, error) {
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("reading the record of a tuned node: %w", err)
	}
	if r.Version != recordVersion || r.Node == "" {
		return nil, fmt.Errorf("the record of a tuned node has version %d, this program reads %d", r.Version, recordVersion)
	}
	return &r, nil
}

// LeaseName is the name of the Lease of a node. The name of a node that is too long for that is replaced by its hash.
func LeaseName(node string) string {
	const suffix, longest = ".host.benchrun.dev", 253
	if len(node)+len(suffix) > longest {
		node = hash(node)
	}
	return node + suffix
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:16]
}
