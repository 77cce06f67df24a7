// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadCommitSize inserts single rows and commits after every rowsPerCommit of them.
const WorkloadCommitSize WorkloadType = "CommitSize"

// CommitSizeRowsPerCommit is a number of rows in a transaction.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=1000000000
type CommitSizeRowsPerCommit int64

// CommitSizeWorkload fills a table of an ID and a string of 20 characters with single-row INSERTs over one connection.
//
// +kubebuilder:validation:XValidation:rule="!has(self.rows) || self.rowsPerCommit <= self.rows",message="rowsPerCommit must not be above rows"
// +kubebuilder:validation:XValidation:rule="!has(self.rows) || !has(self.sweep) || !has(self.sweep.rowsPerCommit) || self.sweep.rowsPerCommit.all(n, n <= self.rows)",message="rowsPerCommit must not be above rows"
// +kubebuilder:validation:XValidation:rule="!has(self.rows) || !has(self.points) || self.points.all(p, p.?rowsPerCommit.orValue(1) <= self.rows)",message="rowsPerCommit must not be above rows"
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || !has(self.points)",message="set sweep or points, not both"
// +kubebuilder:validation:XValidation:rule="has(self.points) || self.commit != 'Autocommit' && !(has(self.sweep) && has(self.sweep.commit) && 'Autocommit' in self.sweep.commit) || self.rowsPerCommit == 1 && (!has(self.sweep) || !has(self.sweep.rowsPerCommit) || self.sweep.rowsPerCommit == [1])",message="commit Autocommit makes each row a transaction: rowsPerCommit must be 1"
// +kubebuilder:validation:XValidation:rule="!has(self.points) || self.points.all(p, p.?commit.orValue(self.commit) != 'Autocommit' || p.?rowsPerCommit.orValue(self.rowsPerCommit) == 1)",message="commit Autocommit makes each row a transaction: rowsPerCommit must be 1"
type CommitSizeWorkload struct {
	Pacing `json:",inline"`

	// rows to insert in each trial. Unset: as many as fit into limits.seconds; without that limit, 10000. From 1 to 1000000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Rows *int64 `json:"rows,omitempty"`

	// rowsPerCommit is the number of rows in a transaction; the last has the remainder. From 1 to rows; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +benchrun:sweep=sizes of transactions
	// +benchrun:sweep:max=1000
	RowsPerCommit CommitSizeRowsPerCommit `json:"rowsPerCommit,omitempty"`

	// asPublished imitates a published program. With Isotopp, the first transaction has one row. Defaults to None.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;Isotopp
	AsPublished AsPublished `json:"asPublished,omitempty"`

	// commit is Explicit (a COMMIT ends each transaction) or Autocommit (the server commits each INSERT). Autocommit needs
	// rowsPerCommit 1. Defaults to Explicit.
	// +optional
	// +kubebuilder:default=Explicit
	// +benchrun:sweep=ways to commit
	// +benchrun:sweep:max=2
	Commit CommitMode `json:"commit,omitempty"`

	// sweep of values to measure. Unset: those above.
	// +optional
	Sweep *CommitSizeSweep `json:"sweep,omitempty"`

	// points to measure, instead of sweep.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []CommitSizePoint `json:"points,omitempty"`
}

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

// RowsPerSecond is an offered rate; 0 is none.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=100000000
type RowsPerSecond int64

// Pacing says when the transactions of BulkInsert, CommitSize and IIBench begin.
//
// +kubebuilder:validation:XValidation:rule="self.?thinkTimeMilliseconds.orValue(0) == 0 || self.?ratePerSecond.orValue(0) == 0",message="set ratePerSecond or thinkTimeMilliseconds, not both: a rate does not depend on when the server answers"
type Pacing struct {
	// ratePerSecond of rows offered, in transactions due at equal intervals over all connections; latency counts from then. Unset:
	// as fast as possible. From 0 to 100000000.
	// +optional
	// +benchrun:sweep=numbers of rows offered per second
	// +benchrun:sweep:max=1000
	RatePerSecond *RowsPerSecond `json:"ratePerSecond,omitempty"`

	// thinkTimeMilliseconds between transactions of a connection. Not with ratePerSecond. From 0 to 3600000. Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600000
	ThinkTimeMilliseconds *int32 `json:"thinkTimeMilliseconds,omitempty"`

	// warmupSeconds of the same load before each trial; its rows stay, and are not counted. Not with dataFrom. From 0 to 3600.
	// Unset: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// rampSeconds in which connections begin one after another, before warmupSeconds. Not with dataFrom. From 0 to 3600. Unset:
	// 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	RampSeconds *int32 `json:"rampSeconds,omitempty"`
}
