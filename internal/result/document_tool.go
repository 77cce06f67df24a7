// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

// ToolFacts are what is known of a program other than the loader that made the load.
type ToolFacts struct {
	// Name of the program, and its Version if it says one.
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Commands in the order of their execution.
	Commands []ToolCommand `json:"commands"`
	// Data says where data come from that trials share; empty if they share none.
	Data ToolData `json:"data,omitempty"`
}

// ToolData is where the data of a trial come from.
type ToolData string

const (
	// DataPrepared were made for this trial.
	DataPrepared ToolData = "Prepared"
	// DataKept are those of an earlier trial, which no trial has written to.
	DataKept ToolData = "Kept"
)

// ToolCommand is one execution of a program.
type ToolCommand struct {
	Phase    string   `json:"phase"`
	Args     []string `json:"args"`
	ExitCode int      `json:"exitCode"`
	Micros   int64    `json:"micros"`
}
