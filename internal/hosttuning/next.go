// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosttuning decides how a node is tuned for a run and restored afterwards. A node is tuned by the run that has created
// its Lease, in the operator's namespace. The Lease has a Record, whose state says which Job is at work:
//
//	Reading -> Setting -> Tuned, the run measures -> Restoring -> Ended, and the Lease is deleted
//	      \________\____> Failed ____________________/
//
// Nothing is changed before the values that the node had are in the record, and the Lease stays until they were read back. An
// operator that is killed between any two writes therefore knows what to restore, and to what.
package hosttuning

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// State of a node. A Job is at work while it is being read, set or restored, and nothing is left to do when it has Ended.
type State string

// States of a node.
const (
	Reading   State = "Reading"
	Setting   State = "Setting"
	Tuned     State = "Tuned"
	Failed    State = "Failed"
	Restoring State = "Restoring"
	Ended     State = "Ended"
)

// recordVersion is the version of Record.
const recordVersion = 2

// Record is what is known of a tuned node, or one that is to be tuned.
type Record struct {
	Version   int                   `json:"version"`
	State     State                 `json:"state"`
	Requested v1alpha1.HostSettings `json:"requested"`
	// The status is what the run's has about the node, once it has the values from before.
	v1alpha1.HostTuningStatus `json:"status"`
	// Reason and Failure are those of the run if the node could not be tuned.
	Reason  string `json:"reason,omitempty"`
	Failure string `json:"failure,omitempty"`
	// Release: the run that has tuned the node no longer needs it.
	Release bool `json:"release,omitempty"`
	// Attempts to restore the node have failed. Tried is when the last one did, or when the node has ended.
	Attempts int       `json:"attempts,omitempty"`
	Tried    time.Time `json:"tried,omitzero"`
}

// New is the record of a node that is to be tuned for a run.
func New(spec *v1alpha1.HostTuningSpec, node, disk string) Record {
	r := Record{Version: recordVersion, State: Reading, Requested: Settings(spec)}
	if r.Node = node; r.Requested.IOScheduler != "" {
		r.Disk = result.Truncate(disk, 64)
	}
	return r
}

// Settings are what a run asks for, in the kernel's words.
func Settings(spec *v1alpha1.HostTuningSpec) v1alpha1.HostSettings {
	s := v1alpha1.HostSettings{IOScheduler: spec.IOScheduler, TransparentHugePages: spec.TransparentHugePages}
	if spec.Swappiness != nil {
		s.Swappiness = strconv.Itoa(int(*spec.Swappiness))
	}
	return s
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

// Changes says whether the node has, or may have had, other values than before.
func (r *Record) Changes() bool { return r.Before != (v1alpha1.HostSettings{}) }

// Settled says whether the node is restored, or counts as one that could not be.
func (r *Record) Settled() bool { return r.State == Ended || r.Restored != nil }

// Observed is what a decision about a node depends on, beside its record.
type Observed struct {
	// Needed: the run that has tuned the node is under way. Noted: its status says that the node is restored, or the run is gone.
	Needed, Noted bool
	// NodeGone: the node no longer exists.
	NodeGone bool
	// Job of the state.
	Job Outcome
}

// Decision is what to do next about a node: start the Job of its state, forget the node by deleting its Lease, write this record
// in place of the old one, or wait.
type Decision struct {
	Start, Forget bool
	Write         *Record
}

const (
	// retry is the time after which a node that was not restored is tried again.
	retry = time.Minute
	// noteTime is how long a node that has ended waits for its run to take note, and one that is gone for its return.
	noteTime = 5 * time.Minute
)

// Next decides about a node. One that is being set is restored when that has ended, not before.
func Next(r Record, seen Observed, now time.Time) Decision {
	release, idle := r.Release || !seen.Needed, r.State == Tuned || r.State == Failed
	switch {
	case r.State == Ended:
		return r.ended(seen, now)
	case r.State == Restoring && seen.NodeGone:
		r.restored(Ended, "node "+r.Node+" no longer exists", now)
	case release && !r.Changes():
		r.restored(Ended, "", now)
	case release && idle:
		r.State = Restoring
	case idle, seen.Job.Exists && !seen.Job.Ended:
		return Decision{}
	case !seen.Job.Exists:
		return Decision{Start: r.Attempts == 0 || now.Sub(r.Tried) >= retry}
	default:
		r.advance(seen.Job, now)
	}
	return Decision{Write: &r}
}

// ended forgets a node, or restores one that has come back.
func (r *Record) ended(seen Observed, now time.Time) Decision {
	restored := r.Restored != nil && *r.Restored
	if !restored && !seen.NodeGone {
		r.State = Restoring
		return Decision{Write: r}
	}
	return Decision{Forget: now.Sub(r.Tried) >= noteTime || restored && (seen.Noted || !r.Changes())}
}

// restored writes down that the node has its values again, or why not.
func (r *Record) restored(state State, problem string, now time.Time) {
	restored := problem == ""
	r.State, r.Tried, r.Restored, r.Message = state, now, &restored, result.Truncate(problem, 1024)
}

// advance writes down what the Job of the state has done.
func (r *Record) advance(o Outcome, now time.Time) {
	have, problem := v1alpha1.HostSettings{}, "its Job failed: "+o.Failure
	if o.Report != nil {
		have, problem = v1alpha1.HostSettings(o.Report.Settings), o.Report.Problem
	}
	differs := func(want v1alpha1.HostSettings) string {
		if problem == "" && have != want {
			return fmt.Sprintf("read back %+v, not %+v", have, want)
		}
		return problem
	}
	switch {
	case r.State == Restoring && differs(r.Before) == "":
		r.restored(Ended, "", now)
		return
	case r.State == Restoring:
		r.Attempts++
		r.restored(Restoring, differs(r.Before), now)
		return
	case r.State == Setting:
		r.State, r.After, problem = Tuned, have, differs(r.Requested)
	case problem == "" && len(Flags(have)) != len(Flags(r.Requested)):
		problem = fmt.Sprintf("%+v was read, but %+v is requested", have, r.Requested)
	case problem == "":
		r.State, r.Before = Setting, have
	}
	if problem != "" {
		r.State, r.Reason, r.Failure = Failed, v1alpha1.ReasonHostTuningFailed, "node "+r.Node+": "+problem
		if o.Report != nil {
			r.Reason = v1alpha1.ReasonSettingNotEffective
		}
	}
}
