// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bundle packs what a run or comparison has measured, and everything that another laboratory needs to measure it again,
// into one archive: the specification, the results, the record and document of each attempt, and the variables of the server.
//
// A bundle is a compressed tar archive with one folder, named after the run or comparison:
//
//	README.md               what this is, and how to measure it again
//	manifest.json           Manifest
//	benchmark.yaml          the resource to apply
//	results/                the files of the results ConfigMap
//	attempts/NAME/          attempt.json and document.json.gz of each attempt
//	server-variables.txt    all variables of the server in the first attempt that counts
//	runs/NAME/              of a comparison: results, attempts and variables of each run
//	SHA256SUMS              checksums of all files above, for sha256sum -c
//
// The same contents give the same bytes. Reading checks every file against SHA256SUMS, and the documents against the checksums in
// the records.
package bundle
