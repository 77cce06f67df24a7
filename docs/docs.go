// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs has the pages that programs read, too.
package docs

import _ "embed"

// Reasons explains the reasons of runs and the causes of attempts that do not count, in tables.
//
//go:embed reference/reasons.md
var Reasons string

// Findings has what each finding means, and what to do, in tables.
//
//go:embed reference/findings.md
var Findings string
