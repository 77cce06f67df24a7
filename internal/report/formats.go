// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import "io"

// Unfinished is the outcome of a run or suite that has not ended: its report has what was measured so far.
const Unfinished = "Unfinished"

// failed is the outcome of a run or suite that has failed.
const failed = "Failed"

// Format is a printed form of a report. Run and Suite write what they are given and nothing else; they fail only if the
// writer does.
type Format struct {
	// Name is what -o takes, and File the name of the file.
	Name, File string
	// Run prints the report of a run, and Suite that of a suite.
	Run   func(io.Writer, *Report) error
	Suite func(io.Writer, *Suite) error
}

// Formats are all of them, in the order in which people are told of them.
func Formats() []Format {
	return []Format{
		{"text", "summary.txt", Text, SuiteText},
		{"markdown", SummaryFile, Summary, SuiteSummary},
		{"csv", CSVFile, CSV, SuiteCSV},
		{"json", JSONFile, JSON, SuiteJSON},
		{"jsonl", "results.jsonl", JSONLines, SuiteJSONLines},
		{"benchfmt", BenchFile, Bench, SuiteBench},
		{"junit", "results.junit.xml", JUnit, SuiteJUnit},
		{"github", "job-summary.md", GitHub, SuiteGitHub},
		{"bmf", "results.bmf.json", BMF, SuiteBMF},
		{"openmetrics", "results.openmetrics.txt", OpenMetrics, SuiteOpenMetrics},
	}
}
