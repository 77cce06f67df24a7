// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/benchrun-dev/benchrun/internal/trial"
)

// Decision is what to do, and what to tell people meanwhile.
type Decision struct {
	Action Action
	// Failure ends the run; nothing else is done in the same step.
	Failure *Failure
	// Complete ends the run with all of its results.
	Complete bool
	// Reason is what the run is doing, one of the API's reasons; Message says it in a sentence. A Failure has its own.
	Reason, Message string
	// After is when to look again even if nothing changes: a deadline. Zero waits for a change.
	After time.Duration
}

// Action is one of the types in this file, and no other.
type Action interface{ action() }

type (
	// Wait does nothing.
	Wait struct{}
	// ProvideDatabase creates an instance, bound to Node if that is not empty.
	ProvideDatabase struct {
		Instance int
		Node     string
	}
	// RemoveDatabase deletes what exists of an instance.
	RemoveDatabase struct{ Instance int }
	// StartAttempt creates an attempt's Job.
	StartAttempt struct{ Attempt trial.Attempt }
	// RecordAttempt fetches an accepted attempt's document and writes the attempt's record.
	RecordAttempt struct {
		Attempt    Attempt
		Parameters map[string]string
	}
	// RemoveJob deletes a Job, if it still is the one with that UID.
	RemoveJob struct {
		Name string
		UID  types.UID
	}
	// Publish writes the results of the run.
	Publish struct{ Outcome string }
	// DeleteRun deletes the run: its time after the end is over.
	DeleteRun struct{}
)

func (Wait) action()            {}
func (ProvideDatabase) action() {}
func (RemoveDatabase) action()  {}
func (StartAttempt) action()    {}
func (RecordAttempt) action()   {}
func (RemoveJob) action()       {}
func (Publish) action()         {}
func (DeleteRun) action()       {}
