// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crd has the CustomResourceDefinitions, for programs that check objects without an API server.
package crd

import "embed"

// Bases are the generated files, in the folder bases.
//
//go:embed bases/*.yaml
var Bases embed.FS
