// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Size is no struct.
type Size int64

// Limits have nothing that can be varied.
type Limits struct {
	// seconds to measure.
	Seconds int32 `json:"seconds,omitempty"`
}

// Pace is a part of a workload.
type Pace struct {
	// rate is a pointer.
	// +optional
	// +benchrun:sweep=rates
	Rate *Size `json:"rate,omitempty"`
}

// AWorkload has a part, values and a map.
type AWorkload struct {
	Pace   `json:",inline"`
	Limits `json:",inline"`

	// rows to insert. Its comment has
	// two lines.
	// +optional
	// +kubebuilder:default=10
	// +benchrun:sweep=numbers of rows
	// +benchrun:sweep:max=7
	Rows Size `json:"rows,omitempty"`

	// table cannot be varied.
	Table string `json:"table,omitempty"`

	// checks is a Boolean.
	// +optional
	// +benchrun:sweep=true, false or both
	// +benchrun:sweep:max=2
	Checks *bool `json:"checks,omitempty"`

	// options have names.
	// +optional
	// +benchrun:sweep
	Options map[string]string `json:"options,omitempty"`

	// sweep lists the values to measure.
	Sweep *ASweep `json:"sweep,omitempty"`
}

// BWorkload has parameters of its own.
type BWorkload struct {
	// parameters have names.
	// +required
	// +benchrun:sweep
	// +benchrun:sweep:max=6
	// +benchrun:sweep:required
	Parameters map[string]string `json:"parameters,omitempty"`
}
