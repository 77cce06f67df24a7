// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadStatements sends SQL of your own.
const WorkloadStatements WorkloadType = "Statements"

// StatementsProtocol is how statements are sent.
//
// +kubebuilder:validation:Enum=Prepared;Text
type StatementsProtocol string

// StatementsWorkload sends transactions of your own SQL over several connections for limits.seconds (unset: 60). See
// https://github.com/benchrun-dev/benchrun/blob/main/docs/reference/workloads/statements.md
//
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || !has(self.points)",message="set sweep or points, not both"
type StatementsWorkload struct {
	// setup is SQL in a ConfigMap in the run's namespace that makes the tables, before each trial.
	// +optional
	Setup *ConfigMapFile `json:"setup,omitempty"`

	// transactions are the kinds of them, each chosen by chance.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Transactions []StatementsTransaction `json:"transactions,omitempty"`

	// clients that make the load, each with its own connection. From 1 to 10000; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +benchrun:sweep=numbers of clients
	Clients SysbenchClients `json:"clients,omitempty"`

	// protocol is Prepared or Text. Defaults to Prepared.
	// +optional
	// +kubebuilder:default=Prepared
	// +benchrun:sweep=protocols
	Protocol StatementsProtocol `json:"protocol,omitempty"`

	// ratePerSecond is the number of transactions due per second, over all clients, at equal distances. Their latency counts from
	// when they are due. 0: as fast as possible. From 0 to 10000000; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +benchrun:sweep=numbers of transactions per second
	RatePerSecond *SysbenchRate `json:"ratePerSecond,omitempty"`

	// warmupSeconds of the same load, with other random numbers, before it is measured. From 0 to 3600; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// sweep of values to measure. Unset: those above.
	// +optional
	Sweep *StatementsSweep `json:"sweep,omitempty"`

	// points to measure, instead of sweep.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []StatementsPoint `json:"points,omitempty"`
}

// StatementsTransaction is a kind of transactions.
type StatementsTransaction struct {
	// name of the kind, by which its latency and its rate are reported.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z][a-zA-Z0-9]*$`
	Name string `json:"name,omitempty"`

	// weight is how often it is begun, in proportion to those of the others. From 1 to 1000; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Weight int32 `json:"weight,omitempty"`

	// script is its SQL: statements that end with a semicolon, with :name for the value of a variable, and lines \set name
	// expression, as pgbench has them. Several statements are one transaction.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	Script string `json:"script,omitempty"`
}
