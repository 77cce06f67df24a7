// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package telemetry shows what the operator does: as metrics, and as one log line for each transition.
//
// Two kinds of metrics differ in where they come from. Counters and histograms follow the transitions from one status to the
// next, after the new one was written: a step that is tried again is not counted twice, and a manager that starts begins with
// zero, as Prometheus expects. Gauges are computed from the runs themselves at each scrape: they hold after a restart, too.
//
//	transitions.go  two statuses → the transitions between them; runs → gauges
//	metrics.go      transitions → counters and histograms
package telemetry

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Metrics are counted while runs change. A nil value counts nothing.
type Metrics struct {
	attempts, invalidated *prometheus.CounterVec
	measured, dead        prometheus.Histogram
	completed, failed     *prometheus.CounterVec
}

// New metrics. Every series begins with zero.
func New() *Metrics {
	return &Metrics{
		attempts: counters("attempts_total", "Attempts that have ended, by outcome.", "outcome", outcomes),
		invalidated: counters("attempts_invalidated_total", "Attempts that were disturbed and did not count, by cause.", "cause",
			disturbances),
		measured: seconds("trial_measured_seconds", "Measured phase of each attempt that counts.",
			0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200),
		dead: seconds("trial_dead_seconds",
			"Time between the end of one loader and the start of the next one of the same run, without pauses.",
			0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600),
		completed: counters("runs_completed_total", "Runs that have measured what they need, by reason.", "reason", completions),
		failed:    counters("runs_failed_total", "Runs that have failed, by reason.", "reason", runFailures),
	}
}

// prefix of the names of all metrics.
const prefix = "benchrun"

func counters[T ~string](name, help, label string, values []T) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: prefix, Name: name, Help: help}, []string{label})
	for _, value := range values {
		c.WithLabelValues(string(value))
	}
	return c
}

func seconds(name, help string, buckets ...float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: prefix, Name: name, Help: help, Buckets: buckets})
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(m, descriptions)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(samples chan<- prometheus.Metric) {
	for _, c := range []prometheus.Collector{m.attempts, m.invalidated, m.measured, m.dead, m.completed, m.failed} {
		c.Collect(samples)
	}
}

// Count transitions. It must be called once for each, after the status that tells of it was written.
func (m *Metrics) Count(transitions []Transition) {
	if m == nil {
		return
	}
	for i := range transitions {
		switch t := &transitions[i]; {
		case t.Trial > 0:
			m.countAttempt(t)
		case t.To == stateFailed: // which is never taken back
			m.failed.WithLabelValues(known(t.Reason, runFailures)).Inc()
		case slices.Contains(completions, t.To):
			m.completed.WithLabelValues(t.To).Inc()
		}
	}
}

func (m *Metrics) countAttempt(t *Transition) {
	r := t.record
	if r == nil {
		return // it has only started
	}
	m.attempts.WithLabelValues(known(r.Outcome, outcomes)).Inc()
	if r.Outcome == result.OutcomeInvalidated {
		m.invalidated.WithLabelValues(known(r.Cause, disturbances)).Inc()
	}
	if r.Outcome == result.OutcomeAccepted && r.Summary != nil {
		m.measured.Observe(float64(r.Summary.Totals.Micros) / 1e6)
	}
	if t.dead != nil {
		m.dead.Observe(t.dead.Seconds())
	}
}

// other is the value of a label for everything that is not in its list.
const other = "Other"

// Every series exists from the start, with zero: the first increment of one that did not exist is invisible to rate() and
// increase().
var (
	outcomes = []result.Outcome{result.OutcomeAccepted, result.OutcomeInvalidated, result.OutcomeFailed}
	// disturbances are the causes of invalidated attempts. A cause that a loader reports may be any text.
	disturbances = []result.Cause{
		result.CauseConnectionLost, result.CauseTooManyConnections, result.CauseCheckFailed, result.CauseVariablesChanged,
		result.CauseServerRestarted, result.CauseInterrupted, result.CauseStartedLate, result.CauseStartedTwice, result.CauseEvicted,
		result.CauseOutOfMemory, result.CausePodDeleted, result.CauseSilent, result.CauseDocumentLost, result.CauseDocumentInvalid,
		result.CauseImageChanged, result.CauseForeignResult, result.CauseDatabaseLost, result.CauseNodeNotReady,
		result.CauseNodeLost, result.CauseThrottled, result.CauseBusyInPauses, result.CauseDataCopied, other,
	}
	runFailures = []string{
		v1alpha1.ReasonInvalidSpecification, v1alpha1.ReasonNameTaken, v1alpha1.ReasonRejected,
		v1alpha1.ReasonDatabaseNotStarted, v1alpha1.ReasonHostTuningNotAllowed, v1alpha1.ReasonHostTuningFailed,
		v1alpha1.ReasonMariaDBOperatorMissing, v1alpha1.ReasonDatabaseUnreachable, v1alpha1.ReasonServerConfigurationRejected,
		v1alpha1.ReasonSettingNotEffective, v1alpha1.ReasonBlockIOClassNotEffective, v1alpha1.ReasonLoaderNotStarted,
		v1alpha1.ReasonBarrierTimeout, v1alpha1.ReasonLoaderFailed, v1alpha1.ReasonRecordsChanged,
		v1alpha1.ReasonDeadlineExceeded, v1alpha1.ReasonTooManyErrors,
		v1alpha1.ReasonTooManyInvalid, v1alpha1.ReasonVariantInvalid, other,
	}
	// completions are the reasons of runs that are complete: those with variants have an answer, or none.
	completions = []string{v1alpha1.ReasonComplete, v1alpha1.ReasonDecided, v1alpha1.ReasonUndecided}
	// states that always have a series. Whatever else the operator says of a run has one while it says so.
	runStates = []string{
		statePending, v1alpha1.ReasonSuspended, v1alpha1.ReasonQueued, v1alpha1.ReasonWaitingForPredecessor,
		v1alpha1.ReasonProvisioningDatabase, v1alpha1.ReasonTuningHost, v1alpha1.ReasonWaitingForKueue,
		v1alpha1.ReasonInsufficientResources, v1alpha1.ReasonMeasuring, v1alpha1.ReasonPublishing,
		v1alpha1.ReasonRetrying, v1alpha1.ReasonComplete, v1alpha1.ReasonDecided, v1alpha1.ReasonUndecided, stateFailed,
	}
)

func known[T ~string](value T, list []T) string {
	if slices.Contains(list, value) {
		return string(value)
	}
	return other
}
