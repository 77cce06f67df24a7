// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package trial makes the Job of an attempt, and judges an ended Job with its Pods: accepted, invalidated, or failed.
//
// A Job never retries. A result counts only if exactly one Pod ran, was not being deleted, succeeded, and left a summary
// that names that very Pod; its document must follow. Everything else has a cause from a closed set.
package trial
