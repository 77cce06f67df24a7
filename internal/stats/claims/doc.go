// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package claims judges statements about numbers, by the numbers: that one point is so many times another, that a point is the
// best, that values only grow, that two do not differ. An answer is given only if the interval of the ratio gives it.
package claims
