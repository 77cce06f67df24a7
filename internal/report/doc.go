// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report shows what a run measured. A Report is built once from the analysis of a run's records: it has the points of
// a run or, of one with variants, their pairs. Each printer is a function of it: a table for people, CSV for spreadsheets,
// JSON with everything, and the Go benchmark format, which benchstat reads. Compared and Reproduction are what two reports
// say together.
package report
