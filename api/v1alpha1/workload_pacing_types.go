// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// RowsPerSecond is an offered rate; 0 is none.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=100000000
type RowsPerSecond int64

// Pacing says when the transactions of BulkInsert, CommitSize and IIBench begin.
//
// +kubebuilder:validation:XValidation:rule="self.?thinkTimeMilliseconds.orValue(0) == 0 || self.?ratePerSecond.orValue(0) == 0",message="set ratePerSecond or thinkTimeMilliseconds, not both: a rate does not depend on when the server answers"
type Pacing struct {
	// ratePerSecond is the number of rows offered per second, over all connections. Transactions are due at equal intervals, and
	// their latency counts from then. 0 or unset: each begins when the last one has ended. From 0 to 100000000.
	// +optional
	// +benchrun:sweep=numbers of rows offered per second
	// +benchrun:sweep:max=1000
	RatePerSecond *RowsPerSecond `json:"ratePerSecond,omitempty"`

	// thinkTimeMilliseconds is how long a connection pauses after each transaction. Not with ratePerSecond. From 0 to 3600000.
	// Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600000
	ThinkTimeMilliseconds *int32 `json:"thinkTimeMilliseconds,omitempty"`

	// warmupSeconds is how long the same load runs before each trial is measured. Its rows stay in the table and are not counted.
	// Not with dataFrom. From 0 to 3600. Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// rampSeconds is the time in which connections begin one after another, before warmupSeconds. Not with dataFrom. From 0 to 3600.
	// Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	RampSeconds *int32 `json:"rampSeconds,omitempty"`
}
