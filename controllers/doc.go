// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers reads and writes the cluster for internal/lifecycle, which decides.
//
// A reconcile observes, decides, acts, patches the status once, and then sends events. It never blocks. Every object that belongs
// to a run has the run's name in a label and is watched, so that each change leads to the next reconcile; while something waits
// that is not watched (the cluster's warnings, a MariaDB resource), lifecycle asks for another reconcile after some seconds.
//
// Files of the controller of runs:
//
//	benchmarkrun_controller.go  Reconcile, the permissions, and what is watched
//	benchmarkrun_observe.go     reads the run's objects from the cache; a MariaDB resource, and all of them before a decision that
//	                            cannot be taken back, from the API server
//	records.go                  reads the chain of records
//	clusterwarnings.go          reads warning events, and the log of a server that failed to start
//	benchmarkrun_act.go         carries out actions: creates and deletes databases and Jobs; asks the API server first whether
//	                            an attempt has its record
//	benchmarkrun_results.go     creates the ConfigMaps of attempts and of results
//	benchmarkrun_variants.go    checks variants, records where each was measured, makes their results
//	benchmarkrun_documents.go   reads the result document from a loader's log, for the record
//
// For nodes that runs tune, hosttuning_controller.go tunes and restores those that have a Lease, also when their runs are gone.
//
// Files of both:
//
//	controller.go    what reconcilers have in common, and what they watch
//	step.go          observes, decides, acts, and writes the status
//	lanes.go         reads, takes and releases a lane: a Lease
//	descent.go       what was made of what, by controller references
//	lanewatches.go   whom a change of a run or a Lease wakes in the queue of a lane
//	installation.go  which of several installations acts on an owner
//	owner.go         who owns an object: this run, an earlier one of the same name, or a third party
//	instances.go     reads and removes database instances, each of a variant
//	cached.go        what the cache keeps of each object
//	live.go          reads past the cache: lists in pages, and of what strangers have made only so much, in bounded answers
//	writer.go        creates, deletes, and patches the status
//	store.go         writes records, once, and results
//	pages.go         makes the report page
//	neighbors.go     what else is on a database's node
//	events.go        what is announced when a status changes
//	memory.go        what is remembered of a run from one step to the next
//
// The names of objects follow from the run alone. With a stale cache, or beside a second operator, a create therefore ends with
// AlreadyExists, and never makes a second Job for an attempt.
package controllers
