// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package curves has the plots that a specification asks for: which of the points are on a plot, and whether each of them
// has a place of its own there.
package curves
