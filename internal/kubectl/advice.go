// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"strings"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Advice explains a reason or a cause. docs/troubleshooting.md has the same at greater length.
type Advice struct {
	// Means is what has happened, and Do what to do; Do is empty if there is nothing to be done.
	Means, Do string
}

// lines are both, for a person.
func (a Advice) lines() []string { return append([]string{a.Means}, a.remedy()...) }

// words are both in one line.
func (a Advice) words() string { return strings.Join(a.lines(), " ") }

// remedy is a line that says what to do, or none.
func (a Advice) remedy() []string {
	if a.Do == "" {
		return nil
	}
	return []string{"What to do: " + a.Do}
}

// Reasons of conditions. The reference has them.
var Reasons = map[string]Advice{
	v1alpha1.ReasonAdmitted: {"It holds its lane and may measure.", ""},
	v1alpha1.ReasonQueued: {
		"It waits for its lane. One run is measured in a lane at a time.",
		"wait, suspend or delete the holder of the lane, or use other lanes (spec.lane) for runs that cannot disturb each other.",
	},
	v1alpha1.ReasonFinished: {"It has finished. It releases its lane when its Jobs and its database are gone.", ""},
	v1alpha1.ReasonWaitingForPredecessor: {
		"Objects of an earlier run of the same name are still being deleted.",
		"wait. If it takes minutes, look for finalizers on the objects that the message names.",
	},
	v1alpha1.ReasonProvisioningDatabase: {
		"The database is being created or is starting.",
		"nothing, unless the message names a problem: an image, a volume, or a node without enough room.",
	},
	v1alpha1.ReasonTuningHost: {"The database's node is being tuned or restored, as database.hostTuning requests.", ""},
	v1alpha1.ReasonWaitingForKueue: {
		"Kueue has not admitted the database or the loader yet.",
		"check the quota of the queue that the message names. Database and loader need it at the same time.",
	},
	v1alpha1.ReasonInsufficientResources: {
		"No node has enough of a resource that the database's or the loader's Pod requests.",
		"make room on a node, or lower database.resources or loader.resources; the message says what is missing.",
	},
	v1alpha1.ReasonMeasuring:  {"Trials are being measured.", ""},
	v1alpha1.ReasonPublishing: {"Everything is measured, and the results are being written.", ""},
	v1alpha1.ReasonRetrying: {
		"The same step has failed several times. The operator retries at least every 30 seconds, until the deadline.",
		"fix what the message names: a quota, an admission webhook that does not answer, or a missing permission.",
	},
	v1alpha1.ReasonRefused: {
		"The API server refuses an object for now. The operator retries until trials.startDeadlineSeconds have passed.",
		"fix what the message names: a full quota, a missing permission, a policy or a webhook.",
	},
	v1alpha1.ReasonSuspended: {
		"spec.suspend is true. All measurements so far are kept.",
		"set spec.suspend to false to continue.",
	},
	v1alpha1.ReasonTerminating: {
		"It is being deleted: it stops and releases its lane. Nothing more is recorded.",
		"if it is not removed, remove the finalizers that the message names, or ask their owner to do so.",
	},
	v1alpha1.ReasonComplete:          {"Everything is measured, and the results are published.", ""},
	v1alpha1.ReasonInProgress:        {"It is in progress. There is no answer yet.", ""},
	v1alpha1.ReasonDatabaseReachable: {"The database is up.", ""},
	v1alpha1.ReasonDatabaseRemoved:   {"The database was removed, because the run has finished or is suspended.", ""},
	v1alpha1.ReasonNotSuspended:      {"spec.suspend is false.", ""},
	v1alpha1.ReasonResultsPublished:  {"The results and the records of all attempts are available.", ""},
	v1alpha1.ReasonResultsNotWritten: {
		"The API server refuses a ConfigMap with results. Nothing is lost: the operator retries until the deadline.",
		"fix what the message names: a quota, a policy, or another object with that name.",
	},
	v1alpha1.ReasonResultsDeleted: {
		"ConfigMaps of a finished run were deleted. The numbers in its status remain.",
		"repeat the run under another name if you need more than the status.",
	},
	v1alpha1.ReasonNothingMeasured: {"It ended before an attempt was recorded, so there are no results.", ""},
	v1alpha1.ReasonChecking:        {"The API server checks what each variant asks for, before anything is created.", ""},
	v1alpha1.ReasonDecided: {
		"Every pair, or every variant over all points together, has its answer, and the results are published.", "",
	},
	v1alpha1.ReasonUndecided: {
		"All rounds are measured, and at least one pair has no answer, or one variant over all points together.",
		"read the details of that pair. More rounds, a quieter node or longer trials can show smaller differences.",
	},
	v1alpha1.ReasonInvalidSpecification: {
		"The specification cannot be carried out. Nothing was created.",
		"correct what the message names, check it with kubectl benchrun validate, and create it again.",
	},
	v1alpha1.ReasonNameTaken: {
		"An object that Benchrun did not create has a name that Benchrun needs. It was not changed.",
		"delete it, or use another name.",
	},
	v1alpha1.ReasonRejected: {
		"The API server refused an object until trials.startDeadlineSeconds had passed, or will never accept it.",
		"read the message of the API server, and repeat it when the cluster allows it.",
	},
	v1alpha1.ReasonDatabaseNotStarted: {
		"The database did not start within trials.startDeadlineSeconds.",
		"check the image, volume, quota, LimitRange and nodes. If a resource is short, the message says which.",
	},
	v1alpha1.ReasonHostTuningNotAllowed: {
		"The run requests changes to the kernel settings of a node, which the administrator has not allowed.",
		"remove database.hostTuning, or ask the administrator to add the namespace to hostTuning.namespaces in the Helm chart.",
	},
	v1alpha1.ReasonHostTuningFailed: {
		"The database's node could not be tuned. Changes that had been made were reverted.",
		"read the message. The operator's namespace must allow privileged Pods, and no other run may be tuning the node.",
	},
	v1alpha1.ReasonMariaDBOperatorMissing: {
		"The run needs the MariaDB operator, which is not installed.",
		"install it as the message says, or remove database.provisioner.",
	},
	v1alpha1.ReasonDatabaseUnreachable: {
		"The loader could not connect to the server.",
		"check the host, credentials and TLS settings. The message comes from the server.",
	},
	v1alpha1.ReasonServerConfigurationRejected: {
		"The server exited because of a variable.",
		"correct the variable. The message is the line that the server logged.",
	},
	v1alpha1.ReasonBlockIOClassNotEffective: {
		"The node does not limit the disk of the data volume as storage.blockIOClass requests.",
		"define the class in the configuration of the node's container runtime, for the disk of the volume, or remove the class.",
	},
	v1alpha1.ReasonSettingNotEffective: {
		"The server, or the kernel of its node, does not run with the requested value.",
		"request a value that it accepts. Use the prefix loose_ for a variable that may not exist.",
	},
	v1alpha1.ReasonLoaderNotStarted: {
		"No loader Pod started within trials.startDeadlineSeconds.",
		"check the quota, the nodes, and that the Secrets, ConfigMaps and claims that the run names exist.",
	},
	v1alpha1.ReasonBarrierTimeout: {
		"At least one of several loader Pods did not start within trials.startDeadlineSeconds.",
		"check that the nodes have room for all of them. The message names the Pod.",
	},
	v1alpha1.ReasonLoaderFailed: {
		"The loader failed with an error that another attempt would not avoid.",
		"read the message of the server or the program; kubectl benchrun logs NAME --trial N prints all of it.",
	},
	v1alpha1.ReasonRecordsChanged: {
		"The ConfigMap with the record of an attempt was deleted or changed during the run.",
		"repeat the run, and do not change the ConfigMaps of a run in progress.",
	},
	v1alpha1.ReasonDeadlineExceeded: {
		"An attempt, or the run as a whole, exceeded its deadline.",
		"fix what the message says it waited for, or raise trials.deadlineSeconds or spec.deadlineSeconds.",
	},
	v1alpha1.ReasonQueueDeadlineExceeded: {
		"It waited for its lane for longer than spec.queueDeadlineSeconds.",
		"apply it again when the lane is free, raise the deadline, or use another lane if the two share no nodes.",
	},
	v1alpha1.ReasonTooManyErrors: {
		"More transactions were rolled back and retried than workload.limits.errorPercent allows.",
		"use fewer connections or more rows, or raise the limit if contention is what you measure.",
	},
	v1alpha1.ReasonTooManyInvalid: {
		"More attempts were invalidated than trials.maxInvalid allows.",
		"remove the causes, which are listed below.",
	},
	v1alpha1.ReasonVariantInvalid: {
		"What a variant asks for is refused. Nothing was created.",
		"correct the variant that the message names; kubectl benchrun validate checks it without a cluster.",
	},
}

// Causes for which attempts fail or do not count. The reference has them.
var Causes = map[result.Cause]Advice{
	result.CauseConfiguration: {"The loader cannot do what its configuration requests.", "correct what the message names."},
	result.CauseConnect: {
		"The server did not answer in time, or refused the credentials.",
		"check the host, credentials and TLS settings.",
	},
	result.CauseSettingNotEffective: {
		"The server runs without a requested setting.",
		"request a value that the server accepts.",
	},
	result.CauseSchemaTaken: {
		"The schema holds tables that Benchrun did not create, or another run uses it.", "use a separate, empty schema.",
	},
	result.CauseSQL:            {"The server refused a statement.", "read the message: the user may lack a privilege."},
	result.CauseConnectionLost: {"A connection broke during the measurement.", "check the server's log if it happens again."},
	result.CauseCheckFailed: {
		"A check of the result failed, for example because rows are missing.",
		"make sure that nothing else uses the schema.",
	},
	result.CauseVariablesChanged: {
		"Server variables changed during the measurement.",
		"do not change the server's variables during the measurement.",
	},
	result.CauseServerRestarted: {"The server restarted during the measurement.", "check the server's memory limit and log."},
	result.CauseInterrupted:     {"The loader was terminated.", ""},
	result.CauseBarrierTimeout: {
		"Some of several loader Pods did not start in time.", "check that the nodes have room for all of them.",
	},
	result.CauseTooManyConnections: {
		"The server had no connection left for the loader: other clients use them.",
		"close the other connections, or raise max_connections.",
	},
	result.CauseStartedLate: {"One of several loader Pods started after the others.", ""},
	result.CauseToolFailed: {
		"The program that generates the load failed, or ended without a result.",
		"read what it printed: kubectl benchrun logs.",
	},
	result.CauseTooManyErrors: {
		"More transactions were rolled back and retried than limits.errorPercent allows.",
		"use fewer connections or more rows.",
	},
	result.CauseInternal:     {"The loader failed with an unexpected error.", "report it with the message."},
	result.CauseStartedTwice: {"More than one Pod ran for the attempt.", ""},
	result.CauseEvicted: {
		"The loader's Pod was evicted or preempted, or its node was drained.",
		"use nodes that are not drained while they measure.",
	},
	result.CauseOutOfMemory: {"The loader used more memory than its limit.", "raise loader.resources.limits.memory."},
	result.CausePodDeleted:  {"The loader's Pod was deleted before it ended, or vanished.", ""},
	result.CauseSilent:      {"The loader ended without a complete result.", "check its node if it happens again."},
	result.CauseLoaderVersion: {
		"The operator does not read the version of the loader's summary: the operator was upgraded during the run.",
		"repeat the run, or go back to the operator's earlier release until the run has finished.",
	},
	result.CauseDocumentLost: {
		"The summary of the result arrived, but not its document.",
		"check the log rotation on the node.",
	},
	result.CauseDocumentInvalid: {
		"The result document is too large, unreadable or of another version.",
		"use the loader of the operator's version.",
	},
	result.CauseImageChanged: {
		"The server or the loader ran a different image than before: its tag was moved.",
		"reference images by digest.",
	},
	result.CauseForeignResult: {"The result belongs to another Pod.", ""},
	result.CauseDatabaseLost: {
		"The database was deleted, evicted, killed or restarted. The next attempt uses a new one.",
		"check its memory limit and its node.",
	},
	result.CauseNodeNotReady:     {"The database's node was not ready during part of the attempt.", "check the node."},
	result.CauseNodeLost:         {"The loader's node does not answer.", "check the node."},
	result.CauseDeadlineExceeded: {"The attempt took longer than trials.deadlineSeconds.", "raise it, or measure less."},
	result.CauseThrottled: {
		"A CPU limit throttled the server for more of the time than trials.maxThrottledPercent allows.",
		"raise the CPU limit, or trials.maxThrottledPercent.",
	},
	result.CauseBusyInPauses: {"A server worked while others were measured in slices.", "nothing: the run goes on trial by trial."},
	result.CauseNotStarted: {
		"No loader Pod ran within trials.startDeadlineSeconds.",
		"check the quota, nodes, Secrets, ConfigMaps and claims.",
	},
}
