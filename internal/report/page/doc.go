// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page writes the report of a run as one HTML file. It needs nothing but itself: no network and, but for
// the sorting of tables, no script. It is read on a screen, on a phone and on paper.
package page
