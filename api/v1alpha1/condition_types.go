// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Condition types of a BenchmarkRun. All are set from the first reconcile
// on.
const (
	// ConditionAdmitted is True while it is the turn of the run in its lane. A run that is not admitted has
	// no database and no Job.
	ConditionAdmitted = "Admitted"
	// ConditionDatabaseReady is True while the database answers with the settings that were asked for.
	ConditionDatabaseReady = "DatabaseReady"
	// ConditionComplete is True when every planned trial was measured and the results are published.
	ConditionComplete = "Complete"
	// ConditionFailed is True when the run cannot have all of its results; its reason and message say why.
	ConditionFailed = "Failed"
	// ConditionResultsAvailable is True while everything that was measured can be read: the results and the records of all
	// attempts. Its message says what cannot be written, or what was deleted.
	ConditionResultsAvailable = "ResultsAvailable"
	// ConditionSuspended is True while spec.suspend holds the run.
	ConditionSuspended = "Suspended"
	// ConditionFinished is True at either end, Complete or Failed, when nothing more will be written: what scripts wait for.
	ConditionFinished = "Finished"
	// ConditionReady is True only when the run is Complete. Helm and Flux read this, Reconciling and Stalled.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the run is being worked on.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when the run has Failed: nothing will happen without a person.
	ConditionStalled = "Stalled"
)

// Reasons of a run under way, as shown in the STATUS column.
const (
	// ReasonAdmitted: the run holds the lane.
	ReasonAdmitted = "Admitted"
	// ReasonQueued: it waits for its lane. The message of the next one in the queue names the holder.
	ReasonQueued = "Queued"
	// ReasonFinished: the run has finished, and gives its lane to the next as soon as its Jobs and its database are gone.
	ReasonFinished = "Finished"
	// ReasonWaitingForPredecessor: objects of an earlier run of the same name are still being deleted.
	ReasonWaitingForPredecessor = "WaitingForPredecessor"
	// ReasonProvisioningDatabase: the database is being created or is starting.
	ReasonProvisioningDatabase = "ProvisioningDatabase"
	// ReasonTuningHost: the database's node is being tuned or restored, as database.hostTuning asks; the server or the next trial
	// waits for it.
	ReasonTuningHost = "TuningHost"
	// ReasonWaitingForKueue: Kueue has not admitted the database or the loader yet; the message names the queue, which is that of
	// the run's label.
	ReasonWaitingForKueue = "WaitingForKueue"
	// ReasonInsufficientResources: no node has enough of a resource that the database's or the loader's Pod requests.
	ReasonInsufficientResources = "InsufficientResources"
	// ReasonMeasuring: trials are being measured.
	ReasonMeasuring = "Measuring"
	// ReasonPublishing: every trial is measured; the results are being written.
	ReasonPublishing = "Publishing"
	// ReasonRetrying: the same step has failed several times; the message is the last error. The operator tries again.
	ReasonRetrying = "Retrying"
	// ReasonRefused: the API server refuses an object for now (a full quota, a missing permission, a policy or a webhook); the
	// message is its own. The operator tries again until trials.startDeadlineSeconds after the first refusal, and then ends the
	// run as Rejected.
	ReasonRefused = "Refused"
	// ReasonSuspended: spec.suspend is true.
	ReasonSuspended = "Suspended"
	// ReasonTerminating: the run has a deletionTimestamp. It stops, removes its Jobs and its database, and leaves its
	// lane; the message names the finalizers that keep it.
	ReasonTerminating = "Terminating"
	// ReasonComplete: every trial is measured and the results are published.
	ReasonComplete = "Complete"
	// ReasonInProgress: the condition's answer is not known yet.
	ReasonInProgress = "InProgress"
	// ReasonDatabaseReachable: the database instance is up.
	ReasonDatabaseReachable = "DatabaseReachable"
	// ReasonDatabaseRemoved: the run is finished or suspended and its database was removed.
	ReasonDatabaseRemoved = "DatabaseRemoved"
	// ReasonNotSuspended: spec.suspend is false.
	ReasonNotSuspended = "NotSuspended"
	// ReasonResultsPublished: the results and all records are there.
	ReasonResultsPublished = "ResultsPublished"
	// ReasonResultsNotWritten: the cluster refuses a ConfigMap with results (quota, policy, a taken name); the operator tries
	// again until the run's deadline.
	ReasonResultsNotWritten = "ResultsNotWritten"
	// ReasonResultsDeleted: ConfigMaps of a finished run are gone; the message names them. The status keeps its numbers.
	ReasonResultsDeleted = "ResultsDeleted"
	// ReasonNothingMeasured: the run ended before an attempt was recorded.
	ReasonNothingMeasured = "NothingMeasured"
)

// Reasons of a run with variants, as shown in the STATUS column, besides those of any run.
const (
	// ReasonChecking: what the variants ask for is being checked by the API server, before anything is made.
	ReasonChecking = "Checking"
	// ReasonDecided: every pair, or every variant over all points together, has its answer, and the results are published.
	ReasonDecided = "Decided"
	// ReasonUndecided: all rounds are measured, and at least one of these answers is missing; the detail says why.
	ReasonUndecided = "Undecided"
)

// Reasons for which a run ends Failed.
const (
	// ReasonInvalidSpecification: the specification cannot be carried out; the message says what is allowed. Nothing was
	// created.
	ReasonInvalidSpecification = "InvalidSpecification"
	// ReasonNameTaken: an object that is not Benchrun's has a name that the run needs; it is left alone.
	ReasonNameTaken = "NameTaken"
	// ReasonRejected: the API server refused an object of the run throughout trials.startDeadlineSeconds (a quota, a policy), or
	// will never accept it (a value that is not valid); the message is its own.
	ReasonRejected = "Rejected"
	// ReasonDatabaseNotStarted: the database was not up within trials.startDeadlineSeconds (image, volume, no node fits).
	ReasonDatabaseNotStarted = "DatabaseNotStarted"
	// ReasonHostTuningNotAllowed: the run has database.hostTuning, and no administrator has allowed it. Nothing was created.
	ReasonHostTuningNotAllowed = "HostTuningNotAllowed"
	// ReasonHostTuningFailed: the database's node could not be tuned; the message says why.
	ReasonHostTuningFailed = "HostTuningFailed"
	// ReasonMariaDBOperatorMissing: provisioner MariaDBOperator, and its kind is not installed; the message says how to.
	ReasonMariaDBOperatorMissing = "MariaDBOperatorMissing"
	// ReasonDatabaseUnreachable: the loader could not connect (host, credentials, TLS); the message is the server's.
	ReasonDatabaseUnreachable = "DatabaseUnreachable"
	// ReasonServerConfigurationRejected: the server ended at once because of a variable; the message is its error line.
	ReasonServerConfigurationRejected = "ServerConfigurationRejected"
	// ReasonSettingNotEffective: the server runs, but not with what was asked, or the node's kernel refuses a value of
	// database.hostTuning; the message names both values, or those that are allowed.
	ReasonSettingNotEffective = "SettingNotEffective"
	// ReasonBlockIOClassNotEffective: the node's container runtime does not know storage.blockIOClass, or nothing limits the disk
	// of the data volume; the message says which.
	ReasonBlockIOClassNotEffective = "BlockIOClassNotEffective"
	// ReasonLoaderNotStarted: no loader Pod ran within trials.startDeadlineSeconds.
	ReasonLoaderNotStarted = "LoaderNotStarted"
	// ReasonBarrierTimeout: not all of several loader Pods were there within trials.startDeadlineSeconds.
	ReasonBarrierTimeout = "BarrierTimeout"
	// ReasonLoaderFailed: the loader ended with an error that a new attempt would meet again.
	ReasonLoaderFailed = "LoaderFailed"
	// ReasonRecordsChanged: the record of an attempt was deleted or changed while the run was under way.
	ReasonRecordsChanged = "RecordsChanged"
	// ReasonDeadlineExceeded: an attempt took longer than trials.deadlineSeconds, or the run longer than spec.deadlineSeconds;
	// the message says what it waited for.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonTooManyErrors: more transactions than workload.limits.errorPercent were rolled back and tried again.
	ReasonTooManyErrors = "TooManyErrors"
	// ReasonTooManyInvalid: attempts were disturbed more often than trials.maxInvalid allows.
	ReasonTooManyInvalid = "TooManyInvalid"
)

// ReasonVariantInvalid ends a run Failed: what a variant asks for is refused; the message is that of the API server. Nothing was
// created.
const ReasonVariantInvalid = "VariantInvalid"
