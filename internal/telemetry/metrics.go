// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Metrics are counted while runs and comparisons change. A nil value counts nothing.
type Metrics struct {
	attempts, invalidated                   *prometheus.CounterVec
	measured, dead                          prometheus.Histogram
	runsCompleted                           prometheus.Counter
	runsFailed                              *prometheus.CounterVec
	comparisonsCompleted, comparisonsFailed *prometheus.CounterVec
	failures                                *prometheus.CounterVec
}

// New metrics.
func New() *Metrics {
	m := &Metrics{
		attempts: counters("attempts_total", "Attempts that have ended, by outcome.", "outcome"),
		invalidated: counters("attempts_invalidated_total",
			"Attempts that were disturbed and did not count, by cause.", "cause"),
		measured: seconds("trial_measured_seconds", "Measured phase of each attempt that counts.",
			0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200),
		dead: seconds("trial_dead_seconds",
			"Time between the end of one loader and the start of the next one of the same run, without pauses.",
			0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600),
		runsCompleted: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: prefix, Name: "runs_completed_total", Help: "Runs that have measured every trial.",
		}),
		runsFailed: counters("runs_failed_total", "Runs that have failed, by reason.", "reason"),
		comparisonsCompleted: counters("comparisons_completed_total", "Comparisons that have measured what they need, by reason.",
			"reason"),
		comparisonsFailed: counters("comparisons_failed_total", "Comparisons that have failed, by reason.", "reason"),
		failures: counters("reconcile_failures_total",
			"Reconciles that failed and are tried again, by controller and reason.", "controller", "reason"),
	}
	m.begin()
	return m
}

// prefix of the names of all metrics.
const prefix = "benchrun"

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: prefix, Name: name, Help: help}, labels)
}

func seconds(name, help string, buckets ...float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: prefix, Name: name, Help: help, Buckets: buckets})
}

// begin every series with zero.
func (m *Metrics) begin() {
	for _, o := range outcomes {
		m.attempts.WithLabelValues(string(o))
	}
	for _, c := range disturbances {
		m.invalidated.WithLabelValues(string(c))
	}
	for vector, reasons := range map[*prometheus.CounterVec][]string{
		m.runsFailed: runFailures, m.comparisonsFailed: comparisonFailures, m.comparisonsCompleted: answers,
	} {
		for _, reason := range reasons {
			vector.WithLabelValues(reason)
		}
	}
	for _, controller := range []string{RunController, ComparisonController} {
		for _, reason := range failureReasons() {
			m.failures.WithLabelValues(controller, reason)
		}
	}
}

func (m *Metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.attempts, m.invalidated, m.measured, m.dead, m.runsCompleted, m.runsFailed, m.comparisonsCompleted, m.comparisonsFailed,
		m.failures,
	}
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, c := range m.collectors() {
		c.Describe(descriptions)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(samples chan<- prometheus.Metric) {
	for _, c := range m.collectors() {
		c.Collect(samples)
	}
}

// Count transitions. It must be called once for each, after the status that tells of it was written.
func (m *Metrics) Count(transitions []Transition) {
	if m == nil {
		return
	}
	for i := range transitions {
		switch t := &transitions[i]; t.Subject {
		case Attempt:
			m.countAttempt(t)
		case Run:
			m.countEnd(t, v1alpha1.ReasonComplete)
		case Comparison:
			m.countEnd(t, v1alpha1.ReasonDecided, v1alpha1.ReasonUndecided)
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

// countEnd counts a run or a comparison that has ended. How it ended is never taken back.
func (m *Metrics) countEnd(t *Transition, complete ...string) {
	failed := t.To == stateFailed
	switch {
	case !failed && !slices.Contains(complete, t.To):
	case t.Subject == Run && failed:
		m.runsFailed.WithLabelValues(known(t.Reason, runFailures)).Inc()
	case t.Subject == Run:
		m.runsCompleted.Inc()
	case failed:
		m.comparisonsFailed.WithLabelValues(known(t.Reason, comparisonFailures)).Inc()
	default:
		m.comparisonsCompleted.WithLabelValues(known(t.To, answers)).Inc()
	}
}

// Fail counts a reconcile of a controller that is tried again. One that is stale has found its cache behind the API server, or
// somebody else faster.
func (m *Metrics) Fail(controller string, stale bool, err error) {
	switch {
	case m == nil:
	case stale:
		m.failures.WithLabelValues(controller, reasonStale).Inc()
	default:
		m.failures.WithLabelValues(controller, failureReason(err)).Inc()
	}
}
