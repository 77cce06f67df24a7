// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stats turns the values of repeated trials into a summary that claims no more than they show.
//
// Nothing is assumed about their distribution: the centre is the median, and the interval is the median's by order
// statistics. Fewer than six values have no 95% interval of the median; they are summarised by their smallest and largest
// value, and said to be so. Warnings travel with the number.
package stats
