// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// WorkloadSysbench runs sysbench.
const WorkloadSysbench WorkloadType = "Sysbench"

// SysbenchScript names a script of sysbench, a microbenchmark, or tpcc.
//
// +kubebuilder:validation:Enum=oltp_read_write;oltp_read_only;oltp_write_only;oltp_point_select;oltp_insert;oltp_update_index;oltp_update_non_index;oltp_delete;select_random_points;select_random_ranges;bulk_insert;tpcc;point-query;random-points-10;random-points-100;random-points-1000;hot-points;random-ranges;points-covered-pk;points-covered-si;points-notcovered-pk;points-notcovered-si;range-covered-pk;range-covered-si;range-notcovered-pk;range-notcovered-si;read-only-10;read-only-100;read-only-10000;read-only-count;read-only-distinct;read-only-order;read-only-simple;read-only-sum;scan;update-inlist;update-index;update-nonindex;update-one;update-zipf;write-only;read-write-10;read-write-100;insert;delete
type SysbenchScript string

// SysbenchRandType is a distribution of random numbers, as sysbench names it.
type SysbenchRandType string

// SysbenchCommand is a command of a script.
type SysbenchCommand string

const (
	// SysbenchPrepare makes the script's tables.
	SysbenchPrepare SysbenchCommand = "prepare"
	// SysbenchCheck checks the consistency of the data.
	SysbenchCheck SysbenchCommand = "check"
)

// SysbenchClients is a number of clients, each a thread of sysbench with a connection of its own.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=10000
type SysbenchClients int32

// SysbenchTables is a number of tables.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=10000
type SysbenchTables int32

// SysbenchTableSize is a number of rows in a table.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=2000000000
type SysbenchTableSize int64

// SysbenchScale is a number of warehouses.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=32767
type SysbenchScale int32

// SysbenchRate is a number of transactions per second; 0 is no limit.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=10000000
type SysbenchRate int32

// SysbenchOption is the value of an option.
//
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:Pattern=`^[^\r\n]*$`
type SysbenchOption string

// SysbenchWorkload runs sysbench 1.0.20: it prepares the script's tables, warms up, measures, checks and drops the tables.
//
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || !has(self.points)",message="set sweep or points, not both"
// +kubebuilder:validation:XValidation:rule="has(self.scriptFrom) != (has(self.script) || has(self.sweep) && has(self.sweep.script) || has(self.points) && self.points.exists(p, has(p.script)))",message="set script, here or in sweep or points, or scriptFrom for a script of your own, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || self.script == 'tpcc' || !has(self.scale)",message="scale is the number of warehouses of script tpcc; the size of other scripts is tables and tableSize"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || self.script != 'tpcc' || !has(self.tableSize)",message="tableSize is for other scripts; the size of tpcc is tables and scale"
// +kubebuilder:validation:XValidation:rule="!has(self.asPublished) || self.asPublished == 'None' || (has(self.script) && self.script == 'tpcc')",message="asPublished SysbenchTPCC is for script tpcc"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || self.script != 'bulk_insert' || (!has(self.tables) && !has(self.tableSize) && self.?warmupSeconds.orValue(0) == 0)",message="bulk_insert fills one empty table for each client: it takes no tables, no tableSize and no warmupSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !self.script.startsWith('select_random_') || !has(self.tables) || self.tables == 1",message="select_random_points and select_random_ranges use one table only: leave out tables"
// +kubebuilder:validation:XValidation:rule="!has(self.options) || self.options.all(o, o.matches('^[a-z][a-z0-9_-]{0,62}$'))",message="an option's name is lower case letters, digits, '-' and '_', at most 63, without the leading dashes"
// +kubebuilder:validation:XValidation:rule="!has(self.options) || !self.options.exists(o, o.matches('^(threads|events|time|rate|tables|table[-_]size|scale|percentile|rand[-_](seed|type))$'))",message="threads, events, time, rate, tables, table_size, scale, percentile, rand_seed and rand_type are no options here: use the fields clients, events, seconds, ratePerSecond, tables, tableSize, scale, percentile and randType, and the run's seed"
// +kubebuilder:validation:XValidation:rule="!has(self.options) || !self.options.exists(o, o.matches('^(report[-_].*|histogram|verbosity|debug|config[-_]file|luajit[-_]cmd|warmup[-_]time|help|version|db[-_](driver|debug)|mysql[-_](host|port|socket|user|password|db|dry[-_]run|debug))$'))",message="Benchrun itself sets how sysbench reports and where it connects to: report_*, histogram, verbosity, debug, config_file, luajit_cmd, warmup_time, help, version, db_driver, db_debug, mysql_host, mysql_port, mysql_socket, mysql_user, mysql_password, mysql_db, mysql_dry_run and mysql_debug are refused"
// +kubebuilder:validation:XValidation:rule="!has(self.sweep) || !has(self.sweep.options) || self.sweep.options.all(o, has(self.options) && o in self.options)",message="sweep.options can vary the options that options names with their usual values"
// +kubebuilder:validation:XValidation:rule="!has(self.points) || self.points.all(p, !has(p.options) || p.options.all(o, has(self.options) && o in self.options))",message="points can vary the options that options names with their usual values"
type SysbenchWorkload struct {
	// script of sysbench (oltp_read_write and others), a microbenchmark, or tpcc: Benchrun's TPC-C-like mix. It is not TPC-C, and
	// its numbers are not tpmC. See https://github.com/benchrun-dev/benchrun/blob/main/docs/reference/workloads/sysbench.md
	// +optional
	// +benchrun:sweep=scripts
	Script SysbenchScript `json:"script,omitempty"`

	// scriptFrom is a Lua script of your own, from a ConfigMap in the run's namespace, whose other keys are files that it may
	// load.
	// +optional
	ScriptFrom *SysbenchScriptSource `json:"scriptFrom,omitempty"`

	// asPublished SysbenchTPCC makes tpcc send the statements of the published sysbench-tpcc. Defaults to None.
	// +optional
	// +kubebuilder:default=None
	// +kubebuilder:validation:Enum=None;SysbenchTPCC
	AsPublished AsPublished `json:"asPublished,omitempty"`

	// clients that make the load, each a thread of sysbench with its own connection. From 1 to 10000; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +benchrun:sweep=numbers of clients
	Clients SysbenchClients `json:"clients,omitempty"`

	// tables is the number of the script's tables; for tpcc, of sets of nine tables. From 1 to 10000. Unset: 1.
	// +optional
	// +benchrun:sweep=numbers of tables
	Tables *SysbenchTables `json:"tables,omitempty"`

	// tableSize is the number of rows of a table. From 1 to 2000000000. Unset: 10000.
	// +optional
	// +benchrun:sweep=numbers of rows in a table
	TableSize *SysbenchTableSize `json:"tableSize,omitempty"`

	// scale is the number of warehouses in each set of tables of tpcc, of 100 MB each. From 1 to 32767. Unset: 1.
	// +optional
	// +benchrun:sweep=numbers of warehouses
	Scale *SysbenchScale `json:"scale,omitempty"`

	// ratePerSecond is the number of transactions started per second, over all clients, at random moments. Their latency includes
	// the wait for a client. 0: as fast as possible. From 0 to 10000000; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +benchrun:sweep=numbers of transactions per second
	RatePerSecond *SysbenchRate `json:"ratePerSecond,omitempty"`

	// seconds to measure. Unset: until all events are done or, without events, 60. From 1 to 86400.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	Seconds *int32 `json:"seconds,omitempty"`

	// events are the transactions to measure, over all clients. If seconds is set too, what comes first ends. Unset: as many as
	// fit into seconds. From 1 to 2000000000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2000000000
	Events *int64 `json:"events,omitempty"`

	// warmupSeconds of the same load, with other random numbers, before it is measured. From 0 to 86400; defaults to 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// percentile of latencies for each second; the 50th, 90th, 95th, 99th and 99.9th of the whole phase are always reported. From
	// 1 to 100; defaults to 95.
	// +optional
	// +kubebuilder:default=95
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Percentile int32 `json:"percentile,omitempty"`

	// randType is the distribution of rows: uniform, gaussian, special or pareto. Defaults to uniform.
	// +optional
	// +kubebuilder:default=uniform
	// +kubebuilder:validation:Enum=uniform;gaussian;special;pareto
	RandType SysbenchRandType `json:"randType,omitempty"`

	// options of sysbench or the script, without leading dashes, for example range_size: "10".
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +benchrun:sweep
	// +benchrun:sweep:max=6
	Options map[string]SysbenchOption `json:"options,omitempty"`

	// sweep of values to measure. Unset: those above. A script takes those of tables, tableSize and scale that it uses.
	// +optional
	Sweep *SysbenchSweep `json:"sweep,omitempty"`

	// points to measure, instead of sweep.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []SysbenchPoint `json:"points,omitempty"`
}

// SysbenchScriptSource is a Lua script in a ConfigMap.
type SysbenchScriptSource struct {
	ConfigMapFile `json:",inline"`

	// commands of the script to call besides run: prepare, check (before and after the load; prints PASSED or FAILED for each
	// condition), cleanup. Defaults to prepare and cleanup.
	// +optional
	// +listType=set
	// +kubebuilder:default={prepare,cleanup}
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:Enum=prepare;check;cleanup
	Commands []SysbenchCommand `json:"commands,omitempty"`
}
