// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Defaults that the operator needs too. The API server takes them from the markers of the fields; a test compares both.
const (
	// DefaultSeed is the seed of a run.
	DefaultSeed int64 = 1
	// DefaultRepetitions is the number of trials of each point without repetitions and precision.
	DefaultRepetitions int32 = 6
	// DefaultMaxInvalid is how many attempts may be invalidated.
	DefaultMaxInvalid int32 = 3
	// DefaultTrialDeadlineSeconds is how long an attempt may take.
	DefaultTrialDeadlineSeconds int32 = 3600
	// DefaultErrorPercent is how many transactions of a trial may be rolled back, in percent.
	DefaultErrorPercent int32 = 10
	// DefaultStorageSize is the size of the data volume.
	DefaultStorageSize = "5Gi"
)
