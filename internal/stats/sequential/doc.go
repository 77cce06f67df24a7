// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sequential looks at a mean again and again while values arrive, and keeps its error over all looks.
//
// Why a group-sequential t test: with a known largest number of rounds it has the most power of the methods whose error holds at
// every look. Confidence sequences and e-values need no such number and pay for it: a t test by e-values takes about eight rounds
// for the difference that this one finds in six. An exact sign-flip test cannot reach 5% before six rounds.
//
// What it rests on: the logarithms of the ratios of paired values are symmetric around their mean, because the two of a pair were
// measured one after the other, in an order drawn by lot. docs/reference/statistics has its errors for noise that is
// normal, skewed, heavy-tailed, bimodal, drifting and correlated, and for noise recorded from real trials.
package sequential
