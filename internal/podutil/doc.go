// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podutil is what the Pods of databases and loaders have in common: how they are made (build.go), and how what the
// cluster says of them is read (status.go).
package podutil
