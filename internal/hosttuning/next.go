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
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// State of a node.
type State string

// The Jobs of Reading, Setting and Restoring read what is requested, change it, and give it back its values. Once a node is being
// set, it is not restored before that has ended. Nothing is left to do about a node that has Ended.
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
	s := v1alpha1.HostSettings{IOScheduler: string(spec.IOScheduler), TransparentHugePages: string(spec.TransparentHugePages)}
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

// Outcome of a Job.
type Outcome struct {
	Exists, Ended bool
	// Report that it has left, or nil: then Failure says why there is none.
	Report  *result.HostReport
	Failure string
}

// Decision is what to do next about a node: start the Job of its state, write this record in place of the old one, forget the node
// by deleting its Lease, or wait: After is when to look again then, unless the Lease or its run changes before.
type Decision struct {
	Start, Forget bool
	Write         *Record
	After         time.Duration
}

const (
	// pollInterval is the time between two looks at a Job.
	pollInterval = time.Second
	// firstRetry and lastRetry are the shortest and the longest time after which a node is restored again.
	firstRetry, lastRetry = 5 * time.Second, 5 * time.Minute
	// reportedAfter so many failed attempts a node counts as not restored. The operator goes on trying.
	reportedAfter = 3
	// noteTime is how long a node that has ended waits for its run to take note, and one that is gone for its return.
	noteTime = 5 * time.Minute
)

// Next decides about a node.
func Next(r Record, seen Observed, now time.Time) Decision {
	restored := ptr.Deref(r.Restored, false)
	switch release := r.Release || !seen.Needed; {
	case r.State == Ended && !restored && !seen.NodeGone:
		r.State = Restoring // it has come back
	case r.State == Ended:
		left := r.Tried.Add(noteTime).Sub(now)
		return Decision{Forget: left <= 0 || restored && (seen.Noted || !r.Changes()), After: max(0, left)}
	case r.State == Restoring && seen.NodeGone:
		r.end(false, fmt.Sprintf("node %s no longer exists", r.Node), now)
	case release && !r.Changes():
		r.end(true, "", now)
	case release && (r.State == Tuned || r.State == Failed):
		r.State = Restoring
	case r.State == Tuned || r.State == Failed:
		return Decision{After: lastRetry}
	case !seen.Job.Exists:
		left := r.pause(now)
		return Decision{Start: left <= 0, After: max(0, left)}
	case !seen.Job.Ended:
		return Decision{After: pollInterval}
	default:
		r.done(seen.Job, now)
	}
	return Decision{Write: &r}
}

// pause is how long to wait until a node is restored again.
func (r *Record) pause(now time.Time) time.Duration {
	if r.Attempts == 0 {
		return 0
	}
	return r.Tried.Add(min(lastRetry, firstRetry<<min(r.Attempts-1, 10))).Sub(now)
}

// end leaves nothing to do about a node.
func (r *Record) end(restored bool, message string, now time.Time) {
	r.State, r.Tried, r.Restored, r.Message = Ended, now, &restored, message
}

// done writes down what the Job of the state has done.
func (r *Record) done(o Outcome, now time.Time) {
	have, err := o.settings()
	switch r.State {
	case Reading:
		r.State = Setting
		if err == nil && len(Flags(have)) != len(Flags(r.Requested)) {
			err = fmt.Errorf("%+v was read, but %+v is requested", have, r.Requested)
		}
		if err == nil {
			r.Before = have
		}
	case Setting:
		r.State, r.After = Tuned, have
		err = differs(err, have, r.Requested)
	default:
		if err = differs(err, have, r.Before); err == nil {
			r.end(true, "", now)
			return
		}
		r.Attempts, r.Tried = r.Attempts+1, now
		if r.Attempts >= reportedAfter {
			r.Restored, r.Message = ptr.To(false), result.Truncate(err.Error(), 1024)
		}
		return
	}
	if err != nil {
		r.State, r.Reason, r.Failure = Failed, v1alpha1.ReasonHostTuningFailed, fmt.Sprintf("node %s: %v", r.Node, err)
		if o.Report != nil {
			r.Reason = v1alpha1.ReasonSettingNotEffective
		}
	}
}

// settings that a Job has read back.
func (o *Outcome) settings() (v1alpha1.HostSettings, error) {
	switch {
	case o.Report == nil:
		return v1alpha1.HostSettings{}, errors.New("its Job failed: " + o.Failure)
	case o.Report.Problem != "":
		return v1alpha1.HostSettings(o.Report.Settings), errors.New(o.Report.Problem)
	}
	return v1alpha1.HostSettings(o.Report.Settings), nil
}

func differs(err error, have, want v1alpha1.HostSettings) error {
	if err == nil && have != want {
		return fmt.Errorf("read back %+v, not %+v", have, want)
	}
	return err
}
