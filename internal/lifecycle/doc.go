// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle decides what a run does next, and computes its whole status. It reads nothing and writes nothing: it
// gets the specification, the plan, what was observed and the time, and returns one action.
//
// The rules stand in next.go, in the order in which they are asked; the first that has something to say decides:
//
//	deleted?      -> nothing                     finished?   -> publish, clean up, delete after its time
//	obstructed?   -> Failed                      predecessor -> wait until its objects are gone
//	suspended?    -> remove Job and database     recorded?   -> remove the Job
//	ended?        -> record the attempt          failed, or invalid too often? -> Failed
//	running?      -> wait                        all measured? -> publish, then Complete
//	old database? -> remove it                   no database?  -> provide one, wait for it
//	otherwise     -> start the next attempt
//
// What a run has done is written in the records of its attempts and nowhere else: the status is computed from them, and an
// operator that is killed between any two writes goes on where it was.
package lifecycle
