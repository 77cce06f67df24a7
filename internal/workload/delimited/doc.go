// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package delimited reads text that has a record on each line and a character between a record's fields, in the two dialects
// in which tables are passed on.
package delimited
