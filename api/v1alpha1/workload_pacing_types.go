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
	// ratePerSecond is the number of rows offered per second, over all connections. Transactions are due at equal distances, also
	// when the server lags behind, and their latency (transaction) counts from when they are due. 0 or unset: a connection begins
	// its next transaction as soon as the server has answered. From 0 to 100000000.
	// +optional
	// +benchrun:sweep=numbers of rows offered per second
	// +benchrun:sweep:max=1000
	RatePerSecond *RowsPerSecond `json:"ratePerSecond,omitempty"`

	// thinkTimeMilliseconds is for how many milliseconds a connection pauses after each transaction. It is in no latency. Not
	// together with ratePerSecond. 0 or unset: it does not pause. From 0 to 3600000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600000
	ThinkTimeMilliseconds *int32 `json:"thinkTimeMilliseconds,omitempty"`

	// warmupSeconds makes the same load, on the same tables and over the same connections, for this long before each trial is
	// measured. Its rows are not among rows, and in no number; they stay in the table. Not with dataFrom. From 0 to 3600. Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// rampSeconds is for how long connections begin one after another, at equal distances, before warmupSeconds and the measured
	// phase. Not with dataFrom. From 0 to 3600. Unset: 0, all begin at once.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	RampSeconds *int32 `json:"rampSeconds,omitempty"`
}
