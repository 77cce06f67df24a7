// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers reads and writes the cluster for internal/lifecycle, which decides.
//
// A reconcile is: observe, decide, act, one status patch, then events. All reads are in benchmarkrun_observe.go and all
// writes in benchmarkrun_act.go. Nothing blocks and nothing polls: every object that belongs to a run carries its name as a
// label and is watched, so that each change leads to the next decision.
//
// Objects have names that follow from the run alone. A stale cache or a second operator therefore meets AlreadyExists, and
// never makes a second Job for an attempt.
package controllers
