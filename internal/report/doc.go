// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report shows what a run measured. A Report is built once from the records of a run's attempts; each printer is a
// function of it: a table for people, CSV for spreadsheets, JSON with everything, and the Go benchmark format, which
// benchstat reads.
package report
