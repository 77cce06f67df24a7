// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podutil has what the Pods of databases and of loaders have in common: their parts (build.go), their images (images.go),
// and the reading of their status (status.go).
package podutil
