// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package presentation has the plots and tables that a file asks for: which of the points they are of, whether each
// point has one place in a plot, and each published figure one in its table.
package presentation
