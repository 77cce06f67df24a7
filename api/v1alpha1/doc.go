// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is what people ask of Benchrun and what it answers.
//
// A BenchmarkRun is one database configuration × one workload × the points of its sweep × their repetitions. A point is
// one combination of swept parameters; a trial is one measured execution of the workload at one point; an attempt is one
// try at a trial. A disturbed attempt is invalidated and stays visible, and the trial is tried again.
//
// Everything that can be wrong in a specification and can be seen without asking the cluster is refused by the API server
// itself (OpenAPI bounds and CEL rules): there is no webhook.
//
// +kubebuilder:object:generate=true
// +groupName=benchrun.dev
package v1alpha1
