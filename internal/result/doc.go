// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package result is what crosses the border of the loader's Pod: the configuration that goes in, and the result that comes
// out, as a model, on the wire, and as the data of a ConfigMap.
//
// Units stand in the names: Micros are microseconds by the loader's monotonic clock, Bytes are bytes. The zero of every
// offset is the start of the measured phase. Counts and histograms of several Pods may be added; percentiles may not be
// averaged, and wall clocks of two nodes may not be subtracted.
//
// The way out has two lanes. The termination message of the container carries a Summary of at most 3 KiB, on every exit
// path; the log carries the whole Document between markers. The Summary has the Document's checksum, so that a result
// counts only if both arrived.
//
// The package uses the standard library only: it is linked into the operator, the loader and the kubectl plugin alike.
package result
