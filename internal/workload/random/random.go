// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package random makes the numbers that data is made of: a function of a seed and of what they are for, the same on
// every machine and in every release.
package random

import "math/bits"

// golden is 2^64 divided by the golden ratio, odd: the step of the counter in SplitMix64 (Steele, Lea and Flood, 2014).
const golden = 0x9e3779b97f4a7c15

// Mix is SplitMix64's finaliser: a bijection in which every bit of x changes half of the result's.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Stream is a sequence of numbers. A copy of a stream goes on like the original.
type Stream struct{ state uint64 }

// From is the stream that begins at a state, which is one of all 2^64.
func From(state uint64) Stream { return Stream{state} }

// At is the stream of row n of whatever the key is of.
func At(key uint64, n int64) Stream {
	return Stream{Mix(key ^ Mix(uint64(n)))} //nolint:gosec // a row's number is positive
}

// Next is the next number; all are equally likely.
func (s *Stream) Next() uint64 {
	s.state += golden
	return Mix(s.state)
}

// Below draws a number from 0 to n-1. One is likelier than another by a part in 2^64/n at most. n must be positive.
func (s *Stream) Below(n int64) int64 {
	hi, _ := bits.Mul64(s.Next(), uint64(n)) //nolint:gosec // positive
	return int64(hi)                         //nolint:gosec // below n
}

// Between draws a number from low to high, both included.
func (s *Stream) Between(low, high int64) int64 { return low + s.Below(high-low+1) }
