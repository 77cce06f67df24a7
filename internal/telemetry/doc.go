// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package telemetry shows what the operator does: as metrics, and as one log line for each transition.
//
// Two kinds of metrics differ in where they come from. Counters and histograms follow the transitions from one status to the
// next, after the new one was written: a step that is tried again is not counted twice, and a manager that starts begins with
// zero, as Prometheus expects. Gauges are computed from the runs themselves at each scrape: they hold after a
// restart, too.
//
//	transitions.go  two statuses → the transitions between them
//	metrics.go      transitions → counters and histograms
//	state.go        runs → gauges
package telemetry
