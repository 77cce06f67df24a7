// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle decides what a run does next, and computes its whole status. It has no client: it takes the specification,
// the plan, the observed objects and the time, and returns one action.
//
// Rules are asked one after another, for runs and comparisons alike (rules.go). Those of a run are listed in next.go; the first
// that applies decides:
//
//	deleted?      -> nothing                     finished?   -> publish, clean up, leave the lane, delete after its time to live
//	retained?     -> Complete
//	obstructed?   -> Failed                      suspended?  -> remove Job and database, leave the lane
//	not its turn? -> wait, or take the lane      predecessor -> wait until its objects are gone
//	recorded?     -> remove the Job              ended?      -> record the attempt
//	failed, or invalid too often? -> Failed      running?    -> wait
//	all measured? -> publish, then Complete      old database? -> remove it
//	not tuned?    -> tune its node               no database?  -> provide one, wait for it
//	cache full?   -> drop the page cache
//	otherwise     -> start the next attempt
//
// What the records say, package analysis knows: this package writes it into the status, and asks it whether a comparison needs
// more rounds.
//
// The records of its attempts are the only memory of what a run has done. The status is computed from them each time, so that an
// operator that is killed between any two writes continues where it was.
//
// A verdict about an attempt is made once, when it was observed (Observed.Judge). The conditions that every kind has are set in
// one place (conditions.go).
//
// The files comparison_*.go decide for a BenchmarkComparison in the same way; its rules are in comparison_next.go:
//
//	deleted?      -> nothing                     finished?   -> delete after its time to live
//	failed?       -> remove the run under way, publish
//	obstructed?   -> Failed                      suspended?  -> suspend the run under way
//	predecessor   -> wait until its runs are gone
//	run deleted, or failed? -> Failed            answered, or no round left? -> publish, then Complete
//	run under way? -> wait, resume it            its Pods still there? -> wait
//	not checked?  -> check all variants          otherwise   -> create the next run
package lifecycle
