// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadPgbench runs pgbench.
const WorkloadPgbench WorkloadType = "Pgbench"

// PgbenchScript is one of pgbench's own scripts.
//
// +kubebuilder:validation:Enum=TPCBLike;SimpleUpdate;SelectOnly
type PgbenchScript string

// PgbenchProtocol is how statements are sent.
//
// +kubebuilder:validation:Enum=Simple;Extended;Prepared
type PgbenchProtocol string

// PgbenchScale is a number of branches, of 100,000 accounts each.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=32767
type PgbenchScale int32

// PgbenchWorkload runs pgbench of PostgreSQL's image: it makes its tables, warms up, measures for limits.seconds (unset: 60),
// checks and drops the tables.
//
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || !has(self.points)",message="set sweep or points, not both"
// +kubebuilder:validation:XValidation:rule="has(self.scriptFrom) != (has(self.script) || has(self.sweep) && has(self.sweep.script) || has(self.points) && self.points.exists(p, has(p.script)))",message="set script, here or in sweep or points, or scriptFrom for a script of your own, not both"
type PgbenchWorkload struct {
	// script is TPCBLike, SimpleUpdate or SelectOnly. See
	// https://github.com/benchrun-dev/benchrun/blob/main/docs/reference/workloads/pgbench.md
	// +optional
	// +benchrun:sweep=scripts
	Script PgbenchScript `json:"script,omitempty"`

	// scriptFrom is a script of your own, as pgbench reads it, from a ConfigMap in the run's namespace.
	// +optional
	ScriptFrom *ConfigMapFile `json:"scriptFrom,omitempty"`

	// image that has pgbench. Unset: the operator's default image of PostgreSQL.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// scale is the number of branches, of 100,000 accounts and 15 MB each. From 1 to 32767; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +benchrun:sweep=numbers of branches
	Scale PgbenchScale `json:"scale,omitempty"`

	// clients that make the load, each with its own connection. From 1 to 10000; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +benchrun:sweep=numbers of clients
	Clients SysbenchClients `json:"clients,omitempty"`

	// protocol is Simple, Extended or Prepared. Defaults to Prepared.
	// +optional
	// +kubebuilder:default=Prepared
	// +benchrun:sweep=protocols
	Protocol PgbenchProtocol `json:"protocol,omitempty"`

	// ratePerSecond is the number of transactions started per second, over all clients, at random moments. Their latency includes
	// the wait for a client. 0: as fast as possible. From 0 to 10000000; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +benchrun:sweep=numbers of transactions per second
	RatePerSecond *SysbenchRate `json:"ratePerSecond,omitempty"`

	// warmupSeconds of the same load, with other random numbers, before it is measured. From 0 to 86400; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// sweep of values to measure. Unset: those above.
	// +optional
	Sweep *PgbenchSweep `json:"sweep,omitempty"`

	// points to measure, instead of sweep.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []PgbenchPoint `json:"points,omitempty"`
}
