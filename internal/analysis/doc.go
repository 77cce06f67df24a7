// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package analysis judges what was measured. It has no client and no clock:
//
//	run, plan, records -> OfRun:      points, claims, environment, findings
//	                      OfVariants: pairs, claims, variants, warnings of a run with variants
//
// The operator decides by it, and writes it into the status; the report prints it; the plugin prints the same of what is not
// published yet. Table is what every format shows of the points. Runs with variants are analysed in these files:
//
//	variants.go      what is compared, and what was measured of it
//	verdicts.go      pairs of the variants, by whole rounds
//	differences.go   which server variables differ although that was not requested
//	warnings.go      what must be read with the answer
package analysis
