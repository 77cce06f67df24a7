// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

// Places in a loader's Pod that the operator and the loader agree on.
const (
	// WorkPath is a folder in memory for files that a tool is started with.
	WorkPath = "/run/benchrun"
	// ScriptPath has the user's script, read-only.
	ScriptPath = "/etc/benchrun/script"
	// FilesPath has the user's files for a Custom workload, read-only.
	FilesPath = "/etc/benchrun/files"
	// ToolPath is where the loader is copied to in an image that is not its own.
	ToolPath = "/benchrun"
)

// Sysbench are the parameters of the workload of that name. What is nil is not given to sysbench.
type Sysbench struct {
	// Script is one that comes with the loader; empty if ScriptFile is set.
	Script string `json:"script,omitempty"`
	// ScriptFile is the path of the user's own.
	ScriptFile string `json:"scriptFile,omitempty"`
	// Commands of the script besides run: prepare, check, cleanup.
	Commands      []string          `json:"commands,omitempty"`
	Threads       int32             `json:"threads"`
	Tables        *int32            `json:"tables,omitempty"`
	TableSize     *int64            `json:"tableSize,omitempty"`
	Scale         *int32            `json:"scale,omitempty"`
	Rate          int32             `json:"rate,omitempty"`
	Seconds       int32             `json:"seconds,omitempty"`
	Events        int64             `json:"events,omitempty"`
	WarmupSeconds int32             `json:"warmupSeconds,omitempty"`
	Percentile    int32             `json:"percentile"`
	RandType      string            `json:"randType"`
	Options       map[string]string `json:"options,omitempty"`
	// KeepData leaves the tables to the next trial, and takes those of the one before.
	KeepData bool `json:"keepData,omitempty"`
}

// Custom are the parameters of the workload of that name. Parameters are already put in their places.
type Custom struct {
	Command []string          `json:"command"`
	Prepare []string          `json:"prepare,omitempty"`
	Cleanup []string          `json:"cleanup,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Parameters with their values at this point.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Files says that FilesPath has files.
	Files bool `json:"files,omitempty"`
	// Pattern finds Metrics in the output; empty if the program writes a result file.
	Pattern string         `json:"pattern,omitempty"`
	Metrics []CustomMetric `json:"metrics,omitempty"`
}

// CustomMetric is a group of a Custom workload's pattern.
type CustomMetric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
}
