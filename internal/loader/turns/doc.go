// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package turns lets the loaders of several variants measure in turns of a second or so. One side of it, the Referee, runs in
// the observer of the first variant's server; the other side, a Player, is in each loader.
//
// The protocol is lines of text over a connection that an HTTP request opens: "go N" gives a player its turn in block N, and
// "done" gives it back. In each block every player has one turn, in an order that is drawn for two blocks. "over" gives the last
// turn back, and "end" tells all players that everyone's is over: only then may they disturb each other. If a connection is lost,
// all others of the session are closed: what is measured next to nothing is not measured.
package turns

const (
	// Path of the request that opens a connection.
	Path = "/v1/turns"
	// protocol is what the connection is upgraded to. It has the version.
	protocol = "benchrun-turns-v1"

	lineGo   = "go"
	lineDone = "done"
	lineOver = "over"
	lineEnd  = "end"
)
