// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import "io"

// Unfinished is the outcome of a run or comparison that has not ended: its report has what was measured so far.
const Unfinished = "Unfinished"

// failed is the outcome of a run or comparison that has failed.
const failed = "Failed"

// Format is a printed form of a report. Run and Comparison write what they are given and nothing else; they fail only if the
// writer does.
type Format struct {
	// Name is what -o takes, and File the name of the file.
	Name, File string
	// Run prints the report of a run, and Comparison that of a comparison. Run is nil if the format is of comparisons alone.
	Run        func(io.Writer, *Report) error
	Comparison func(io.Writer, *Comparison) error
}

// Formats are all of them, in the order in which people are told of them.
func Formats() []Format {
	return []Format{
		{"text", "summary.txt", Text, ComparisonText},
		{"markdown", SummaryFile, Summary, ComparisonSummary},
		{"csv", CSVFile, CSV, ComparisonCSV},
		{"matrix", "matrix.txt", nil, ComparisonMatrix},
		{"matrix-csv", "matrix.csv", nil, ComparisonMatrixCSV},
		{"variables", "variables.txt", nil, ComparisonVariables},
		{"variables-csv", "variables.csv", nil, ComparisonVariablesCSV},
		{"json", JSONFile, JSON, ComparisonJSON},
		{"benchfmt", BenchFile, Bench, ComparisonBench},
		{"junit", "results.junit.xml", JUnit, ComparisonJUnit},
		{"github", "job-summary.md", GitHub, ComparisonGitHub},
	}
}
