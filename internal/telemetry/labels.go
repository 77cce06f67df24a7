// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// other is the value of a label for everything that is not in its list.
const other = "Other"

// Every series exists from the start, with zero: the first increment of one that did not exist is invisible to rate() and
// increase().
var (
	outcomes = []result.Outcome{
		result.OutcomeAccepted, result.OutcomeInvalidated, result.OutcomeFailed, result.OutcomePilot,
	}
	// disturbances are the causes of invalidated attempts. A cause that a loader reports may be any text.
	disturbances = []result.Cause{
		result.CauseConnectionLost, result.CauseTooManyConnections, result.CauseCheckFailed, result.CauseVariablesChanged,
		result.CauseServerRestarted,
		result.CauseInterrupted, result.CauseStartedLate, result.CauseAlternationBroken, result.CauseStartedTwice,
		result.CauseEvicted, result.CauseOutOfMemory,
		result.CausePodDeleted, result.CauseSilent, result.CauseDocumentLost, result.CauseDocumentInvalid,
		result.CauseImageChanged, result.CauseForeignResult, result.CauseDatabaseLost, result.CauseNodeNotReady,
		result.CauseNodeLost, result.CauseThrottled, other,
	}
	runFailures = []string{
		v1alpha1.ReasonInvalidSpecification, v1alpha1.ReasonNameTaken, v1alpha1.ReasonRejected,
		v1alpha1.ReasonDatabaseNotStarted, v1alpha1.ReasonHostTuningNotAllowed, v1alpha1.ReasonHostTuningFailed,
		v1alpha1.ReasonMariaDBOperatorMissing, v1alpha1.ReasonDatabaseUnreachable, v1alpha1.ReasonServerRefusedConfiguration,
		v1alpha1.ReasonSettingNotEffective, v1alpha1.ReasonBlockIOClassNotEffective, v1alpha1.ReasonLoaderNotStarted,
		v1alpha1.ReasonBarrierTimeout, v1alpha1.ReasonLoaderFailed, v1alpha1.ReasonRecordsChanged,
		v1alpha1.ReasonDeadlineExceeded, v1alpha1.ReasonQueueDeadlineExceeded, v1alpha1.ReasonTooManyErrors,
		v1alpha1.ReasonTooManyInvalid, other,
	}
	comparisonFailures = []string{
		v1alpha1.ReasonVariantInvalid, v1alpha1.ReasonMemberFailed, v1alpha1.ReasonMemberLost,
		v1alpha1.ReasonDeadlineExceeded, v1alpha1.ReasonQueueDeadlineExceeded, v1alpha1.ReasonNameTaken,
		v1alpha1.ReasonRejected, other,
	}
	// answers of comparisons that are complete.
	answers = []string{v1alpha1.ReasonDecided, v1alpha1.ReasonUndecided, other}
	// states that always have a series. Whatever else the operator says of a run or a comparison has one while it says so.
	runStates = []string{
		statePending, v1alpha1.ReasonSuspended, v1alpha1.ReasonQueued, v1alpha1.ReasonWaitingForPredecessor,
		v1alpha1.ReasonProvisioningDatabase, v1alpha1.ReasonTuningHost, v1alpha1.ReasonWaitingForKueue,
		v1alpha1.ReasonWaitingForRoom, v1alpha1.ReasonWaitingForTurn, v1alpha1.ReasonMeasuring, v1alpha1.ReasonPublishing,
		v1alpha1.ReasonRetrying, v1alpha1.ReasonComplete, stateFailed,
	}
	comparisonStates = []string{
		statePending, v1alpha1.ReasonChecking, v1alpha1.ReasonSuspended, v1alpha1.ReasonQueued, v1alpha1.ReasonMeasuring,
		v1alpha1.ReasonPublishing, v1alpha1.ReasonRetrying, v1alpha1.ReasonDecided, v1alpha1.ReasonUndecided, stateFailed,
	}
)

// Controllers whose reconciles may fail.
const (
	RunController        = "benchmarkrun"
	ComparisonController = "benchmarkcomparison"
)

// Reasons for which a reconcile is tried again, besides those that an API server gives.
const (
	reasonStale    = "Stale"
	reasonDeadline = "DeadlineExceeded"
)

// refusals are the reasons of an API server. A webhook may give any other.
var refusals = []metav1.StatusReason{
	metav1.StatusReasonUnauthorized, metav1.StatusReasonForbidden, metav1.StatusReasonNotFound,
	metav1.StatusReasonAlreadyExists, metav1.StatusReasonInvalid, metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout,
	metav1.StatusReasonTooManyRequests, metav1.StatusReasonBadRequest, metav1.StatusReasonRequestEntityTooLarge,
	metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable,
}

func failureReasons() []string {
	list := []string{reasonStale, reasonDeadline, other}
	for _, r := range refusals {
		list = append(list, string(r))
	}
	return list
}

// failureReason an error that is not only a stale cache.
func failureReason(err error) string {
	reason := apierrors.ReasonForError(err)
	switch {
	case slices.Contains(refusals, reason):
		return string(reason)
	case errors.Is(err, context.DeadlineExceeded):
		return reasonDeadline
	}
	return other
}

// known is a value if it is in the list, and other if not.
func known[T ~string](value T, list []T) string {
	if slices.Contains(list, value) {
		return string(value)
	}
	return other
}
