// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package analysis judges what was measured. It has no client and no clock:
//
//	run, plan, records                   -> OfRun:   counts, points, claims, environment, findings
//	comparison, plan, what its runs measured  -> OfComparison: pairs, claims, variants, warnings
//
// The operator decides by it, and writes it into the status; the report prints it; the plugin prints the same of what is not
// published yet. Table is what every format shows of the points. Comparisons are analysed in these files:
//
//	comparison.go         the input, and the whole analysis
//	plan.go          which runs, variants and pairs of points a comparison has
//	measurements.go  what a run of a comparison measured
//	verdicts.go      pairs of the variants, by whole rounds
//	differences.go   which server variables differ although that was not requested
//	warnings.go      what must be read with the answer
package analysis
