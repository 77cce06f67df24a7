// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan computes, from a run's specification alone, what is measured and in which order, what everything is called,
// and which server settings were asked for. For a comparison it computes the runs of its variants and their order.
//
// The plan is a function and is never stored: the specification cannot change and its seed is recorded, so that the plan
// is the same after a restart or an upgrade of the operator, and on a stranger's cluster.
package plan
