// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// CommitMode is how a workload's transactions end.
//
// +kubebuilder:validation:Enum=Explicit;Autocommit
type CommitMode string

const (
	// CommitExplicit: autocommit is off, and a COMMIT ends each transaction.
	CommitExplicit CommitMode = "Explicit"
	// CommitAutocommit: the server commits each statement.
	CommitAutocommit CommitMode = "Autocommit"
)
