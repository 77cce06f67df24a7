// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

// Cause says why an attempt was invalidated or failed. The constants below are all causes there are: those that the loader
// reports in its Failure, and those that the operator finds in the cluster.
type Cause string

// Causes that the loader reports.
const (
	// CauseConfiguration: the loader cannot read its configuration, or cannot do what it asks for.
	CauseConfiguration Cause = "Configuration"
	// CauseConnect: the server did not answer in time, or refused the credentials.
	CauseConnect Cause = "Connect"
	// CauseSettingNotEffective: the server runs without a requested setting.
	CauseSettingNotEffective Cause = "SettingNotEffective"
	// CauseSchemaTaken: the schema holds tables that Benchrun did not create, or another run uses it.
	CauseSchemaTaken Cause = "SchemaTaken"
	// CauseSQL: the server refused a statement.
	CauseSQL Cause = "SQL"
	// CauseConnectionLost: a connection broke during the measurement.
	CauseConnectionLost Cause = "ConnectionLost"
	// CauseTooManyConnections: the server had no connection left for the loader, because others have them.
	CauseTooManyConnections Cause = "TooManyConnections"
	// CauseCheckFailed: a check of the result failed, for example because rows are missing.
	CauseCheckFailed Cause = "CheckFailed"
	// CauseVariablesChanged: server variables changed during the measurement.
	CauseVariablesChanged Cause = "VariablesChanged"
	// CauseServerRestarted: the server restarted during the measurement.
	CauseServerRestarted Cause = "ServerRestarted"
	// CauseInterrupted: the loader was told to stop.
	CauseInterrupted Cause = "Interrupted"
	// CauseBarrierTimeout: some of several loader Pods were not there in time. The operator finds it too, if a Pod does not run.
	CauseBarrierTimeout Cause = "BarrierTimeout"
	// CauseStartedLate: one of several loader Pods started after the others.
	CauseStartedLate Cause = "StartedLate"
	// CauseToolFailed: the program that makes the load failed, or ended without a result.
	CauseToolFailed Cause = "ToolFailed"
	// CauseTooManyErrors: more transactions were rolled back and tried again than limits.errorPercent allows, or one too often.
	CauseTooManyErrors Cause = "TooManyErrors"
	// CauseInternal: a defect of the loader, or an unknown error.
	CauseInternal Cause = "Internal"
)

// CauseStartedTwice: more than one Pod ran for the attempt. The loader reports it if it finds that another Pod has started the
// attempt, the operator if it sees two Pods.
const CauseStartedTwice Cause = "StartedTwice"

// Causes that the operator finds.
const (
	// CauseEvicted: the loader's Pod was evicted or preempted, or its node was drained.
	CauseEvicted Cause = "Evicted"
	// CauseOutOfMemory: the loader's container exceeded its memory limit.
	CauseOutOfMemory Cause = "OutOfMemory"
	// CausePodDeleted: the loader's Pod was deleted before it ended, or vanished.
	CausePodDeleted Cause = "PodDeleted"
	// CauseSilent: the loader ended without a whole, valid result.
	CauseSilent Cause = "Silent"
	// CauseLoaderVersion: the loader's summary is of another version than the operator reads.
	CauseLoaderVersion Cause = "LoaderVersion"
	// CauseDocumentLost: the summary arrived, but not its document.
	CauseDocumentLost Cause = "DocumentLost"
	// CauseDocumentInvalid: the document arrived whole and is none: too large, not readable, or of another version.
	CauseDocumentInvalid Cause = "DocumentInvalid"
	// CauseImageChanged: the server or the loader ran another image than in the run's first accepted attempt.
	CauseImageChanged Cause = "ImageChanged"
	// CauseForeignResult: the result belongs to another Pod.
	CauseForeignResult Cause = "ForeignResult"
	// CauseDatabaseLost: the database was deleted, evicted, killed or restarted during the attempt.
	CauseDatabaseLost Cause = "DatabaseLost"
	// CauseNodeNotReady: the database's node did not answer for a part of the attempt.
	CauseNodeNotReady Cause = "NodeNotReady"
	// CauseNodeLost: the loader's node does not answer.
	CauseNodeLost Cause = "NodeLost"
	// CauseDeadlineExceeded: the attempt took longer than trials.deadlineSeconds.
	CauseDeadlineExceeded Cause = "DeadlineExceeded"
	// CauseThrottled: a CPU limit held the server back for longer than trials.maxThrottledPercent of the measured phase.
	CauseThrottled Cause = "Throttled"
	// CauseBusyInPauses: a server worked while others were measured in slices, in a run that may be measured otherwise.
	CauseBusyInPauses Cause = "BusyInPauses"
	// CauseDataCopied: the server made the data that further servers begin with, and had them in memory, which these have not.
	CauseDataCopied Cause = "DataCopied"
	// CauseNotStarted: no loader Pod ran within trials.startDeadlineSeconds.
	CauseNotStarted Cause = "NotStarted"
)

// Outcome of an attempt that ended for this cause. It failed if a new attempt would end in the same way: the configuration, the
// privileges or the cluster must change first. It is invalidated, and the trial is measured again, if something disturbed it.
// A cause that this version does not know counts as a disturbance, so that trials.maxInvalid bounds the number of attempts.
func (c Cause) Outcome() Outcome {
	switch c {
	case CauseConfiguration, CauseConnect, CauseSettingNotEffective, CauseSchemaTaken, CauseSQL, CauseBarrierTimeout,
		CauseToolFailed, CauseTooManyErrors, CauseInternal, CauseDeadlineExceeded, CauseNotStarted, CauseLoaderVersion:
		return OutcomeFailed
	default:
		return OutcomeInvalidated
	}
}
