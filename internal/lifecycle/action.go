// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// Decision is the next action, and what the status says about it.
type Decision struct {
	Action Action
	// Failure says why the run cannot have all of its results. The action is Wait then.
	Failure *Failure
	// Complete ends the run with all of its results. Finished ends one that failed: nothing more will be written.
	Complete, Finished bool
	// Reason is what the run is doing, one of the API's reasons; Message says it in a sentence. A Failure has its own.
	Reason, Message string
	// Stopped: the run is being deleted, and nothing of it is left that has to be removed.
	Stopped bool
	// Unexpected: the run has been admitted, and its lane is another's now. Only a cache that is behind should say so.
	Unexpected bool
	// After is the time until the next reconcile if no watch triggers it earlier; 0 waits for a watch.
	After time.Duration
}

// Action is one of the types in this file.
type Action interface{ action() }

type (
	// Wait does nothing.
	Wait struct{}
	// TakeLane creates the Lease of the lane of a run, if the lane is free.
	TakeLane struct{}
	// ReleaseLane deletes the Lease of that lane, if it is still this holder's.
	ReleaseLane struct{ Holder Holder }
	// RemoveOrphan deletes an object of an earlier owner of the same name, if it is unchanged and that owner is gone.
	RemoveOrphan struct{ Object database.Object }
	// ProvideDatabase creates an instance, bound to Node if that is not empty. Beside is how many servers are up together with it.
	ProvideDatabase struct {
		Instance int
		Node     string
		Beside   int
	}
	// RemoveDatabase deletes the objects of an instance.
	RemoveDatabase struct{ Instance int }
	// RemoveDataCopies deletes the claims with copies of prepared data.
	RemoveDataCopies struct{}
	// StartAttempt creates an attempt's Job.
	StartAttempt struct{ Attempt trial.Attempt }
	// ClaimAttempt makes a Job that exists that of the next attempt, if it is what the operator would have made.
	ClaimAttempt struct{ Attempt trial.Attempt }
	// RecordAttempt fetches an accepted attempt's document and writes the attempt's record. Rows is what a pilot has decided.
	RecordAttempt struct {
		Attempt    Attempt
		Parameters map[string]string
		Rows       int64
	}
	// RemoveJob deletes a Job if it still has that UID.
	RemoveJob struct{ Job *batchv1.Job }
	// Publish writes the results of the run.
	Publish struct{ Outcome string }
	// ReleaseNodes deletes the PodDisruptionBudget of an instance that stays: nothing is measured any more.
	ReleaseNodes struct{ Instance int }
	// TuneHost creates the Lease of a node, by which that is tuned. Disk is the one below the data volume, or unknown.
	TuneHost struct {
		Node, Disk string
		Tuning     *v1alpha1.HostTuningSpec
	}
	// ReleaseHost has a node restored.
	ReleaseHost struct{ Node TunedNode }
	// CheckVariants has the API server check what each variant asks for, without creating it.
	CheckVariants struct{}
	// DeleteRun deletes the run, because its time to live has passed.
	DeleteRun struct{}
)

// waitsFor says why a Pod waits, if that is a quota of Kueue or room on a node.
func (d *Decision) waitsFor(kueue, room bool) {
	switch {
	case kueue:
		d.Reason = v1alpha1.ReasonWaitingForKueue
	case room:
		d.Reason = v1alpha1.ReasonInsufficientResources
	}
}

// Irrevocable says whether a decision cannot be taken back. It must not be carried out because of what a cache says that may be
// behind. The creation of a Job and the record of an accepted attempt are not among these: their names and what the API server
// answers protect them.
func (d *Decision) Irrevocable() bool {
	if d.Failure != nil || d.Unexpected {
		return true
	}
	switch a := d.Action.(type) {
	case RecordAttempt:
		return a.Attempt.Verdict.Outcome != result.OutcomeAccepted
	case TakeLane, ReleaseLane, ProvideDatabase, RemoveDatabase, RemoveDataCopies, TuneHost, ReleaseHost, DeleteRun:
		return true
	}
	return false
}

func (Wait) action()             {}
func (TakeLane) action()         {}
func (ReleaseLane) action()      {}
func (RemoveOrphan) action()     {}
func (ProvideDatabase) action()  {}
func (RemoveDatabase) action()   {}
func (RemoveDataCopies) action() {}
func (StartAttempt) action()     {}
func (ClaimAttempt) action()     {}
func (RecordAttempt) action()    {}
func (RemoveJob) action()        {}
func (Publish) action()          {}
func (ReleaseNodes) action()     {}
func (TuneHost) action()         {}
func (ReleaseHost) action()      {}
func (DeleteRun) action()        {}
func (CheckVariants) action()    {}
