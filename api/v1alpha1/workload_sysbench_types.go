// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadSysbench runs sysbench.
const WorkloadSysbench WorkloadType = "Sysbench"

// SysbenchScript names a Lua script that comes with the loader.
type SysbenchScript string

// SysbenchScriptTPCC is the TPC-C-like script, Benchrun's own; all others are sysbench's.
const SysbenchScriptTPCC SysbenchScript = "tpcc"

// SysbenchRandType is a distribution of random numbers, in sysbench's own words.
type SysbenchRandType string

// SysbenchCommand is a command of a script.
type SysbenchCommand string

const (
	// SysbenchPrepare makes the script's tables.
	SysbenchPrepare SysbenchCommand = "prepare"
	// SysbenchCheck says whether the data are consistent.
	SysbenchCheck SysbenchCommand = "check"
	// SysbenchCleanup drops the script's tables.
	SysbenchCleanup SysbenchCommand = "cleanup"
)

// SysbenchWorkload runs sysbench 1.0.20: it prepares the script's tables, warms up, measures, checks and drops the tables.
// Sweepable: threads, rate, tables, tableSize, scale, and every option that options names.
//
// +kubebuilder:validation:XValidation:rule="has(self.script) != has(self.scriptFrom)",message="say script, or scriptFrom for a script of your own, and not both"
// +kubebuilder:validation:XValidation:rule="(has(self.seconds) && self.seconds > 0) || (has(self.events) && self.events > 0)",message="without an end it would run for ever: seconds or events must be above 0"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || self.script == 'tpcc' || !has(self.scale)",message="scale is the number of warehouses of script tpcc; the size of other scripts is tables and tableSize"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || self.script != 'tpcc' || !has(self.tableSize)",message="tableSize is for other scripts; the size of tpcc is tables and scale"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || self.script != 'bulk_insert' || (!has(self.tables) && !has(self.tableSize) && (!has(self.warmupSeconds) || self.warmupSeconds == 0))",message="bulk_insert fills one empty table for each thread: it takes no tables, no tableSize and no warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !self.script.startsWith('select_random_') || !has(self.tables) || self.tables == 1",message="select_random_points and select_random_ranges know one table only: leave out tables"
// +kubebuilder:validation:XValidation:rule="!has(self.options) || self.options.all(o, o.matches('^[a-z][a-z0-9_-]*$'))",message="an option's name is lower case letters, digits, '-' and '_', without the leading dashes"
// +kubebuilder:validation:XValidation:rule="!has(self.options) || self.options.all(o, !(o.replace('-', '_') in ['threads', 'events', 'time', 'rate', 'tables', 'table_size', 'scale', 'percentile', 'rand_seed', 'rand_type']))",message="threads, events, time, rate, tables, table_size, scale, percentile, rand_seed and rand_type are no options here: use the fields threads, events, seconds, rate, tables, tableSize, scale, percentile and randType, and the run's seed"
// +kubebuilder:validation:XValidation:rule="!has(self.options) || self.options.all(o, !(o.replace('-', '_') in ['report_interval', 'report_checkpoints', 'report_csv', 'histogram', 'verbosity', 'debug', 'config_file', 'luajit_cmd', 'warmup_time', 'help', 'version', 'db_driver', 'db_debug', 'mysql_host', 'mysql_port', 'mysql_socket', 'mysql_user', 'mysql_password', 'mysql_db', 'mysql_dry_run', 'mysql_debug']))",message="Benchrun itself sets how sysbench reports and where it connects to: report_interval, report_checkpoints, report_csv, histogram, verbosity, debug, config_file, luajit_cmd, warmup_time, help, version, db_driver, db_debug, mysql_host, mysql_port, mysql_socket, mysql_user, mysql_password, mysql_db, mysql_dry_run and mysql_debug are refused"
type SysbenchWorkload struct {
	// script is one of sysbench's own, or tpcc: a TPC-C-like mix of five transactions over nine tables, by Benchrun, with
	// the options of the published sysbench-tpcc. It is not TPC-C, and its numbers are no tpmC.
	// +optional
	// +kubebuilder:validation:Enum=oltp_read_write;oltp_read_only;oltp_write_only;oltp_point_select;oltp_insert;oltp_update_index;oltp_update_non_index;oltp_delete;select_random_points;select_random_ranges;bulk_insert;tpcc
	Script SysbenchScript `json:"script,omitempty"`

	// scriptFrom is a Lua script of your own, from a ConfigMap in the run's namespace. Its SHA-256 is recorded.
	// +optional
	ScriptFrom *SysbenchScriptSource `json:"scriptFrom,omitempty"`

	// threads that load, each with a connection of its own. From 1 to 10000; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Threads int32 `json:"threads,omitempty"`

	// tables of the script; for tpcc, sets of nine tables. From 1 to 10000. Unset: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Tables *int32 `json:"tables,omitempty"`

	// tableSize is the number of rows of each table. From 1 to 2000000000. Unset: 10000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2000000000
	TableSize *int64 `json:"tableSize,omitempty"`

	// scale is the number of warehouses in each set of tables of script tpcc, about 100 MB each. From 1 to 32767. Unset: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32767
	Scale *int32 `json:"scale,omitempty"`

	// rate is how many transactions per second are begun, over all threads, at random moments; the time that one waits for
	// a free thread is part of its latency. 0 is as many as there can be. From 0 to 10000000; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000000
	Rate *int32 `json:"rate,omitempty"`

	// seconds to measure for; 0 is until all events are done. From 0 to 86400; defaults to 60.
	// +optional
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	Seconds *int32 `json:"seconds,omitempty"`

	// events are how many transactions to measure, over all threads; 0 is as many as the seconds allow. Whichever of both
	// comes first ends the measuring. From 0 to 2000000000; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2000000000
	Events *int64 `json:"events,omitempty"`

	// warmupSeconds is how long the same load runs before it is measured, with other random numbers. From 0 to 86400;
	// defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// percentile that sysbench reports for each second. Of the whole measured time there are 50, 90, 95, 99 and 99.9
	// whatever this says. From 1 to 100; defaults to 95.
	// +optional
	// +kubebuilder:default=95
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Percentile int32 `json:"percentile,omitempty"`

	// randType is the distribution of the rows that sysbench's own scripts touch: uniform, gaussian, special, pareto or
	// zipfian. Defaults to uniform, as in sysbench 1.1; 1.0 takes special, which touches few rows again and again.
	// +optional
	// +kubebuilder:default=uniform
	// +kubebuilder:validation:Enum=uniform;gaussian;special;pareto;zipfian
	RandType SysbenchRandType `json:"randType,omitempty"`

	// options are any others of sysbench's or of the script's, without the leading dashes, for example range_size: "10".
	// What sysbench does not know ends the run, in sysbench's words.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	Options map[string]SysbenchOption `json:"options,omitempty"`
}

// SysbenchOption is the value of an option.
//
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:Pattern=`^[^\r\n]*$`
type SysbenchOption string

// SysbenchScriptSource is a Lua script in a ConfigMap.
type SysbenchScriptSource struct {
	ConfigMapFile `json:",inline"`

	// commands that the script has besides run, and that are called: prepare, check (it prints PASSED or FAILED for each
	// condition, before the load and after it) and cleanup. Defaults to prepare and cleanup.
	// +optional
	// +listType=set
	// +kubebuilder:default={prepare,cleanup}
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:Enum=prepare;check;cleanup
	Commands []SysbenchCommand `json:"commands,omitempty"`
}

// ConfigMapFile is a key of a ConfigMap in the run's namespace.
type ConfigMapFile struct {
	// name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// key of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}
