// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs has the pages that programs read, too.
package docs

import _ "embed"

// Troubleshooting explains the reasons of runs and the causes of invalidated attempts, in tables.
//
//go:embed troubleshooting.md
var Troubleshooting string
