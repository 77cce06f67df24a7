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

import (
	"math/rand/v2"
	"slices"
	"time"
)

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

// order of the players in a block, counted from 1. It is drawn for a pair of blocks, and the second one has it backwards. What
// becomes steadily faster or slower, as a server does that has just been started, meets all players of a pair alike.
func order(seed int64, block, players int) []int {
	places := draws(seed, 2*pair(block)).Perm(players)
	if block%2 == 0 {
		slices.Reverse(places)
	}
	return places
}

// length of the turns of a block: from half of the mean to one and a half, so that they do not keep step with what a server does
// once a second. It is the same for all players, and for both blocks of a pair.
func length(seed int64, block int, mean time.Duration) time.Duration {
	return mean/2 + time.Duration(draws(seed, 2*pair(block)+1).Int64N(int64(mean)+1))
}

// pair that a block belongs to, from 0.
func pair(block int) int { return (block - 1) / 2 }

// draws are those of a stream.
func draws(seed int64, stream int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), uint64(stream))) //nolint:gosec // it is not a secret, and either may be any number
}
