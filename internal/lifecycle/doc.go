// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle decides what a run does next, and computes its whole status. It has no client: it takes the specification,
// the plan, the observed objects and the time, and returns one action.
//
// Rules are asked one after another (rules.go), in the order of next.go; the first that applies decides:
//
//	deleted?      -> nothing                     finished?   -> publish, clean up, leave the lane, delete after its time to live
//	retained?     -> Complete
//	obstructed?   -> Failed                      suspended?  -> remove Job and database, leave the lane
//	not its turn? -> wait, or take the lane      predecessor -> wait until its objects are gone
//	recorded?     -> remove the Job              ended?      -> record the attempt
//	failed, or invalid too often? -> Failed      running?    -> wait
//	all measured? -> publish, then Complete      old database? -> remove it
//	not checked?  -> check what variants ask for no room?      -> measure one variant at a time
//	not tuned?    -> tune its node               no database?  -> provide one, wait for it
//	otherwise     -> start the next attempt
//
// What the records say, package analysis knows: this package writes it into the status, and asks it whether variants need more
// rounds.
//
// The records of its attempts are the only memory of what a run has done. The status is computed from them each time, so that an
// operator that is killed between any two writes continues where it was.
//
// A verdict about an attempt is made once, when it was observed (Observed.Judge). Conditions are set in one place
// (conditions.go).
package lifecycle
